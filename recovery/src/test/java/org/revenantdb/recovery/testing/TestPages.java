package org.revenantdb.recovery.testing;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_SIZE;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/** Pages that differ in every sector. */
public final class TestPages {
  private TestPages() {}

  /**
   * A whole page.
   *
   * @param pageId its id
   * @param version distinguishes it from other images of the page; also its page LSN
   * @return the page, sealed
   */
  public static MemorySegment page(int pageId, long version) {
    byte[] bytes = new byte[PAGE_SIZE];
    new Random(pageId * 1_000_003L + version).nextBytes(bytes);
    MemorySegment page = MemorySegment.ofArray(bytes);
    PageHeaderLayout.pageId(page, pageId);
    PageHeaderLayout.pageLsn(page, version);
    PageChecksum.seal(page);
    return page;
  }

  /**
   * Pages one after the other.
   *
   * @param pageIds their ids
   * @param version their version
   * @return all of them, sealed
   */
  public static MemorySegment pages(int[] pageIds, long version) {
    MemorySegment pages = MemorySegment.ofArray(new byte[pageIds.length * PAGE_SIZE]);
    for (int i = 0; i < pageIds.length; i++) {
      pages.asSlice((long) i * PAGE_SIZE, PAGE_SIZE).copyFrom(page(pageIds[i], version));
    }
    return pages;
  }
}
