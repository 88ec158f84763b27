package org.revenantdb.recovery.format;

/**
 * The file that holds the ring of the log; {@code docs/format.md} §10.
 *
 * <pre>
 *   file      0         512       4096                                     4096 + capacity
 *             +---------+---------+----------------------------------------+
 *             | header  | zeros   | position l at l mod capacity           |
 *             +---------+---------+----------------------------------------+
 *
 *   header    0     4         8          16            32     36         40          48      512
 *             +-----+---------+----------+-------------+------+----------+-----------+-------+
 *             | CRC | version | magic    | database id | life | capacity | life's    | zeros |
 *             |     | = 1     | RVNTRING |             |      |          | 1st LSN   |       |
 *             +-----+---------+----------+-------------+------+----------+-----------+-------+
 * </pre>
 */
public final class RingLayout {
  /** u32: CRC32C of the bytes from {@link #VERSION} to {@link #CHECKED}. */
  public static final int CRC = 0;

  /** u32: format version. */
  public static final int VERSION = CRC + Integer.BYTES;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  public static final int MAGIC = VERSION + Integer.BYTES;

  /** Sixteen bytes: the database. */
  public static final int DATABASE_ID = MAGIC + Long.BYTES;

  /** u32: the life whose records the file holds. */
  public static final int LIFE = DATABASE_ID + FileHeaderLayout.DATABASE_ID_SIZE;

  /** u32: bytes of the ring. */
  public static final int CAPACITY = LIFE + Integer.BYTES;

  /** u64: the first LSN of the life. */
  public static final int FIRST_LSN = CAPACITY + Integer.BYTES;

  /** The bytes from here to {@link #CHECKED} are zero. */
  public static final int END = FIRST_LSN + Long.BYTES;

  /** The checksum covers the bytes up to here; the header is one sector. */
  public static final int CHECKED = 512;

  /** Bytes before the ring, a page of the system. */
  public static final int HEADER = 4096;

  /** {@code RVNTRING}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x474E_4952_544E_5652L;

  /** The version that this code writes and reads. */
  public static final int CURRENT_VERSION = 1;

  private RingLayout() {}

  /**
   * How long the file is.
   *
   * @param capacity bytes of the ring
   * @return bytes of the file
   */
  public static long fileSize(int capacity) {
    return (long) HEADER + capacity;
  }

  /**
   * Where a position of the log is.
   *
   * @param lsn the position
   * @param capacity bytes of the ring, a power of two
   * @return offset in the file
   */
  public static long offset(long lsn, int capacity) {
    return HEADER + (lsn & (capacity - 1L));
  }
}
