package org.revenantdb.recovery.log;

import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.segment.LogHold;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.SegmentSupply;

/**
 * Copies the log of one life from a redo point on, for another database, while it is written;
 * {@code docs/protocols.md} §47.
 *
 * <p>Threads: one, which is never interrupted. Failure: a {@link FileException}; the copy is then
 * useless, and its files are the caller's to delete.
 */
public final class LogCopy implements AutoCloseable {
  /*
   * State       held        everything is kept                          begin: from the redo point on
   *             copying     records below `position` are in `pending`,  copyUpTo: more of them
   *                         or written to the file of their segment     finish: the last file sealed and forced
   *
   * Changed     records     CopiedRecord
   *             header      the id is that of the copy (RebuiltLog)
   */
  private static final int PENDING = 1 << 18;

  private final LogReader.Segments segments;
  private final SegmentDirectory from;
  private final int life;
  private final @Nullable Log log;
  private final @Nullable LogHold hold;

  /** Whole records that are not written yet. */
  private final byte[] pending = new byte[PENDING + LogRecordLayout.MAX_LENGTH];

  private final CRC32C crc = new CRC32C();
  private int pendingBytes;
  private long position;
  private long written;
  private long bytes;
  private @Nullable LogTarget to;

  private LogCopy(
      LogReader.Segments segments,
      SegmentDirectory from,
      int life,
      @Nullable Log log,
      @Nullable LogHold hold) {
    this.segments = segments;
    this.from = from;
    this.life = life;
    this.log = log;
    this.hold = hold;
  }

  /**
   * Begins a copy of a running log: from now on no segment is recycled.
   *
   * @param log the log
   * @return the copy
   */
  public static LogCopy of(Log log) {
    SegmentSupply supply = log.segments();
    return new LogCopy(
        supply::holding, supply.directory(), log.life(), log, supply.hold(/* mayBreak= */ true));
  }

  /**
   * Begins a copy of a log without a writer.
   *
   * @param directory its directory
   * @param databaseId the database, 16 bytes
   * @param segmentSize the full size of its segments
   * @param life the life that is copied
   * @param statistics where reads are counted
   * @return the copy
   */
  public static LogCopy ofClosed(
      Path directory, byte[] databaseId, int segmentSize, int life, IoStatistics statistics) {
    SegmentDirectory from =
        new SegmentDirectory(directory, databaseId.clone(), segmentSize, statistics);
    SegmentMap present = from.list();
    return new LogCopy(present::at, from, life, /* log= */ null, /* hold= */ null);
  }

  /**
   * Says where the copy begins and where it goes. What lies below the redo point is not kept any
   * more.
   *
   * @param redoPoint start of a record of the life
   * @param target receives the records; this object closes it
   */
  public void begin(long redoPoint, LogTarget target) {
    position = redoPoint;
    written = redoPoint;
    to = target;
    holdFrom(redoPoint);
  }

  /**
   * Copies whole records, the last of which ends at or behind a position.
   *
   * @param lsn the position; the record that holds it is durable
   * @return false if a segment was needed by writers before it was copied: this copy cannot be
   *     finished
   */
  public boolean copyUpTo(long lsn) {
    if (position < lsn) {
      try (LogReader reader = new LogReader(from, segments)) {
        reader.seek(position);
        while (position < lsn) {
          if (!isGood(reader)) {
            return false;
          }
          take(reader);
          if (pendingBytes >= PENDING && !write()) {
            return false;
          }
        }
      }
      if (!write()) {
        return false;
      }
    }
    if (isBroken()) {
      return false;
    }
    holdFrom(written);
    return true;
  }

  /**
   * Moves to the next record; false if its segment was released. A segment that is being recycled
   * may also fail to be read.
   */
  private boolean isGood(LogReader reader) {
    try {
      if (reader.next() && reader.life() == life) {
        return true;
      }
    } catch (FileException unreadable) {
      if (!isBroken()) {
        throw unreadable;
      }
    }
    if (isBroken()) {
      return false;
    }
    throw damage();
  }

  /**
   * Whether writers needed a segment before it was copied.
   *
   * @return true if this copy cannot be finished
   */
  public boolean isBroken() {
    return hold != null && hold.isBroken();
  }

  private void holdFrom(long lsn) {
    if (hold != null && hold.moveTo(lsn) && log != null) {
      log.wakeWriter(); // it deletes surplus segments
    }
  }

  private DamagedFileException damage() {
    @Nullable SegmentPlace place = segments.at(position);
    return new DamagedFileException(
        place == null ? from.path() : from.file(place.begin()),
        place == null ? FileException.NO_OFFSET : place.offset(position),
        "there is no good record at position " + position + ", but the log goes on behind it",
        "close the database and check it; a copy of it cannot be made",
        /* cause= */ null);
  }

  private void take(LogReader record) {
    int length = record.length();
    int at = pendingBytes;
    System.arraycopy(record.array(), record.offset(), pending, at, length);
    CopiedRecord.clean(pending, at, length, crc);
    pendingBytes += length;
    position += length;
  }

  /** Writes what is pending; false if a segment was released meanwhile. */
  private boolean write() {
    if (pendingBytes > 0) {
      if (!target().write(written, pending, 0, pendingBytes, this::headerAt)) {
        return false;
      }
      written += pendingBytes;
      bytes += pendingBytes;
      pendingBytes = 0;
    }
    return true;
  }

  /** Of the original; null if it is gone because the hold was broken. */
  private @Nullable SegmentHeader headerAt(long lsn) {
    @Nullable SegmentPlace place = segments.at(lsn);
    @Nullable SegmentHeader found = place == null ? null : headerOf(place);
    if (found == null && !isBroken()) {
      throw damage();
    }
    return found;
  }

  private @Nullable SegmentHeader headerOf(SegmentPlace place) {
    try {
      return from.header(place);
    } catch (FileException unreadable) {
      if (isBroken()) {
        return null;
      }
      throw unreadable;
    }
  }

  private LogTarget target() {
    return Objects.requireNonNull(to);
  }

  /** Ends the copy where it is now. */
  public void finish() {
    target().finish();
  }

  /**
   * How far it has come.
   *
   * @return end of the last record that was copied
   */
  public long position() {
    return position;
  }

  /**
   * How much was copied.
   *
   * @return bytes of records
   */
  public long bytes() {
    return bytes;
  }

  /** Closes the file, and keeps nothing of the original any more. */
  @Override
  public void close() {
    try {
      if (to != null) {
        to.close();
      }
    } finally {
      if (hold != null) {
        hold.close();
      }
    }
  }
}
