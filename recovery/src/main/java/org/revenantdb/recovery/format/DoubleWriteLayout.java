package org.revenantdb.recovery.format;

import static org.revenantdb.recovery.format.PageHeaderLayout.CRC;
import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_SIZE;

import java.lang.foreign.MemorySegment;

/**
 * The double-write file: a header page and the images of one batch; {@code docs/format.md} §3.
 *
 * <pre>
 *   file      0              8192           16384                              (1 + n) * 8192
 *             +--------------+--------------+--------------+-----+--------------+
 *             | header       | image 0      | image 1      | ... | image n - 1  |
 *             +--------------+--------------+--------------+-----+--------------+
 *
 *   header    0     4         8          16            32      40        48     52         64
 *             +-----+---------+----------+-------------+-------+---------+------+----------+---------------------+-------+
 *             | CRC | version | magic    | database id | batch | highest | n    | reserved | n times:            | zeros |
 *             |     | = 1     | RVNTDBLW |             |       | forced  |      | = 0      | u32 page id, u32 CRC|       |
 *             +-----+---------+----------+-------------+-------+---------+------+----------+---------------------+-------+
 * </pre>
 */
public final class DoubleWriteLayout {
  /** How many pages a batch holds at most. */
  public static final int MAX_PAGES = 128;

  /** u32: format version. */
  public static final int VERSION = CRC + Integer.BYTES;

  /** The version that this library reads and writes. */
  public static final int CURRENT_VERSION = 1;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  public static final int MAGIC = VERSION + Integer.BYTES;

  /** {@code RVNTDBLW}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x574C_4244_544E_5652L;

  /** Sixteen bytes: the database. */
  public static final int DATABASE_ID = MAGIC + Long.BYTES;

  /** u64: number of the batch. */
  public static final int BATCH = DATABASE_ID + FileHeaderLayout.DATABASE_ID_SIZE;

  /** u64: the highest batch whose pages are known to be forced in the data file. */
  public static final int HIGHEST_FORCED = BATCH + Long.BYTES;

  /** u32: number of pages, 0 = nothing to repair. */
  public static final int PAGES = HIGHEST_FORCED + Long.BYTES;

  /** Twelve bytes: zero. */
  public static final int RESERVED = PAGES + Integer.BYTES;

  /** Pairs: u32 page id, u32 the CRC that the page's image carries. */
  public static final int ENTRIES = RESERVED + 12;

  /** Bytes of such a pair. */
  public static final int ENTRY_SIZE = 2 * Integer.BYTES;

  /** How many pages a new file has room for. */
  public static final int FIRST_ROOM = 4;

  private DoubleWriteLayout() {}

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
   * Stores the format version.
   *
   * @param page the page
   * @param value the field
   */
  public static void version(MemorySegment page, int value) {
    page.set(Numbers.U32, VERSION, value);
  }

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
   * Stores the magic.
   *
   * @param page the page
   * @param value the field
   */
  public static void magic(MemorySegment page, long value) {
    page.set(Numbers.U64, MAGIC, value);
  }

  /**
   * The number of the batch.
   *
   * @param page the page
   * @return the field
   */
  public static long batch(MemorySegment page) {
    return page.get(Numbers.U64, BATCH);
  }

  /**
   * Stores the number of the batch.
   *
   * @param page the page
   * @param value the field
   */
  public static void batch(MemorySegment page, long value) {
    page.set(Numbers.U64, BATCH, value);
  }

  /**
   * The highest batch whose pages are known to be forced.
   *
   * @param page the page
   * @return the field
   */
  public static long highestForced(MemorySegment page) {
    return page.get(Numbers.U64, HIGHEST_FORCED);
  }

  /**
   * Stores the highest batch whose pages are known to be forced.
   *
   * @param page the page
   * @param value the field
   */
  public static void highestForced(MemorySegment page, long value) {
    page.set(Numbers.U64, HIGHEST_FORCED, value);
  }

  /**
   * The number of pages.
   *
   * @param page the page
   * @return the field
   */
  public static int pages(MemorySegment page) {
    return page.get(Numbers.U32, PAGES);
  }

  /**
   * Stores the number of pages.
   *
   * @param page the page
   * @param value the field
   */
  public static void pages(MemorySegment page, int value) {
    page.set(Numbers.U32, PAGES, value);
  }

  /**
   * The database id.
   *
   * @param page the page
   * @return a view of the field's sixteen bytes
   */
  public static MemorySegment databaseId(MemorySegment page) {
    return page.asSlice(DATABASE_ID, FileHeaderLayout.DATABASE_ID_SIZE);
  }

  /**
   * The id of a page of the batch.
   *
   * @param page the header page
   * @param index which one, from 0
   * @return the field, unsigned
   */
  public static int entryPageId(MemorySegment page, int index) {
    return page.get(Numbers.U32, ENTRIES + (long) index * ENTRY_SIZE);
  }

  /**
   * The checksum of a page of the batch.
   *
   * @param page the header page
   * @param index which one, from 0
   * @return the field
   */
  public static int entryCrc(MemorySegment page, int index) {
    return page.get(Numbers.U32, ENTRIES + (long) index * ENTRY_SIZE + Integer.BYTES);
  }

  /**
   * Stores id and checksum of a page of the batch.
   *
   * @param page the header page
   * @param index which one, from 0
   * @param pageId its id, unsigned
   * @param crc the checksum that its image carries
   */
  public static void entry(MemorySegment page, int index, int pageId, int crc) {
    long at = ENTRIES + (long) index * ENTRY_SIZE;
    page.set(Numbers.U32, at, pageId);
    page.set(Numbers.U32, at + Integer.BYTES, crc);
  }

  /**
   * How long a file with room for some pages is.
   *
   * @param pages how many
   * @return bytes, the header included
   */
  public static long fileSize(int pages) {
    return imagePosition(pages);
  }

  /**
   * Where the image of a page of the batch stands in the file.
   *
   * @param index which one, from 0
   * @return its first byte
   */
  public static long imagePosition(int index) {
    return (1L + index) * PAGE_SIZE;
  }
}
