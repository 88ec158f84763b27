package org.revenantdb.gc.spill;

import java.util.zip.CRC32C;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A spill file; {@code docs/format.md} §8.
 *
 * <pre>
 *   0     4         8          16            32     36     40       48      64
 *   +-----+---------+----------+-------------+------+------+--------+-------+---------+---------+----
 *   | CRC | version | magic    | database id | life | kind | number | zeros | block   | block   | ...
 *   |     | = 1     | RVNTSPIL |             |      |      |        |       |         |         |
 *   +-----+---------+----------+-------------+------+------+--------+-------+---------+---------+----
 *
 *   block     0     4        8          16        20       24
 *             +-----+--------+----------+---------+--------+-------+-------+----
 *             | CRC | length | position | entries | number | entry | entry | ...
 *             +-----+--------+----------+---------+--------+-------+-------+----
 *
 *   entry     0              8               16          18           20      22
 *             +--------------+---------------+-----------+------------+-------+---------+-----+-------+
 *             | committed at | superseded at | row bytes | val. bytes | flags | table 4 | key | value |
 *             +--------------+---------------+-----------+------------+-------+---------+-----+-------+
 * </pre>
 *
 * <p>The entries of sorted rows are drawn in {@code engine.sort.SortedChanges}.
 */
final class SpillLayout {
  /** u32: CRC32C of the rest of the header. */
  static final int CRC = 0;

  /** u32: {@link #CURRENT_VERSION}. */
  static final int VERSION = CRC + Integer.BYTES;

  static final int CURRENT_VERSION = 1;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  static final int MAGIC = VERSION + Integer.BYTES;

  /** {@code RVNTSPIL}, as a little-endian number. */
  static final long MAGIC_VALUE = 0x4C49_5053_544E_5652L;

  /** Sixteen bytes: the database. */
  static final int DATABASE_ID = MAGIC + Long.BYTES;

  /** u32: the life of the database; no other life reads the file. */
  static final int LIFE = DATABASE_ID + FileHeaderLayout.DATABASE_ID_SIZE;

  /** u32: the content, {@link SpillFiles.Kind}. */
  static final int KIND = LIFE + Integer.BYTES;

  /** u64: number of the file in this life; its low half is in each block. */
  static final int NUMBER = KIND + Integer.BYTES;

  /** Length of the header of a file. */
  static final int HEADER = 64;

  /** u32: CRC32C of the rest of the block. */
  static final int BLOCK_CRC = 0;

  /** u32: bytes of the block, its header included. */
  static final int BLOCK_LENGTH = BLOCK_CRC + Integer.BYTES;

  /** u64: where in the file it begins. */
  static final int BLOCK_POSITION = BLOCK_LENGTH + Integer.BYTES;

  /** u32: how many entries it has. */
  static final int BLOCK_ENTRIES = BLOCK_POSITION + Long.BYTES;

  /** u32: number of the file. */
  static final int BLOCK_FILE = BLOCK_ENTRIES + Integer.BYTES;

  /** Length of the header of a block. */
  static final int BLOCK_HEADER = BLOCK_FILE + Integer.BYTES;

  /** A block of at least this many bytes gets no further entry. */
  static final int FULL_BLOCK = 4096;

  /** u64: commit LSN of the version. */
  static final int COMMITTED = 0;

  /** u64: commit LSN of the version after it. */
  static final int SUPERSEDED = COMMITTED + Long.BYTES;

  /** u16: bytes of table and key. */
  static final int ROW_LENGTH = SUPERSEDED + Long.BYTES;

  /** u16: bytes of the value. */
  static final int VALUE_LENGTH = ROW_LENGTH + Short.BYTES;

  /** u16: as in a leaf cell, or {@link SpilledVersion#FIRST}. */
  static final int FLAGS = VALUE_LENGTH + Short.BYTES;

  /** Length of the header of an entry; behind it table and key, then the value. */
  static final int ENTRY_HEADER = FLAGS + Short.BYTES;

  private SpillLayout() {}

  /** Writes the checksum of a range of bytes into the first four of them. */
  static void seal(byte[] bytes, int from, int length) {
    LittleEndian.putInt(bytes, from, checksum(bytes, from, length));
  }

  /** Whether the checksum in the first four bytes matches the rest. */
  static boolean isSealed(byte[] bytes, int from, int length) {
    return LittleEndian.getInt(bytes, from) == checksum(bytes, from, length);
  }

  private static int checksum(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from + Integer.BYTES, length - Integer.BYTES);
    return (int) crc.getValue();
  }
}
