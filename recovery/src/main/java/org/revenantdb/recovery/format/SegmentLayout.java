package org.revenantdb.recovery.format;

/**
 * The layout of a log segment, and which positions of the log are in it; {@code docs/format.md} §2
 * and §2.1 have the meaning.
 *
 * <pre>
 *   segment       0                4096                                             size
 *                 +----------------+------------------------------------------------+
 *                 | header         | positions begin .. begin + payload - 1         |
 *                 +----------------+------------------------------------------------+      payload = size - 4096
 *   header        0     4         8        16            32       40     44     48         56           64       72        80       84
 *                 +-----+---------+--------+-------------+--------+------+------+----------+------------+--------+---------+--------+------+
 *                 | CRC | version | magic  | database id | begin  | size | life | life's   | former     | sealed | durable | buffer | full |
 *                 |     |         |        |             |        |      |      | 1st LSN  | life's end | end    | LSN     |        | size |
 *                 +-----+---------+--------+-------------+--------+------+------+----------+------------+--------+---------+--------+------+
 * </pre>
 */
public final class SegmentLayout {
  /** u32: CRC32C of the bytes from {@link #VERSION} to {@link #CHECKED}. */
  public static final int CRC = 0;

  /** u32: format version. */
  public static final int VERSION = CRC + Integer.BYTES;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  public static final int MAGIC = VERSION + Integer.BYTES;

  /** Sixteen bytes: the database. */
  public static final int DATABASE_ID = MAGIC + Long.BYTES;

  /** u64: the segment's first position. Its file is named by it. */
  public static final int BEGIN = DATABASE_ID + 16;

  /** u32: size of the segment, and of its file. */
  public static final int SIZE = BEGIN + Long.BYTES;

  /** u32: the life that writes here. */
  public static final int LIFE = SIZE + Integer.BYTES;

  /** u64: the life's first LSN, if this is its first segment, else 0. */
  public static final int FIRST_LSN = LIFE + Integer.BYTES;

  /** u64: where the former life's log ends, if this is a life's first segment, else 0. */
  public static final int FORMER_END = FIRST_LSN + Long.BYTES;

  /** u64: where the log of the segment's life ends for good, else 0. */
  public static final int SEALED_END = FORMER_END + Long.BYTES;

  /** u64: the durable LSN when the header was written. */
  public static final int DURABLE = SEALED_END + Long.BYTES;

  /**
   * u32: size of the life's log buffer. It is the greatest distance by which assigned LSNs can be
   * ahead of the files.
   */
  public static final int BUFFER = DURABLE + Long.BYTES;

  /** u32: the full size of segments, which the file header has, too. */
  public static final int FULL_SIZE = BUFFER + Integer.BYTES;

  /** The checksum covers the bytes up to here; the header is one sector, written whole or not. */
  public static final int CHECKED = 512;

  /** Bytes before the first position. */
  public static final int HEADER = 4096;

  /** {@code RVNTLOG1}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x31474f4c_544e5652L;

  /** The version that this code writes and reads. */
  public static final int CURRENT_VERSION = 2;

  /** Where the first segment of a database begins; so no position is 0. */
  public static final long FIRST_BEGIN = 4096;

  /** The smallest segment: a header and as much again. */
  public static final int SMALLEST_SIZE = 1 << 13;

  /** The size with which a log begins, unless its full size is smaller. */
  public static final int FIRST_SIZE = 1 << 15;

  /** The largest segment. */
  public static final int LARGEST_SIZE = 1 << 30;

  /** The smallest log buffer. */
  public static final int SMALLEST_BUFFER = 1 << 12;

  /** The largest log buffer. */
  public static final int LARGEST_BUFFER = 1 << 26;

  /** No position of the log is above this one, so that sums of two cannot overflow. */
  public static final long LARGEST_LSN = 1L << 60;

  /** The greatest number of segments that are prepared at once. */
  public static final int BATCH = 4;

  private SegmentLayout() {}

  /**
   * Whether segments can have a size.
   *
   * @param size bytes
   * @return true for a power of two in the range of the format
   */
  public static boolean isSize(int size) {
    return size >= SMALLEST_SIZE && size <= LARGEST_SIZE && Integer.bitCount(size) == 1;
  }

  /**
   * Whether a log buffer can have a size.
   *
   * @param size bytes
   * @return true for a power of two in the range of the format
   */
  public static boolean isBuffer(int size) {
    return size >= SMALLEST_BUFFER && size <= LARGEST_BUFFER && Integer.bitCount(size) == 1;
  }

  /**
   * Whether a record can begin or end at a position.
   *
   * @param lsn the position
   * @return true for a multiple of the alignment in the range of the format, 0 not included
   */
  public static boolean isLsn(long lsn) {
    return lsn > 0 && lsn <= LARGEST_LSN && (lsn & (LogRecordLayout.ALIGNMENT - 1)) == 0;
  }

  /**
   * Whether a segment can be there.
   *
   * @param begin its first position
   * @param size its size
   * @return true if all its positions are in the range of the format
   */
  public static boolean isSegment(long begin, int size) {
    return isSize(size) && isLsn(begin) && begin <= LARGEST_LSN - payload(size);
  }

  /**
   * How far behind the end of the highest segment with its own header a file may have the name of a
   * segment. A running log or a restart renames free segments at most this far ahead, before it
   * writes their headers.
   *
   * @param fullSize the largest size of the database's segments
   * @return a number of positions
   */
  public static long mostAhead(int fullSize) {
    return LARGEST_BUFFER + (long) BATCH * payload(fullSize);
  }

  /**
   * How many positions a segment holds.
   *
   * @param segmentSize its size in bytes
   * @return bytes without the header
   */
  public static int payload(int segmentSize) {
    return segmentSize - HEADER;
  }

  /**
   * The offset of a position in its segment.
   *
   * @param lsn the position
   * @param begin the first position of the segment
   * @return offset in the file
   */
  public static long offset(long lsn, long begin) {
    return HEADER + lsn - begin;
  }
}
