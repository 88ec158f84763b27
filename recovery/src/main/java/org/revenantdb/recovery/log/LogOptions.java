package org.revenantdb.recovery.log;

import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * How a log is kept.
 *
 * @param segmentSize size of each file, a power of two; at least 1 MiB, smaller only in tests
 * @param bufferCapacity size of the log buffer, a power of two from 1 MiB (in tests: 4 KiB) to 64
 *     MiB
 * @param maxLogSize how many bytes the log directory may have; segments that are no longer needed
 *     are kept for reuse up to that. What is needed is kept all the same: see {@link
 *     #smallestLogSize}
 * @param threadName the names of the log's threads begin with this
 * @param statistics where reads, writes and forces are counted
 * @param waits where waits are told
 * @param ownership what is checked before anything is written
 */
public record LogOptions(
    int segmentSize,
    int bufferCapacity,
    long maxLogSize,
    String threadName,
    IoStatistics statistics,
    LogWaits waits,
    Ownership ownership) {
  /** Size of a segment unless said otherwise. */
  public static final int DEFAULT_SEGMENT_SIZE = 4 << 20;

  /** Size of the log buffer unless said otherwise. */
  public static final int DEFAULT_BUFFER_CAPACITY = 2 << 20;

  /** Size of the log directory unless said otherwise. */
  public static final long DEFAULT_MAX_LOG_SIZE = 256L << 20;

  /** Checks the sizes. */
  public LogOptions {
    checkSize(
        "segment size",
        segmentSize,
        SegmentLayout.isSize(segmentSize),
        SegmentLayout.SMALLEST_SIZE,
        SegmentLayout.LARGEST_SIZE);
    checkSize(
        "log buffer",
        bufferCapacity,
        SegmentLayout.isBuffer(bufferCapacity),
        SegmentLayout.SMALLEST_BUFFER,
        SegmentLayout.LARGEST_BUFFER);
  }

  /**
   * A log whose waits nobody is told of.
   *
   * @param segmentSize size of each file
   * @param bufferCapacity size of the log buffer
   * @param maxLogSize how many bytes the log directory may have
   * @param threadName the names of the log's threads begin with this
   * @param statistics where reads, writes and forces are counted
   */
  public LogOptions(
      int segmentSize,
      int bufferCapacity,
      long maxLogSize,
      String threadName,
      IoStatistics statistics) {
    this(
        segmentSize,
        bufferCapacity,
        maxLogSize,
        threadName,
        statistics,
        LogWaits.NONE,
        Ownership.none());
  }

  private static void checkSize(String what, int size, boolean legal, int smallest, int largest) {
    if (!legal) {
      throw new IllegalArgumentException(
          what + " of " + size + " bytes: a power of two, " + smallest + " to " + largest);
    }
  }

  /**
   * The usual sizes.
   *
   * @return options with counters of their own
   */
  public static LogOptions defaults() {
    return new LogOptions(
        DEFAULT_SEGMENT_SIZE,
        DEFAULT_BUFFER_CAPACITY,
        DEFAULT_MAX_LOG_SIZE,
        "revenant",
        new IoStatistics());
  }

  /**
   * The same, and waits are told.
   *
   * @param newWaits where
   * @return other options
   */
  public LogOptions withWaits(LogWaits newWaits) {
    return new LogOptions(
        segmentSize, bufferCapacity, maxLogSize, threadName, statistics, newWaits, ownership);
  }

  /**
   * The same, and an ownership is checked before anything is written.
   *
   * @param newOwnership of the directory that the log is in
   * @return other options
   */
  public LogOptions withOwnership(Ownership newOwnership) {
    return new LogOptions(
        segmentSize, bufferCapacity, maxLogSize, threadName, statistics, waits, newOwnership);
  }

  /**
   * What a log directory must be allowed to have, so that it never needs more. The redo range lies
   * in whole segments, not all of which is log, and begins and ends within one; one segment is
   * prepared ahead; and one is being copied by a restart, or made before the spare ones of the
   * former life are free.
   *
   * @param maxRecoveryLog how much log a recovery may have to read
   * @param segmentSize size of each file
   * @return bytes
   */
  public static long smallestLogSize(long maxRecoveryLog, int segmentSize) {
    return (maxRecoveryLog / SegmentLayout.payload(segmentSize) + 4) * segmentSize;
  }

  /**
   * The longest record that this log takes: an eighth of the buffer (R17).
   *
   * @return bytes
   */
  public int maxRecord() {
    return Math.min(RecordBuilder.MAX_RECORD, bufferCapacity / 8);
  }
}
