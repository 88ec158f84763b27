package org.revenantdb.engine.archive;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FormatVersionException;

/**
 * The bytes of an archive; {@code docs/format.md} §11 has the meaning.
 *
 * <pre>
 *   each first sector   CRC u32 | version u32 | magic u64 | database id 16 | ...          512 bytes
 *   revenant.archive    ... | segment size u32 | reserved u32 | created u64
 *   log-N.rva           ... | number u64 | from u64 | life u32 | begins u32               blocks follow
 *   base-N.rvb          ... | id of the base 16 | number u64 | end u64 | redo point u64 | life u32 | pages u32 | time u64
 *
 *   block               CRC u32 | length u32 | magic u64 | from u64 | to u64 | life u32 | marks u32 | segments u32 | 0 u32
 *                       marks     of 16 bytes: LSN u64, time u64
 *                       segments  of 48 bytes: begin u64, size u32, life u32, first LSN u64, former end u64, durable u64,
 *                                 buffer u32, 0 u32
 *                       records   to - from bytes
 * </pre>
 */
final class ArchiveLayout {
  static final int VERSION = 1;
  static final int SECTOR = 512;

  static final long ARCHIVE_MAGIC = magic("RVNTARCH");
  static final long LOG_MAGIC = magic("RVNTALOG");
  static final long BASE_MAGIC = magic("RVNTBASE");
  static final long BLOCK_MAGIC = magic("RVNTBLOK");

  /** In each sector: behind the database id. */
  static final int BODY = 32;

  private static final int VERSION_AT = 4;
  private static final int MAGIC_AT = 8;
  private static final int ID_AT = 16;

  /** Bytes of a block before its marks. */
  static final int BLOCK_HEADER = 48;

  static final int MARK = 16;
  static final int SEGMENT = 48;

  private ArchiveLayout() {}

  static long magic(String text) {
    long magic = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      magic |= (long) text.charAt(i) << (8 * i);
    }
    return magic;
  }

  /** A sector without its body and checksum. */
  static ByteBuffer sector(long magic, byte[] databaseId) {
    ByteBuffer sector = ByteBuffer.allocate(SECTOR).order(ByteOrder.LITTLE_ENDIAN);
    sector.putInt(VERSION_AT, VERSION);
    sector.putLong(MAGIC_AT, magic);
    sector.put(ID_AT, databaseId);
    return sector;
  }

  /** The sector with its checksum. */
  static byte[] sealed(ByteBuffer sector) {
    byte[] bytes = new byte[SECTOR];
    sector.get(0, bytes);
    sector.putInt(0, crc(bytes, VERSION_AT, SECTOR - VERSION_AT));
    sector.get(0, bytes);
    return bytes;
  }

  /**
   * Checks a sector.
   *
   * @throws DamagedFileException if it is damaged
   * @throws FormatVersionException if it has another version
   */
  static ByteBuffer read(byte[] bytes, long magic, Path file) {
    ByteBuffer sector = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (!isGood(bytes, magic)) {
      throw new DamagedFileException(
          file,
          0,
          "this file of the archive is damaged: its first 512 bytes are not good",
          CURE,
          /* cause= */ null);
    }
    if (sector.getInt(VERSION_AT) != VERSION) {
      throw new FormatVersionException(file, VERSION_AT, sector.getInt(VERSION_AT), VERSION);
    }
    return sector;
  }

  /** Whether a sector has a magic and the right checksum. */
  static boolean isGood(byte[] bytes, long magic) {
    ByteBuffer sector = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return bytes.length >= SECTOR
        && sector.getLong(MAGIC_AT) == magic
        && sector.getInt(0) == crc(bytes, VERSION_AT, SECTOR - VERSION_AT);
  }

  /** What helps against damage in an archive. */
  static final String CURE =
      "restore to a moment before it, or from another copy of the archive; begin a new archive in another directory";

  static byte[] id(ByteBuffer sector, int at) {
    byte[] id = new byte[16];
    sector.get(at, id);
    return id;
  }

  static byte[] databaseId(ByteBuffer sector) {
    return id(sector, ID_AT);
  }

  static int crc(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }
}
