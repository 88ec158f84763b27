package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.PageVisits;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Frees space: merges a page that is too small with a neighbour under the same parent, and removes
 * a level from a tree whose root has only one child left.
 *
 * <p>Only the cleaner uses it; each of its threads has its own object. Each merge is one record of
 * the system: the left page formatted with both contents, the right one freed, its separator
 * removed. Parent, left and right page stay latched until it is applied. If either page has
 * versions, the result is marked and added to the running pass (R2).
 */
public final class Merge {
  /** Credit for log space that one call may use. */
  public static final int CREDIT = 64 * 1024;

  /** Credit for pages: parent and left page, and the space maps of left and right. */
  public static final int PAGES = 4;

  /** A page with fewer bytes in use than this is worth merging. */
  private static final int SMALL = Page.SIZE / 4;

  /** A merged page has to be at most this full, so that the next insert does not split it again. */
  private static final int MERGED_MAX = Page.SIZE * 3 / 4;

  private final BufferPool pool;
  private final PageVisits visits;
  private final VersionMarks marks;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Descent descent = new Descent();
  private final Tally merges;
  private final SlottedBuilder merged = new SlottedBuilder();

  /**
   * Makes an object that shares the mini-transaction of its cleaner thread.
   *
   * @param visits the visits of all cleaner threads: one may be on its way to a page that is freed
   *     here
   */
  public Merge(
      BufferPool pool,
      PageVisits visits,
      VersionMarks marks,
      MiniTransaction mini,
      MapChanges maps,
      Tally merges) {
    this.pool = pool;
    this.visits = visits;
    this.marks = marks;
    this.mini = mini;
    this.maps = maps;
    this.merges = merges;
  }

  /** Whether a page, latched by the caller, is worth a call of {@link #around}. */
  public static boolean isSmall(MemorySegment page) {
    return Slotted.used(page) < SMALL;
  }

  /**
   * Whether a page, latched by the caller, is worth a call of {@link #around} with {@code closely}.
   */
  public static boolean isSparse(MemorySegment page) {
    return Slotted.used(page) < MERGED_MAX / 2;
  }

  /**
   * Merges the page of this level that covers the key with a neighbour, if it is still small and
   * the two fit.
   *
   * @param closely whether to merge them if they fit although neither is small; for a caller that
   *     wants the space
   * @return whether something was merged: then the level above may be worth a call
   */
  public boolean around(Tree tree, byte[] key, int level, boolean closely) {
    int parent = tree.aboveExclusive(key, level, descent);
    if (parent < 0) {
      return level > 0 && collapseIfAlone(tree);
    }
    try {
      MemorySegment page = pool.page(parent);
      int count = Slotted.count(page);
      if (count == 0) {
        return pool.pageIdOf(parent) == tree.root() && collapse(tree, parent);
      }
      int position = SlottedSearch.childPosition(page, key);
      // With the left neighbour first: in a table that is emptied from left to right, the right one
      // is still full.
      return (position >= 0 && pair(tree, parent, position - 1, closely))
          || (position < count - 1 && pair(tree, parent, position, closely));
    } finally {
      pool.unfixExclusive(parent);
    }
  }

  /** Merges the child at a position with the child to its right, if one is small and both fit. */
  private boolean pair(Tree tree, int parent, int position, boolean closely) {
    MemorySegment page = pool.page(parent);
    int below = Slotted.level(page) - 1;
    int left = tree.childExclusive(Slotted.child(page, position), below);
    int right = -1;
    try {
      right = tree.childExclusive(Slotted.child(page, position + 1), below);
      MemorySegment leftPage = pool.page(left);
      MemorySegment rightPage = pool.page(right);
      demandNeighbours(tree, page, position + 1, leftPage, rightPage);
      if (!closely && !isSmall(leftPage) && !isSmall(rightPage)) {
        return false;
      }
      int prefix = SlottedSearch.prefixOfBoth(leftPage, rightPage);
      int bytes =
          bytesIn(leftPage, prefix) + bytesIn(rightPage, prefix) + fences(leftPage, rightPage);
      if (bytes + (Slotted.level(leftPage) > 0 ? Tree.INNER_ROOM : 0) > MERGED_MAX) {
        return false;
      }
      merge(tree, parent, position + 1, left, right);
      return true;
    } finally {
      if (right >= 0) {
        pool.unfixExclusive(right);
      }
      pool.unfixExclusive(left);
    }
  }

  /** Demands that the page to be freed is the one that the separator describes. */
  private static void demandNeighbours(
      Tree tree, MemorySegment parent, int slot, MemorySegment left, MemorySegment right) {
    byte[] separator = Slotted.key(parent, slot);
    if (!Slotted.hasUpperFence(left) || !Arrays.equals(separator, Slotted.upperFence(left))) {
      throw tree.misplaced(left);
    }
    if (!Arrays.equals(separator, Slotted.lowerFence(right))) {
      throw tree.misplaced(right);
    }
  }

  /** The bytes that the cells of a page take if a shorter prefix is left out of their keys. */
  private static int bytesIn(MemorySegment page, int prefix) {
    return Slotted.used(page) + Slotted.count(page) * (Slotted.prefix(page) - prefix);
  }

  private static int fences(MemorySegment left, MemorySegment right) {
    return Slotted.lowerFence(left).length
        + (Slotted.hasUpperFence(right) ? Slotted.upperFence(right).length : 0);
  }

  private void merge(Tree tree, int parent, int slot, int left, int right) {
    MemorySegment leftPage = pool.page(left);
    MemorySegment rightPage = pool.page(right);
    int leftId = pool.pageIdOf(left);
    int rightId = pool.pageIdOf(right);
    int level = Slotted.level(leftPage);
    merged.begin(
        level,
        tree.table(),
        Slotted.lowerFence(leftPage),
        Slotted.hasUpperFence(rightPage) ? Slotted.upperFence(rightPage) : null);
    merged.inherit(leftPage);
    merged.inherit(rightPage);
    merged.append(leftPage, 0, Slotted.count(leftPage));
    if (level > 0) {
      merged.leftmostChild(Slotted.child(leftPage, -1));
      merged.append(
          InnerCell.build(Slotted.key(pool.page(parent), slot), Slotted.child(rightPage, -1)));
    }
    merged.append(rightPage, 0, Slotted.count(rightPage));
    int flags = merged.flags();
    try {
      mini.begin(0);
      RecordBuilder record = mini.format(left);
      PageOps.image(record, merged);
      mini.end();
      record = mini.change(parent);
      PageOps.remove(record, slot);
      mini.end();
      mini.free(rightId);
      maps.clear();
      maps.set(rightId, 0);
      maps.set(leftId, SpaceMapPage.inUse(flags));
      maps.latchAndWrite(mini);
      mini.commit();
      pool.markFreed(right);
    } finally {
      maps.unlatch();
    }
    marks.clear(rightId);
    marks.carry(leftId, flags);
    visits.free(tree.unit(), rightId);
    merges.increment();
  }

  /**
   * Collapses the root while it has one child. The last merge under the root may have left it one
   * child, and no other merge would look at the root again. A root that has lost a level may have
   * one child again, because another thread merges below it.
   */
  private boolean collapseIfAlone(Tree tree) {
    int root = tree.rootExclusive();
    try {
      MemorySegment page = pool.page(root);
      return Slotted.level(page) > 0 && Slotted.count(page) == 0 && collapse(tree, root);
    } finally {
      pool.unfixExclusive(root);
    }
  }

  /** Moves the root's only child into the root. */
  private boolean collapse(Tree tree, int root) {
    int childId = Slotted.child(pool.page(root), -1);
    int child = tree.childExclusive(childId, Slotted.level(pool.page(root)) - 1);
    try {
      MemorySegment page = pool.page(child);
      int level = Slotted.level(page);
      merged.begin(level, tree.table(), new byte[0], null);
      merged.iam(Slotted.iam(pool.page(root)));
      merged.inherit(page);
      if (level > 0) {
        merged.leftmostChild(Slotted.child(page, -1));
      }
      merged.append(page, 0, Slotted.count(page));
      int flags = merged.flags();
      try {
        mini.begin(0);
        RecordBuilder record = mini.format(root);
        PageOps.image(record, merged);
        mini.end();
        mini.free(childId);
        maps.clear();
        maps.set(childId, 0);
        maps.set(tree.root(), SpaceMapPage.inUse(flags));
        maps.latchAndWrite(mini);
        mini.commit();
        pool.markFreed(child);
      } finally {
        maps.unlatch();
      }
      marks.clear(childId);
      marks.carry(tree.root(), flags);
      visits.free(tree.unit(), childId);
    } finally {
      pool.unfixExclusive(child);
    }
    merges.increment();
    return true;
  }
}
