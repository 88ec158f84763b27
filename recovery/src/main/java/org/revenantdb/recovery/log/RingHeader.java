package org.revenantdb.recovery.log;

import static org.revenantdb.recovery.format.RingLayout.CAPACITY;
import static org.revenantdb.recovery.format.RingLayout.CHECKED;
import static org.revenantdb.recovery.format.RingLayout.CRC;
import static org.revenantdb.recovery.format.RingLayout.CURRENT_VERSION;
import static org.revenantdb.recovery.format.RingLayout.DATABASE_ID;
import static org.revenantdb.recovery.format.RingLayout.END;
import static org.revenantdb.recovery.format.RingLayout.FIRST_LSN;
import static org.revenantdb.recovery.format.RingLayout.LIFE;
import static org.revenantdb.recovery.format.RingLayout.MAGIC;
import static org.revenantdb.recovery.format.RingLayout.MAGIC_VALUE;
import static org.revenantdb.recovery.format.RingLayout.VERSION;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.format.RingLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The header of the file that holds the ring.
 *
 * @param life the life whose records the file holds
 * @param capacity bytes of the ring
 * @param firstLsn the first LSN of that life
 */
public record RingHeader(int life, int capacity, long firstLsn) {
  private static final String CURE =
      "put back the file that belongs to this database, or move it away: then only commits that did"
          + " not wait for the disk can be missing, as after a power cut";

  /**
   * The header as it stands in the file.
   *
   * @param databaseId the database
   * @return the checked sector
   */
  byte[] bytes(byte[] databaseId) {
    byte[] bytes = new byte[CHECKED];
    ByteBuffer to = littleEndian(bytes);
    to.putInt(VERSION, CURRENT_VERSION);
    to.putLong(MAGIC, MAGIC_VALUE);
    to.put(DATABASE_ID, databaseId, 0, LIFE - DATABASE_ID);
    to.putInt(LIFE, life);
    to.putInt(CAPACITY, capacity);
    to.putLong(FIRST_LSN, firstLsn);
    to.putInt(CRC, crc(bytes));
    return bytes;
  }

  /**
   * Reads a header, and compares it with the database and the size of the file. A shorter file is
   * not refused: only the header was forced, so a power cut can leave any length behind it.
   *
   * @param bytes the checked sector
   * @param file where it comes from, for messages
   * @param size bytes of the file
   * @param databaseId the database that the file must belong to
   * @return the header
   * @throws FormatVersionException if it is whole, but of another version
   * @throws DamagedFileException if it is damaged or belongs to another database, or if the file is
   *     longer than it can be
   */
  public static RingHeader read(byte[] bytes, Path file, long size, byte[] databaseId) {
    ByteBuffer from = littleEndian(bytes);
    if (from.getLong(MAGIC) != MAGIC_VALUE || from.getInt(CRC) != crc(bytes)) {
      throw refused(file, 0, "the header of the ring is damaged");
    }
    if (from.getInt(VERSION) != CURRENT_VERSION) {
      throw new FormatVersionException(file, VERSION, from.getInt(VERSION), CURRENT_VERSION);
    }
    if (!Arrays.equals(bytes, DATABASE_ID, LIFE, databaseId, 0, LIFE - DATABASE_ID)) {
      throw refused(file, DATABASE_ID, "the ring belongs to another database");
    }
    RingHeader header =
        new RingHeader(from.getInt(LIFE), from.getInt(CAPACITY), from.getLong(FIRST_LSN));
    header.check(file, size);
    for (int at = END; at < CHECKED; at++) {
      if (bytes[at] != 0) {
        throw wrong(file, at, "a reserved byte", bytes[at]);
      }
    }
    return header;
  }

  private void check(Path file, long size) {
    if (life < 1) {
      throw wrong(file, LIFE, "the life", life);
    }
    if (!SegmentLayout.isBuffer(capacity)) {
      throw wrong(file, CAPACITY, "the size of the ring", capacity);
    }
    if (!SegmentLayout.isLsn(firstLsn)) {
      throw wrong(file, FIRST_LSN, "the first LSN of the life", firstLsn);
    }
    long expected = RingLayout.fileSize(capacity);
    if (size > expected) {
      throw refused(
          file, expected, "the file has " + size + " bytes, but its header says " + expected);
    }
  }

  private static DamagedFileException wrong(Path file, long offset, String field, long value) {
    return refused(
        file, offset, "the header of the ring is whole, but " + field + " cannot be " + value);
  }

  /**
   * The file is not what a life of this database has left.
   *
   * @param file the file
   * @param offset where that shows
   * @param reason how
   * @return the exception to throw
   */
  public static DamagedFileException refused(Path file, long offset, String reason) {
    return new DamagedFileException(file, offset, reason, CURE, /* cause= */ null);
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
