package org.revenantdb.recovery.format;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_ID;
import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_SIZE;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * The checksum of a page: CRC32C of bytes 4 to 8191, kept in bytes 0 to 3.
 *
 * <p>Threads: any; nothing is shared. A call makes a view and a checksum object of its own, a
 * hundred bytes at most that die with it (compiled code leaves out most of them): cheaper than
 * anything that threads would have to share, and nothing beside the reading or writing of a page.
 */
public final class PageChecksum {
  private PageChecksum() {}

  /**
   * What the checksum should be.
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
   * Makes the checksum right.
   *
   * @param page a page of 8192 bytes
   */
  public static void seal(MemorySegment page) {
    PageHeaderLayout.crc(page, compute(page));
  }

  /**
   * Whether this is that page, whole. A page of zeros is not.
   *
   * @param page a page of 8192 bytes
   * @param pageId the page that it should be, unsigned
   * @return true if checksum and id are right
   */
  public static boolean isGood(MemorySegment page, int pageId) {
    return PageHeaderLayout.pageId(page) == pageId && isWhole(page);
  }

  /**
   * Whether the checksum is right, whichever page it is.
   *
   * @param page a page of 8192 bytes
   * @return true if it is
   */
  public static boolean isWhole(MemorySegment page) {
    return PageHeaderLayout.crc(page) == compute(page);
  }
}
