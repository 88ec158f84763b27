package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;

/**
 * Makes, moves and frees the IAM pages of trees, which list their extents. Each step is one record
 * of the system (protocols.md §25). One thread at a time; with nothing latched.
 */
public final class ExtentLists {
  /** Credit for log space that one step may use: an IAM page in full. */
  public static final int CREDIT = 16 * 1024;

  /**
   * Credit for pages: the new page and its map, the old one and its map, the page that names it; an
   * extent.
   */
  public static final int PAGES = 5 + Allocator.PAGES;

  private final BufferPool pool;
  private final Allocator allocator;
  private final MiniTransaction mini;
  private final MapChanges maps;

  /** Makes an object with its own mini-transaction. */
  public ExtentLists(BufferPool pool, Journal log, Allocator allocator) {
    this.pool = pool;
    this.allocator = allocator;
    this.mini = new MiniTransaction(pool, log);
    this.maps = new MapChanges(pool, allocator.claims());
  }

  /**
   * Makes the list of a range, unless another thread has made it. The caller has nothing latched.
   */
  public void add(Unit unit, int range) {
    int page = allocator.claim();
    int root = -1;
    int frame = -1;
    boolean logged = false;
    try {
      root = unit.fixRootExclusive(pool);
      MemorySegment rootPage = pool.page(root);
      unit.load(pool, rootPage);
      if (unit.list(range) != 0) {
        return;
      }
      frame = pool.fixNew(page);
      MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
      Page.putByte(image, Page.TYPE, Page.IAM);
      Page.putInt(image, ExtentMapPage.TABLE, unit.table());
      Page.putInt(image, ExtentMapPage.RANGE_NUMBER, range);
      Page.putInt(image, ExtentMapPage.NEXT, Slotted.iam(rootPage));
      mini.begin(0);
      PageOps.image(mini.format(frame), image, SpaceMapPage.HEADER - Page.BODY, 0);
      mini.end();
      PageOps.setInt(mini.change(root), Slotted.iamOffset(Slotted.level(rootPage)), page);
      mini.end();
      maps.clear();
      maps.set(page, SpaceMapPage.ALLOCATED | SpaceMapPage.IAM);
      maps.latchAndWrite(mini);
      int[] known = unit.listsWith(range, page);
      mini.commit();
      logged = true;
      unit.lists(known);
    } finally {
      maps.unlatch();
      unfix(frame, logged);
      if (root >= 0) {
        pool.unfixExclusive(root);
      }
      if (!logged) {
        allocator.unclaim(page);
      }
    }
  }

  /**
   * Moves a list to a free page below a limit.
   *
   * @return whether it was moved
   */
  public boolean move(Unit unit, int page, int limit) {
    int target = allocator.claimBelow(Unit.NONE, limit);
    if (target < 0) {
      return false;
    }
    int root = -1;
    int before = -1;
    int old = -1;
    int fresh = -1;
    boolean logged = false;
    try {
      root = unit.fixRootExclusive(pool);
      unit.demandRoot(pool, pool.page(root));
      allocator.beginListChange();
      int named = before(unit, pool.page(root), page);
      if (named < 0) {
        return false;
      }
      if (named != 0 && named < page) { // R19: by their ids
        before = pool.fixExclusive(named);
      }
      old = pool.fixExclusive(page);
      if (named > page) {
        before = pool.fixExclusive(named);
      }
      MemorySegment list = pool.page(old);
      fresh = pool.fixNew(target);
      mini.begin(0);
      PageOps.image(mini.format(fresh), list, Page.SIZE - Page.BODY, 0);
      mini.end();
      pointTo(root, before, target);
      mini.free(page);
      maps.clear();
      maps.set(page, 0);
      maps.set(target, SpaceMapPage.ALLOCATED | SpaceMapPage.IAM);
      maps.latchAndWrite(mini);
      int[] known = unit.listsWith(ExtentMapPage.rangeNumber(list), target);
      mini.commit();
      logged = true;
      unit.lists(known);
    } finally {
      maps.unlatch();
      unfix(fresh, logged);
      unfix(old, /* logged= */ true);
      unfix(before, /* logged= */ true);
      if (root >= 0) {
        allocator.endListChange();
        pool.unfixExclusive(root);
      }
      if (!logged) {
        allocator.unclaim(target);
      }
    }
    allocator.release(page);
    return true;
  }

  /**
   * Frees the first list of a tree that has no extents any more.
   *
   * @return whether there was one
   */
  public boolean removeFirst(Unit unit) {
    int first;
    int list = -1;
    int root = unit.fixRootExclusive(pool);
    try {
      unit.demandRoot(pool, pool.page(root));
      first = Slotted.iam(pool.page(root));
      if (first == 0) {
        return false;
      }
      unit.demandMayWait(pool, first);
      list = pool.fixExclusive(first);
      MemorySegment page = pool.page(list);
      unit.demandList(pool, first, page);
      mini.begin(0);
      pointTo(root, -1, ExtentMapPage.nextPage(page));
      mini.free(first);
      maps.clear();
      maps.set(first, 0);
      maps.latchAndWrite(mini);
      int[] known = unit.listsWith(ExtentMapPage.rangeNumber(page), 0);
      mini.commit();
      unit.lists(known);
    } finally {
      maps.unlatch();
      unfix(list, /* logged= */ true);
      pool.unfixExclusive(root);
    }
    allocator.release(first);
    return true;
  }

  /** The list that names a page as the next one. 0: the root names it; -1: no page does. */
  private int before(Unit unit, MemorySegment root, int page) {
    unit.load(pool, root); // demands that each is a list of the tree, and that the chain ends
    int before = 0;
    for (int at = Slotted.iam(root); at != 0; ) {
      if (at == page) {
        return before;
      }
      before = at;
      int frame = pool.fixShared(at);
      at = ExtentMapPage.nextPage(pool.page(frame));
      pool.unfixShared(frame);
    }
    return -1;
  }

  /** Changes the next page in the list before, or in the root if there is none. */
  private void pointTo(int root, int before, int page) {
    int offset =
        before >= 0 ? ExtentMapPage.NEXT : Slotted.iamOffset(Slotted.level(pool.page(root)));
    PageOps.setInt(mini.change(before >= 0 ? before : root), offset, page);
    mini.end();
  }

  private void unfix(int frame, boolean logged) {
    if (frame >= 0 && logged) {
      pool.unfixExclusive(frame);
    } else if (frame >= 0) {
      pool.discard(frame);
    }
  }
}
