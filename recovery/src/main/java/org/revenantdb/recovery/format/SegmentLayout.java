package org.revenantdb.recovery.format;

/**
 * The layout of a log segment, and the mapping from positions of the log to segments; {@code
 * docs/format.md} §2 and §2.1 have the meaning.
 *
 * <pre>
 *   segment n     0                4096                                             size
 *                 +----------------+------------------------------------------------+
 *                 | header         | positions n * payload .. (n + 1) * payload - 1 |
 *                 +----------------+------------------------------------------------+      payload = size - 4096
 *   header        0     4         8        16            32       40     44     48         56           64       72        80
 *                 +-----+---------+--------+-------------+--------+------+------+----------+------------+--------+---------+--------+
 *                 | CRC | version | magic  | database id | number | size | life | life's   | former     | sealed | durable | buffer |
 *                 |     |         |        |             |        |      |      | 1st LSN  | life's end | end    | LSN     |        |
 *                 +-----+---------+--------+-------------+--------+------+------+----------+------------+--------+---------+--------+
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

  /** u64: the segment's number. */
  public static final int NUMBER = DATABASE_ID + 16;

  /** u32: size of the segment. */
  public static final int SIZE = NUMBER + Long.BYTES;

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

  /** The checksum covers the bytes up to here; the header is one sector, written whole or not. */
  public static final int CHECKED = 512;

  /** Bytes before the first position. */
  public static final int HEADER = 4096;

  /** {@code RVNTLOG1}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x31474f4c_544e5652L;

  /** The version that this code writes and reads. */
  public static final int CURRENT_VERSION = 1;

  /** The number of the first segment; so no position is 0. */
  public static final long FIRST_NUMBER = 1;

  /** The smallest segment: a header and as much again. */
  public static final int SMALLEST_SIZE = 1 << 13;

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
   * Whether a segment can have a number.
   *
   * @param number the number
   * @param segmentSize size of the segments
   * @return true if all its positions are in the range of the format
   */
  public static boolean isNumber(long number, int segmentSize) {
    return number >= FIRST_NUMBER && number < LARGEST_LSN / payload(segmentSize);
  }

  /**
   * How far above the highest segment with its own header a file may have the name of a segment. A
   * running log or a restart renames free segments at most this far ahead, before it writes their
   * headers.
   *
   * @param segmentSize size of the segments
   * @return a number of segments
   */
  public static long mostAhead(int segmentSize) {
    return segmentsOf(LARGEST_BUFFER, segmentSize) + 1 + BATCH;
  }

  /**
   * How many segments a number of positions takes up.
   *
   * @param bytes the number of positions
   * @param segmentSize size of the segments
   * @return the number, rounded up
   */
  public static long segmentsOf(int bytes, int segmentSize) {
    long payload = payload(segmentSize);
    return (bytes + payload - 1) / payload;
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
   * The segment that holds a position.
   *
   * @param lsn the position
   * @param segmentSize size of the segments
   * @return its number
   */
  public static long number(long lsn, int segmentSize) {
    return lsn / payload(segmentSize);
  }

  /**
   * The offset of a position in its segment.
   *
   * @param lsn the position
   * @param segmentSize size of the segments
   * @return offset in the file
   */
  public static long offset(long lsn, int segmentSize) {
    return HEADER + lsn % payload(segmentSize);
  }

  /**
   * The first position of a segment.
   *
   * @param number its number
   * @param segmentSize size of the segments
   * @return the position
   */
  public static long firstLsn(long number, int segmentSize) {
    return number * payload(segmentSize);
  }
}
