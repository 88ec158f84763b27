package org.revenantdb.engine.overflow;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Frees a large value from its end, the head last. Each step is one record and leaves a shorter
 * value with the same head. So after a crash at any point the next pass of the cleaner can
 * continue. Only the cleaner uses it.
 *
 * <p>A page is freed only if it names the value as its owner. Otherwise that is reported as damage;
 * pages that were freed before stay freed.
 */
public final class OverflowRemoval {
  /**
   * A small number, since each page may belong to another space map, and all maps of a record are
   * latched together.
   */
  private static final int PAGES_PER_RECORD = 64;

  private static final int CREDIT = 16 * 1024;

  /**
   * The number of pages that one record may change: head, index page, and a space map for each
   * freed page.
   */
  private static final int PAGES = PAGES_PER_RECORD + 3;

  private final BufferPool pool;
  private final Allocator allocator;
  private final VersionMarks marks;
  private final RecoverySpace space;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final int[] pages = new int[PAGES_PER_RECORD + 1];
  private int count;

  /** Makes an object that shares its cleaner's mini-transaction. */
  public OverflowRemoval(
      BufferPool pool,
      Allocator allocator,
      VersionMarks marks,
      RecoverySpace space,
      MiniTransaction mini,
      MapChanges maps) {
    this.pool = pool;
    this.allocator = allocator;
    this.marks = marks;
    this.space = space;
    this.mini = mini;
    this.maps = maps;
  }

  /**
   * Frees a value.
   *
   * @return how many pages were freed
   */
  public int remove(int head) {
    int freed = 0;
    while (true) {
      space.acquireToClean(CREDIT, PAGES);
      try {
        boolean gone = step(head);
        freed += count;
        if (gone) {
          return freed;
        }
      } finally {
        space.release(CREDIT, PAGES);
      }
    }
  }

  /**
   * Frees the last pages that the first index page names, or the index page itself if it names none
   * any more. Without index pages, does the same with the head.
   *
   * @return whether the head was freed
   */
  private boolean step(int head) {
    int headFrame = pool.fixExclusive(head);
    int indexFrame = -1;
    boolean gone;
    try {
      MemorySegment headPage = pool.page(headFrame);
      ValueChain chain = new ValueChain(pool, headPage);
      int index = OverflowPage.nextIndex(headPage);
      count = 0;
      mini.begin(0);
      maps.clear();
      if (index == 0) {
        gone = takeLast(chain, headFrame, headPage, head);
      } else {
        gone = false;
        indexFrame = chain.fixIndexExclusive(index);
        MemorySegment indexPage = pool.page(indexFrame);
        if (takeLast(chain, indexFrame, indexPage, index)) {
          chain.demandNextAscends(indexPage);
          RecordBuilder record = mini.change(headFrame);
          PageOps.setInt(record, OverflowPage.NEXT_INDEX, OverflowPage.nextIndex(indexPage));
          mini.end();
        }
      }
      for (int i = 0; i < count; i++) {
        mini.free(pages[i]);
        maps.set(pages[i], 0);
      }
      maps.latchAndWrite(mini);
      mini.commit();
      if (gone) {
        marks.clear(head);
      }
    } finally {
      maps.unlatch();
      if (indexFrame >= 0) {
        pool.unfixExclusive(indexFrame);
      }
      pool.unfixExclusive(headFrame);
    }
    for (int i = 0; i < count; i++) {
      allocator.release(pages[i]);
    }
    return gone;
  }

  /**
   * Collects the last pages that a page names, and the page itself if no others are left; returns
   * whether that is so. Each page is checked before it is freed: it must belong to the value.
   */
  private boolean takeLast(ValueChain chain, int frame, MemorySegment page, int id) {
    int ids = OverflowPage.count(page);
    int keep = Math.max(0, ids - PAGES_PER_RECORD);
    int first = OverflowPage.number(page); // 0 in a head
    for (int i = keep; i < ids; i++) {
      pool.prefetch(OverflowPage.id(page, i));
    }
    for (int i = keep; i < ids; i++) {
      int data = OverflowPage.id(page, i);
      pool.unfixShared(chain.fixShared(data, Page.OVERFLOW_DATA, first + i));
      pages[count++] = data;
    }
    if (keep > 0) {
      RecordBuilder record = mini.change(frame);
      PageOps.setShort(record, OverflowPage.COUNT, keep);
      mini.end();
      return false;
    }
    pages[count++] = id;
    return true;
  }
}
