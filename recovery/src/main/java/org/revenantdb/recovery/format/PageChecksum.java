package org.revenantdb.recovery.format;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_ID;
import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_SIZE;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * The checksum of a page: CRC32C of bytes 4 to 8191, kept in bytes 0 to 3.
 *
 * <p>Threads: any; nothing is shared. A call makes its own view and checksum object, at most a
 * hundred bytes of garbage (compiled code avoids most of it). That is cheaper than anything that
 * threads would have to share, and negligible compared with the reading or writing of a page.
 */
public final class PageChecksum {
  private PageChecksum() {}

  /**
   * Computes the checksum of a page.
   *
   * @param page a page of 8192 bytes, native or backed by a {@code byte[]}
   * @return CRC32C of all but its first four bytes
   */
  public static int compute(MemorySegment page) {
    CRC32C crc = new CRC32C();
    crc.update(page.asSlice(PAGE_ID, PAGE_SIZE - PAGE_ID).asByteBuffer());
    return (int) crc.getValue();
  }

  /**
   * Stores the correct checksum in a page.
   *
   * @param page a page of 8192 bytes
   */
  public static void seal(MemorySegment page) {
    PageHeaderLayout.crc(page, compute(page));
  }

  /**
   * Whether this is a given page, and whole. A page of zeros is not.
   *
   * @param page a page of 8192 bytes
   * @param pageId the expected page id, unsigned
   * @return true if checksum and id are correct
   */
  public static boolean isGood(MemorySegment page, int pageId) {
    return PageHeaderLayout.pageId(page) == pageId && isWhole(page);
  }

  /**
   * Whether the checksum is correct, whatever the page id is.
   *
   * @param page a page of 8192 bytes
   * @return true if it is
   */
  public static boolean isWhole(MemorySegment page) {
    return PageHeaderLayout.crc(page) == compute(page);
  }
}
