package org.revenantdb.engine.counters;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.format.FileHeaderLayout;

/**
 * The counters file; {@code docs/format.md} §7.
 *
 * <pre>
 *   0     4         8          16            32    40       48        56     60         62      64         64+8c               3752     4056
 *   +-----+---------+----------+-------------+-----+--------+---------+------+----------+-------+----------+-----------+-------+--------+---------+
 *   | CRC | version | magic    | database id | pid | opened | written | life | counters | waits | c        | w times   | zeros | name   | restart |
 *   |     | = 2     | RVNTCNTR |             |     | ms     | ms      |      | = c      | = w   | counters | 3 numbers |       | length | 5 numb. |
 *   +-----+---------+----------+-------------+-----+--------+---------+------+----------+-------+----------+-----------+-------+--------+---------+
 * </pre>
 */
final class CountersLayout {
  /** The whole file. */
  static final int SIZE = 4096;

  /** u32: CRC32C of all bytes behind it. */
  static final int CRC = 0;

  /** u32: {@link #CURRENT_VERSION}. */
  static final int VERSION = CRC + Integer.BYTES;

  static final int CURRENT_VERSION = 3;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  static final int MAGIC = VERSION + Integer.BYTES;

  /** {@code RVNTCNTR}, as a little-endian number. */
  static final long MAGIC_VALUE = 0x5254_4E43_544E_5652L;

  /** Sixteen bytes: the database. */
  static final int DATABASE_ID = MAGIC + Long.BYTES;

  /** u64: the process that wrote it. */
  static final int PID = DATABASE_ID + FileHeaderLayout.DATABASE_ID_SIZE;

  /** u64: when that process opened the database, milliseconds since 1970. */
  static final int OPENED = PID + Long.BYTES;

  /** u64: when the file was written, milliseconds since 1970. */
  static final int WRITTEN = OPENED + Long.BYTES;

  /** u32: the life of the database. */
  static final int LIFE = WRITTEN + Long.BYTES;

  /** u16: how many counters there are. */
  static final int COUNTERS = LIFE + Integer.BYTES;

  /** u16: how many classes of waits there are. */
  static final int WAIT_CLASSES = COUNTERS + Short.BYTES;

  /** u64 each, in the order of {@link CounterOrder}. */
  static final int FIRST_COUNTER = WAIT_CLASSES + Short.BYTES;

  /** Number, total and maximum of the waits of a class. */
  static final int NUMBERS_OF_WAITS = 3;

  /** Phase, how much it has done, how much there is. */
  static final int NUMBERS_OF_RESTART = 3;

  /** u64 each: how far the restart is; phase 0: the database is open, and all of them are 0. */
  static final int RESTART = SIZE - NUMBERS_OF_RESTART * Long.BYTES;

  /** UTF-8 of a hundred characters, at most. */
  static final int MAX_NAME_BYTES = 300;

  /**
   * u16 length, then the bytes, then zeros: the name of the transaction with the oldest snapshot.
   */
  static final int NAME = RESTART - 304;

  private CountersLayout() {}

  /** The offset of the waits in a file with this many counters. */
  static int firstWait(int counters) {
    return FIRST_COUNTER + counters * Long.BYTES;
  }

  /** The used size of a file with this many counters and classes of waits. */
  static int end(int counters, int waitClasses) {
    return firstWait(counters) + waitClasses * NUMBERS_OF_WAITS * Long.BYTES;
  }

  /** The checksum that the bytes have. */
  static int checksum(MemorySegment file) {
    CRC32C crc = new CRC32C();
    crc.update(file.asSlice(VERSION).asByteBuffer());
    return (int) crc.getValue();
  }

  /** Stores the checksum. */
  static void seal(MemorySegment file) {
    Page.putInt(file, CRC, checksum(file));
  }
}
