package org.revenantdb.recovery.format;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_ID;

import java.lang.foreign.MemorySegment;

/**
 * Page 0 of the data file; {@code docs/format.md} §1.1.
 *
 * <pre>
 *   0     4         8           16        20          24            40        44         48        56      8192
 *   +-----+---------+-----------+---------+-----------+-------------+---------+----------+---------+--------+
 *   | CRC | page id | magic     | version | page size | database id | segment | reserved | created | zeros  |
 *   |     | = 0     | RVNTDATA  | = 1     | = 8192    |             | size    | = 0      |         |        |
 *   +-----+---------+-----------+---------+-----------+-------------+---------+----------+---------+--------+
 * </pre>
 */
public final class FileHeaderLayout {
  /** The page that it is. */
  public static final int PAGE = 0;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  public static final int MAGIC = PAGE_ID + Integer.BYTES;

  /** {@code RVNTDATA}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x4154_4144_544E_5652L;

  /** u32: {@link #CURRENT_VERSION}. */
  public static final int VERSION = MAGIC + Long.BYTES;

  /** The version that this library reads and writes. */
  public static final int CURRENT_VERSION = 16;

  /** u32: {@link PageHeaderLayout#PAGE_SIZE}. */
  public static final int PAGE_SIZE = VERSION + Integer.BYTES;

  /** Sixteen bytes: the database. */
  public static final int DATABASE_ID = PAGE_SIZE + Integer.BYTES;

  /** Bytes of a database id. */
  public static final int DATABASE_ID_SIZE = 16;

  /** u32: size of a log segment. */
  public static final int SEGMENT_SIZE = DATABASE_ID + DATABASE_ID_SIZE;

  /** u32: zero. */
  public static final int RESERVED = SEGMENT_SIZE + Integer.BYTES;

  /** u64: when the database was created, milliseconds since 1970. */
  public static final int CREATED = RESERVED + Integer.BYTES;

  /** No data file has more pages. */
  public static final long MOST_PAGES = Integer.MAX_VALUE;

  /** The rest of the page is zero. */
  public static final int END = CREATED + Long.BYTES;

  private FileHeaderLayout() {}

  /**
   * The magic.
   *
   * @param page the page
   * @return the field
   */
  public static long magic(MemorySegment page) {
    return page.get(Numbers.U64, MAGIC);
  }

  /**
   * Stores {@link #MAGIC_VALUE}.
   *
   * @param page the page
   */
  public static void setMagic(MemorySegment page) {
    page.set(Numbers.U64, MAGIC, MAGIC_VALUE);
  }

  /**
   * The format version.
   *
   * @param page the page
   * @return the field
   */
  public static int version(MemorySegment page) {
    return page.get(Numbers.U32, VERSION);
  }

  /**
   * Stores {@link #CURRENT_VERSION}.
   *
   * @param page the page
   */
  public static void setVersion(MemorySegment page) {
    page.set(Numbers.U32, VERSION, CURRENT_VERSION);
  }

  /**
   * The page size.
   *
   * @param page the page
   * @return the field
   */
  public static int pageSize(MemorySegment page) {
    return page.get(Numbers.U32, PAGE_SIZE);
  }

  /**
   * Stores the page size.
   *
   * @param page the page
   * @param size the field
   */
  public static void pageSize(MemorySegment page, int size) {
    page.set(Numbers.U32, PAGE_SIZE, size);
  }

  /**
   * The database id.
   *
   * @param page the page
   * @return a view of the field's sixteen bytes
   */
  public static MemorySegment databaseId(MemorySegment page) {
    return page.asSlice(DATABASE_ID, DATABASE_ID_SIZE);
  }

  /**
   * The size of a log segment.
   *
   * @param page the page
   * @return the field
   */
  public static int segmentSize(MemorySegment page) {
    return page.get(Numbers.U32, SEGMENT_SIZE);
  }

  /**
   * Stores the size of a log segment.
   *
   * @param page the page
   * @param size the field
   */
  public static void segmentSize(MemorySegment page, int size) {
    page.set(Numbers.U32, SEGMENT_SIZE, size);
  }

  /**
   * The reserved bytes.
   *
   * @param page the page
   * @return the field
   */
  public static int reserved(MemorySegment page) {
    return page.get(Numbers.U32, RESERVED);
  }

  /**
   * When the database was created.
   *
   * @param page the page
   * @return the field, milliseconds since 1970
   */
  public static long created(MemorySegment page) {
    return page.get(Numbers.U64, CREATED);
  }

  /**
   * Stores when the database was created.
   *
   * @param page the page
   * @param millis the field, milliseconds since 1970
   */
  public static void created(MemorySegment page, long millis) {
    page.set(Numbers.U64, CREATED, millis);
  }
}
