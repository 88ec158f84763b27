package org.revenantdb.recovery.format;

import java.lang.foreign.MemorySegment;

/**
 * The header of every page of the data file; {@code docs/format.md} §1.3.
 *
 * <pre>
 *   0         4         8                   16     17      18                    8192
 *   +---------+---------+-------------------+------+-------+----------------------+
 *   | CRC     | page id | page LSN          | type | flags | by type ...          |
 *   +---------+---------+-------------------+------+-------+----------------------+
 *             :....................... CRC32C of these .......................:
 * </pre>
 *
 * <p>The file header and the control slots share only the first two fields.
 */
public final class PageHeaderLayout {
  /** Bytes of a page. */
  public static final int PAGE_SIZE = 8192;

  /** u32: CRC32C of everything after it, set when the page is written out. */
  public static final int CRC = 0;

  /** u32: the page's own id. */
  public static final int PAGE_ID = CRC + Integer.BYTES;

  /** u64: end LSN of the last record that changed the page. */
  public static final int PAGE_LSN = PAGE_ID + Integer.BYTES;

  /** u8: what kind of page it is. */
  public static final int TYPE = PAGE_LSN + Long.BYTES;

  /** u8: flags, by type. */
  public static final int FLAGS = TYPE + Byte.BYTES;

  /** The end of the header; the rest depends on the type. */
  public static final int END = FLAGS + Byte.BYTES;

  /** The first page that is written through the buffer pool: the space map of group 0. */
  public static final int FIRST_POOLED_PAGE = 3;

  private PageHeaderLayout() {}

  /**
   * Where a page stands in the data file.
   *
   * @param pageId the page, unsigned
   * @return its first byte
   */
  public static long position(int pageId) {
    return Integer.toUnsignedLong(pageId) * PAGE_SIZE;
  }

  /**
   * The checksum that the page carries.
   *
   * @param page the page
   * @return the field, right or wrong
   */
  public static int crc(MemorySegment page) {
    return page.get(Numbers.U32, CRC);
  }

  /**
   * Stores the checksum.
   *
   * @param page the page
   * @param crc the field
   */
  public static void crc(MemorySegment page, int crc) {
    page.set(Numbers.U32, CRC, crc);
  }

  /**
   * The id that the page carries.
   *
   * @param page the page
   * @return the field, unsigned
   */
  public static int pageId(MemorySegment page) {
    return page.get(Numbers.U32, PAGE_ID);
  }

  /**
   * Stores the page's id.
   *
   * @param page the page
   * @param pageId the field, unsigned
   */
  public static void pageId(MemorySegment page, int pageId) {
    page.set(Numbers.U32, PAGE_ID, pageId);
  }

  /**
   * The end LSN of the last record that changed the page.
   *
   * @param page the page
   * @return the field
   */
  public static long pageLsn(MemorySegment page) {
    return page.get(Numbers.U64, PAGE_LSN);
  }

  /**
   * Stores the page LSN.
   *
   * @param page the page
   * @param lsn the field
   */
  public static void pageLsn(MemorySegment page, long lsn) {
    page.set(Numbers.U64, PAGE_LSN, lsn);
  }

  /**
   * What kind of page it is.
   *
   * @param page the page
   * @return the field
   */
  public static int type(MemorySegment page) {
    return Byte.toUnsignedInt(page.get(Numbers.U8, TYPE));
  }
}
