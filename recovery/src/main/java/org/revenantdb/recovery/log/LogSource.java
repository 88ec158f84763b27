package org.revenantdb.recovery.log;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
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

/**
 * Reads the log in pieces, for an archive ({@code docs/protocols.md} §49). The log may be running;
 * then it keeps what was not read yet.
 *
 * <p>Threads: one, which is never interrupted.
 */
public final class LogSource implements AutoCloseable {
  /**
   * The log of a life, or the rest of it.
   *
   * @param life the life
   * @param from where it begins
   * @param to where it ends
   */
  public record LifePart(int life, long from, long to) {}

  /**
   * The log between a position in a former life and the running life.
   *
   * @param parts in order
   * @param isMissing whether a part is not there
   * @param isForeign whether the position is not in the history of this log
   */
  public record FormerLives(List<LifePart> parts, boolean isMissing, boolean isForeign) {
    static final FormerLives MISSING = new FormerLives(List.of(), true, false);
    static final FormerLives FOREIGN = new FormerLives(List.of(), false, true);
  }

  private final LogReader.Segments segments;
  private final SegmentDirectory directory;
  private final @Nullable Log log;
  private final @Nullable LogHold hold;
  private final CRC32C crc = new CRC32C();

  private LogSource(
      LogReader.Segments segments,
      SegmentDirectory directory,
      @Nullable Log log,
      @Nullable LogHold hold) {
    this.segments = segments;
    this.directory = directory;
    this.log = log;
    this.hold = hold;
  }

  /**
   * Reads a running log, and keeps all of it from now on.
   *
   * @param log the log
   * @param mayBreak whether writers may have segments again that were not read yet, when the
   *     directory would be too large
   * @return the source
   */
  public static LogSource of(Log log, boolean mayBreak) {
    return new LogSource(
        log.segments()::holding, log.segments().directory(), log, log.segments().hold(mayBreak));
  }

  /**
   * Reads a log without a writer.
   *
   * @param path its directory
   * @param databaseId the database, 16 bytes
   * @param segmentSize the full size of its segments
   * @param statistics where reads are counted
   * @return the source
   */
  public static LogSource ofClosed(
      Path path, byte[] databaseId, int segmentSize, IoStatistics statistics) {
    SegmentDirectory directory =
        new SegmentDirectory(path, databaseId.clone(), segmentSize, statistics);
    SegmentMap present = directory.list();
    return new LogSource(present::at, directory, /* log= */ null, /* hold= */ null);
  }

  /**
   * Gives up what lies below a position.
   *
   * @param lsn everything below was read
   */
  public void moveTo(long lsn) {
    if (hold != null && !hold.isBroken() && hold.moveTo(lsn) && log != null) {
      log.wakeWriter(); // it deletes surplus segments
    }
  }

  /**
   * Returns whether segments may have been released that were not read.
   *
   * @return true for ever, once it is so
   */
  public boolean isBroken() {
    return hold != null && hold.isBroken();
  }

  /**
   * Returns whether all positions of a life are there.
   *
   * @param from the first position
   * @param to the position behind the last one
   * @param life the life
   * @return false if a segment is missing, or belongs to another life
   */
  public boolean has(long from, long to, int life) {
    for (long at = from; at < to; ) {
      @Nullable SegmentHeader header = headerAt(at);
      if (header == null || header.life() != life) {
        return false;
      }
      at = header.place().end();
    }
    return true;
  }

  private @Nullable SegmentHeader headerAt(long lsn) {
    @Nullable SegmentPlace place = segments.at(lsn);
    return place == null ? null : directory.header(place);
  }

  /**
   * Reads whole records. What they say of the files of the original is taken from them.
   *
   * @param from start of a record
   * @param upTo end of a record, durable
   * @param life the life of both
   * @param most ends the piece with the first record that makes it as long
   * @return the records; null if a segment is gone because the hold was broken
   */
  public @Nullable LogPiece piece(long from, long upTo, int life, int most) {
    try {
      return read(from, upTo, life, most);
    } catch (FileException unreadable) {
      if (isBroken()) {
        return null;
      }
      throw unreadable;
    }
  }

  private @Nullable LogPiece read(long from, long upTo, int life, int most) {
    byte[] bytes = new byte[(int) Math.min(upTo - from, most + LogRecordLayout.MAX_LENGTH)];
    int length = 0;
    try (LogReader reader = new LogReader(directory, segments)) {
      reader.seek(from);
      while (length < most && from + length < upTo) {
        if (!reader.next() || reader.life() != life) {
          return gone(from + length);
        }
        System.arraycopy(reader.array(), reader.offset(), bytes, length, reader.length());
        CopiedRecord.clean(bytes, length, reader.length(), crc);
        length += reader.length();
      }
    }
    List<SegmentInfo> infos = new ArrayList<>();
    for (long at = from; at < from + length; at = infos.getLast().end()) {
      @Nullable SegmentHeader header = headerAt(at);
      if (header == null || header.life() != life) {
        return gone(at);
      }
      infos.add(SegmentInfo.of(header));
    }
    if (isBroken()) {
      return null; // what was read may be of a segment that is in use again
    }
    return new LogPiece(from, from + length, life, infos, Arrays.copyOf(bytes, length));
  }

  private @Nullable LogPiece gone(long lsn) {
    if (isBroken()) {
      return null;
    }
    @Nullable SegmentPlace place = segments.at(lsn);
    throw new DamagedFileException(
        place == null ? directory.path() : directory.file(place.begin()),
        place == null ? FileException.NO_OFFSET : place.offset(lsn),
        "there is no good record at position " + lsn + ", but the log goes on behind it",
        "close the database and check it; its log cannot be copied",
        /* cause= */ null);
  }

  /**
   * Finds the log of former lives behind a position, up to the begin of the running one.
   *
   * @param position an end of a record
   * @param life its life
   * @return what there is
   */
  public FormerLives formerLives(long position, int life) {
    if (log == null) {
      throw new IllegalStateException("only a running log has former lives");
    }
    Deque<LifePart> parts = new ArrayDeque<>();
    LifeStart begun = log.lifeStart();
    int former = begun.formerLife();
    long end = begun.formerEnd();
    while (former > life) {
      @Nullable SegmentHeader first = firstOf(former, end);
      if (first == null || first.firstLsn() == 0) {
        return FormerLives.MISSING;
      }
      parts.addFirst(new LifePart(former, first.firstLsn(), end));
      end = first.formerEnd();
      former = formerLife(first);
    }
    if (former != life || position > end) {
      return FormerLives.FOREIGN;
    }
    if (position < end) {
      if (!has(position, end, life)) {
        return FormerLives.MISSING;
      }
      parts.addFirst(new LifePart(life, position, end));
    }
    return new FormerLives(List.copyOf(parts), /* isMissing= */ false, /* isForeign= */ false);
  }

  /** The first segment of a life that ends at a position; null if a segment is missing. */
  private @Nullable SegmentHeader firstOf(int life, long end) {
    @Nullable SegmentHeader first = headerAt(end - 1);
    while (first != null && first.life() == life && first.firstLsn() == 0) {
      first = headerAt(first.begin() - 1);
    }
    return first != null && first.life() == life ? first : null;
  }

  private int formerLife(SegmentHeader first) {
    try (LogReader reader = new LogReader(directory, segments)) {
      reader.seek(first.firstLsn());
      boolean isLife = reader.next() && reader.type() == RecordType.LIFE.code();
      return isLife ? reader.getInt(LogRecordLayout.HEADER + Long.BYTES) : 0;
    }
  }

  /**
   * Returns where the running life begins.
   *
   * @return its first LSN
   */
  public long firstLsn() {
    return log == null ? 0 : log.lifeStart().firstLsn();
  }

  /**
   * Returns where the first record of the running life ends, if that is LIFE.
   *
   * @return its LSN; as long as the log has no more, the life may come to nothing
   */
  public long endOfLifeRecord() {
    boolean hasOne = log != null && log.lifeStart().formerLife() != 0;
    int body = Long.BYTES + Integer.BYTES;
    return firstLsn() + (hasOne ? LogRecordLayout.aligned(LogRecordLayout.HEADER + body) : 0);
  }

  /** Keeps nothing any more in this life; the next one may read on. */
  @Override
  public void close() {
    if (hold != null) {
      hold.leave();
    }
  }
}
