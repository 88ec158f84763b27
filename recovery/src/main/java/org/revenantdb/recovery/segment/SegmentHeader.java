package org.revenantdb.recovery.segment;

import static org.revenantdb.recovery.format.SegmentLayout.BEGIN;
import static org.revenantdb.recovery.format.SegmentLayout.BUFFER;
import static org.revenantdb.recovery.format.SegmentLayout.CHECKED;
import static org.revenantdb.recovery.format.SegmentLayout.CRC;
import static org.revenantdb.recovery.format.SegmentLayout.CURRENT_VERSION;
import static org.revenantdb.recovery.format.SegmentLayout.DATABASE_ID;
import static org.revenantdb.recovery.format.SegmentLayout.DURABLE;
import static org.revenantdb.recovery.format.SegmentLayout.FIRST_LSN;
import static org.revenantdb.recovery.format.SegmentLayout.FORMER_END;
import static org.revenantdb.recovery.format.SegmentLayout.FULL_SIZE;
import static org.revenantdb.recovery.format.SegmentLayout.LIFE;
import static org.revenantdb.recovery.format.SegmentLayout.MAGIC;
import static org.revenantdb.recovery.format.SegmentLayout.MAGIC_VALUE;
import static org.revenantdb.recovery.format.SegmentLayout.SEALED_END;
import static org.revenantdb.recovery.format.SegmentLayout.SIZE;
import static org.revenantdb.recovery.format.SegmentLayout.VERSION;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The header of a log segment.
 *
 * @param begin the segment's first position
 * @param size its size in bytes
 * @param life the life that writes this segment
 * @param firstLsn the life's first LSN if this is its first segment, else 0
 * @param formerEnd the end of the previous life if this is a life's first segment, else 0
 * @param sealedEnd the final end of the life's log, 0 if it is not known yet
 * @param durable the durable LSN when the header was written
 * @param buffer size of the life's log buffer
 */
public record SegmentHeader(
    long begin,
    int size,
    int life,
    long firstLsn,
    long formerEnd,
    long sealedEnd,
    long durable,
    int buffer) {

  /**
   * Returns the header as bytes.
   *
   * @param databaseId the database
   * @param fullSize the full size of its segments
   * @return the checked sector
   */
  public byte[] bytes(byte[] databaseId, int fullSize) {
    byte[] bytes = new byte[CHECKED];
    ByteBuffer to = littleEndian(bytes);
    to.putInt(VERSION, CURRENT_VERSION);
    to.putLong(MAGIC, MAGIC_VALUE);
    to.put(DATABASE_ID, databaseId, 0, BEGIN - DATABASE_ID);
    to.putLong(BEGIN, begin);
    to.putInt(SIZE, size);
    to.putInt(LIFE, life);
    to.putLong(FIRST_LSN, firstLsn);
    to.putLong(FORMER_END, formerEnd);
    to.putLong(SEALED_END, sealedEnd);
    to.putLong(DURABLE, durable);
    to.putInt(BUFFER, buffer);
    to.putInt(FULL_SIZE, fullSize);
    to.putInt(CRC, crc(bytes));
    return bytes;
  }

  /**
   * Reads a header.
   *
   * @param bytes the checked sector
   * @param file its file, for messages
   * @param databaseId the database that the segment must belong to
   * @param fullSize the full size of the database's segments
   * @return the header; null if it was never written, or is torn or damaged
   * @throws FormatVersionException if it is intact, but has another version
   * @throws DamagedFileException if it is intact, but belongs to another database, or a field is
   *     out of range
   */
  public static @Nullable SegmentHeader read(
      byte[] bytes, Path file, byte[] databaseId, int fullSize) {
    ByteBuffer from = littleEndian(bytes);
    if (from.getLong(MAGIC) != MAGIC_VALUE || from.getInt(CRC) != crc(bytes)) {
      return null;
    }
    if (from.getInt(VERSION) != CURRENT_VERSION) {
      throw new FormatVersionException(file, VERSION, from.getInt(VERSION), CURRENT_VERSION);
    }
    if (!Arrays.equals(bytes, DATABASE_ID, BEGIN, databaseId, 0, BEGIN - DATABASE_ID)) {
      throw new DamagedFileException(
          file,
          DATABASE_ID,
          "the log segment belongs to another database",
          "put back the log directory that belongs to this database",
          /* cause= */ null);
    }
    SegmentHeader header =
        new SegmentHeader(
            from.getLong(BEGIN),
            from.getInt(SIZE),
            from.getInt(LIFE),
            from.getLong(FIRST_LSN),
            from.getLong(FORMER_END),
            from.getLong(SEALED_END),
            from.getLong(DURABLE),
            from.getInt(BUFFER));
    header.check(file, fullSize);
    if (from.getInt(FULL_SIZE) != fullSize) {
      throw wrong(file, FULL_SIZE, "the full size of segments", from.getInt(FULL_SIZE));
    }
    for (int at = FULL_SIZE + Integer.BYTES; at < CHECKED; at++) {
      if (bytes[at] != 0) {
        throw wrong(file, at, "a reserved byte", bytes[at]);
      }
    }
    return header;
  }

  /**
   * Returns the positions of the segment.
   *
   * @return the first position and the size
   */
  public SegmentPlace place() {
    return new SegmentPlace(begin, size);
  }

  /** Checks the range of every field (docs/format.md §2.1). */
  private void check(Path file, int fullSize) {
    if (!SegmentLayout.isSize(size) || size > fullSize) {
      throw wrong(file, SIZE, "the segment size", size);
    }
    if (!SegmentLayout.isSegment(begin, size)) {
      throw wrong(file, BEGIN, "the first position", begin);
    }
    if (life < 1) {
      throw wrong(file, LIFE, "the life", life);
    }
    long end = place().end();
    if (firstLsn != 0 && firstLsn != begin) {
      throw wrong(file, FIRST_LSN, "the first LSN of the life", firstLsn);
    }
    boolean hasFormerEnd = firstLsn != 0 && life > 1;
    if (hasFormerEnd ? !SegmentLayout.isLsn(formerEnd) || formerEnd > firstLsn : formerEnd != 0) {
      throw wrong(file, FORMER_END, "the end of the former life", formerEnd);
    }
    if (sealedEnd != 0
        && (!SegmentLayout.isLsn(sealedEnd) || sealedEnd <= begin || sealedEnd > end)) {
      throw wrong(file, SEALED_END, "the sealed end", sealedEnd);
    }
    if (!SegmentLayout.isLsn(durable) || durable > end) {
      throw wrong(file, DURABLE, "the durable LSN", durable);
    }
    if (!SegmentLayout.isBuffer(buffer)) {
      throw wrong(file, BUFFER, "the size of the log buffer", buffer);
    }
  }

  private static DamagedFileException wrong(Path file, long offset, String field, long value) {
    return new DamagedFileException(
        file,
        offset,
        "the header of the log segment is whole, but " + field + " cannot be " + value);
  }

  /**
   * Returns this header with the end of the life's log.
   *
   * @param end the end, which is durable already
   * @return a sealed header
   */
  public SegmentHeader sealedAt(long end) {
    return new SegmentHeader(begin, size, life, firstLsn, formerEnd, end, end, buffer);
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, VERSION, CHECKED - VERSION);
    return (int) crc.getValue();
  }
}
