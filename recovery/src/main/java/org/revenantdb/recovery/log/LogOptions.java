package org.revenantdb.recovery.log;

import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The options of a log.
 *
 * @param segmentSize full size of a file, a power of two; at least 1 MiB, smaller only in tests
 * @param bufferCapacity size of the log buffer, a power of two from 1 MiB (in tests: 4 KiB) to 64
 *     MiB
 * @param maxLogSize the limit for the log directory in bytes. Unneeded segments are kept for reuse
 *     up to this limit. Needed segments are kept even beyond it: see {@link #smallestLogSize}
 * @param threadName the names of the log's threads begin with this
 * @param statistics counts reads, writes and forces
 * @param waits receives the waits
 * @param ownership checked before anything is written
 */
public record LogOptions(
    int segmentSize,
    int bufferCapacity,
    long maxLogSize,
    String threadName,
    IoStatistics statistics,
    LogWaits waits,
    Ownership ownership) {
  /** Full size of a segment unless said otherwise. */
  public static final int DEFAULT_SEGMENT_SIZE = 4 << 20;

  /** Size of the log buffer unless said otherwise. */
  public static final int DEFAULT_BUFFER_CAPACITY = 2 << 20;

  /** The ring has room for this many of its longest records. */
  public static final int RECORDS_IN_RING = 8;

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
   * Options for a log whose waits are not reported.
   *
   * @param segmentSize full size of a file
   * @param bufferCapacity size of the log buffer
   * @param maxLogSize the limit for the log directory in bytes
   * @param threadName the names of the log's threads begin with this
   * @param statistics counts reads, writes and forces
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
   * The same, and waits are reported.
   *
   * @param newWaits receives the waits
   * @return other options
   */
  public LogOptions withWaits(LogWaits newWaits) {
    return new LogOptions(
        segmentSize, bufferCapacity, maxLogSize, threadName, statistics, newWaits, ownership);
  }

  /**
   * The same, and an ownership is checked before anything is written.
   *
   * @param newOwnership the ownership of the log's directory
   * @return other options
   */
  public LogOptions withOwnership(Ownership newOwnership) {
    return new LogOptions(
        segmentSize, bufferCapacity, maxLogSize, threadName, statistics, waits, newOwnership);
  }

  /**
   * The least limit for a log directory that is never exceeded. The redo range lies in whole
   * segments, which do not consist only of log, and it begins and ends within a segment. One
   * segment is prepared ahead. And one is being copied by a restart, or is made before the spare
   * segments of the former life are free.
   *
   * @param maxRecoveryLog how much log a recovery may have to read
   * @param segmentSize full size of a file
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
    return Math.min(RecordBuilder.MAX_RECORD, bufferCapacity / RECORDS_IN_RING);
  }
}
