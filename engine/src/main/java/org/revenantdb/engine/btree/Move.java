package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Moves a page of a tree, other than the root, to a free page nearer to the beginning of the file.
 *
 * <p>Only the cleaner uses it. A move is one record of the system: the new page formatted, the
 * child in the parent changed, the old page freed (protocols.md §18). Parent and old page stay
 * latched exclusively until it is applied, so no descent is on its way from one to the other.
 */
public final class Move {
  /** Credit for log space that one call may use. */
  public static final int CREDIT = 24 * 1024;

  /**
   * Credit for pages: the new page and the parent, the space maps of new and old page, and the
   * pages that a claim changes.
   */
  public static final int PAGES = 4 + Allocator.PAGES_AT_ONCE;

  private final BufferPool pool;
  private final Allocator allocator;
  private final VersionMarks marks;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Descent descent = new Descent();
  private int rangeWithoutList = -1;
  private final SlottedBuilder copy = new SlottedBuilder();

  /** Makes an object that shares its cleaner's mini-transaction. */
  public Move(
      BufferPool pool,
      Allocator allocator,
      VersionMarks marks,
      MiniTransaction mini,
      MapChanges maps) {
    this.pool = pool;
    this.allocator = allocator;
    this.marks = marks;
    this.mini = mini;
    this.maps = maps;
  }

  /**
   * Moves a page.
   *
   * @param level its level in the tree
   * @param fence its lower fence
   * @param limit the new page is below this page
   * @param isPacking whether the new page must lie in an extent that the tree already has, or in a
   *     mixed one
   * @return whether it was moved; false if it is the root, does not exist any more, or there is no
   *     free page. The last is also so if the tree lacks a list: {@link #rangeWithoutList}
   */
  public boolean page(
      Tree tree, int pageId, int level, byte[] fence, int limit, boolean isPacking) {
    rangeWithoutList = -1;
    tree.unit().load(pool); // before anything is latched
    int parent = tree.aboveExclusive(fence, level, descent);
    if (parent < 0) {
      return false;
    }
    try {
      MemorySegment page = pool.page(parent);
      int position = SlottedSearch.childPosition(page, fence);
      if (Slotted.child(page, position) != pageId) {
        return false;
      }
      int target =
          isPacking
              ? allocator.claimLower(tree.unit(), limit)
              : allocator.claimBelow(tree.unit(), limit);
      rangeWithoutList = Allocator.rangeWithoutList(target);
      return target >= 0 && move(tree, parent, position, pageId, target);
    } finally {
      pool.unfixExclusive(parent);
    }
  }

  /**
   * The range for which the tree needs a list of extents before the last page can be moved; -1 if
   * none is missing. A tree that has only just become large has none.
   */
  public int rangeWithoutList() {
    return rangeWithoutList;
  }

  private boolean move(Tree tree, int parent, int position, int pageId, int target) {
    int old = -1;
    int fresh = -1;
    boolean logged = false;
    try {
      old = tree.childExclusive(pageId, Slotted.level(pool.page(parent)) - 1);
      fresh = pool.fixNew(target);
      copyTo(copy, tree.table(), pool.page(old));
      int flags = copy.flags();
      mini.begin(0);
      RecordBuilder record = mini.format(fresh);
      PageOps.image(record, copy);
      mini.end();
      record = mini.change(parent);
      pointTo(record, pool.page(parent), position, target);
      mini.end();
      mini.free(pageId);
      maps.clear();
      maps.set(pageId, 0);
      maps.set(target, SpaceMapPage.inUse(flags));
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      pool.markFreed(old);
      marks.carry(target, flags); // before the old page is freed: R2
      marks.clear(pageId);
    } finally {
      maps.unlatch();
      if (fresh >= 0 && logged) {
        pool.unfixExclusive(fresh);
      } else if (fresh >= 0) {
        pool.discard(fresh);
      }
      if (old >= 0) {
        pool.unfixExclusive(old);
      }
      if (!logged) {
        allocator.unclaim(tree.unit(), target);
      }
    }
    allocator.release(tree.unit(), pageId);
    return true;
  }

  /** Rebuilds the content of a page in a builder, for another page. */
  public static void copyTo(SlottedBuilder copy, int table, MemorySegment page) {
    int level = Slotted.level(page);
    copy.begin(
        level,
        table,
        Slotted.lowerFence(page),
        Slotted.hasUpperFence(page) ? Slotted.upperFence(page) : null);
    copy.inherit(page);
    if (level > 0) {
      copy.leftmostChild(Slotted.child(page, -1));
    }
    copy.append(page, 0, Slotted.count(page));
  }

  private static void pointTo(RecordBuilder record, MemorySegment parent, int position, int child) {
    if (position < 0) {
      PageOps.setInt(record, Slotted.LEFTMOST_CHILD, child);
    } else {
      PageOps.replace(record, position, InnerCell.build(Slotted.key(parent, position), child));
    }
  }
}
