package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;

/**
 * Walks a tree from its root and checks types, levels, the nesting of fences, the order of keys,
 * and everything to which rows refer. For one tree and one use.
 */
final class TreeCheck {
  /** Receives the rows of leaves. */
  @FunctionalInterface
  interface Rows {
    /** Ignores all rows. */
    Rows NONE = (page, cell) -> {};

    /** Receives a row, in a copy of its leaf. */
    void row(MemorySegment page, int cell);
  }

  private final CheckPages pages;
  private final ValueCheck values;
  private final ExtentCheck extents;
  private final int table;
  private final Rows rowsSeen;
  private final String of;

  /**
   * Whether pages at the right end may have been freed: then a last child may end before its
   * parent.
   */
  private final boolean dropped;

  private int levels;
  private long rows;
  private long visibleRows;
  private long versionBytes;
  private long treePages;

  /**
   * Makes a walk.
   *
   * @param table the id in the pages
   * @param what a description of the tree after its id: a comma, and words
   */
  TreeCheck(
      CheckPages pages,
      ValueCheck values,
      ExtentCheck extents,
      int table,
      String what,
      Rows rowsSeen) {
    this(pages, values, extents, table, what, rowsSeen, /* dropped= */ false);
  }

  private TreeCheck(
      CheckPages pages,
      ValueCheck values,
      ExtentCheck extents,
      int table,
      String what,
      Rows rowsSeen,
      boolean dropped) {
    this.dropped = dropped;
    this.pages = pages;
    this.values = values;
    this.extents = extents;
    this.table = table;
    this.rowsSeen = rowsSeen;
    this.of = " of table " + table + what;
  }

  /** Makes a walk over what is left of a tree whose table was dropped (protocols.md §24). */
  static TreeCheck ofDropped(CheckPages pages, ValueCheck values, ExtentCheck extents, int table) {
    return new TreeCheck(
        pages, values, extents, table, ", dropped", Rows.NONE, /* dropped= */ true);
  }

  /** Walks the whole tree; returns the counts. */
  CheckedTable run(String name, int root) {
    long overflowBefore = values.pages();
    if (pages.reach(root, "root" + of)) {
      MemorySegment page = pages.readOnce(root, "root" + of);
      if (page != null && Page.type(page) != Page.LEAF && Page.type(page) != Page.INNER) {
        pages.problem("page " + root + of + " should be a root, and has type " + Page.type(page));
      } else if (page != null) {
        levels = Slotted.level(page) + 1;
        extents.lists(Slotted.iam(page), table, of);
        page(root, page, Slotted.level(page), new byte[0], null);
      }
    }
    return new CheckedTable(
        name, rows, visibleRows, levels, treePages, values.pages() - overflowBefore, versionBytes);
  }

  private void page(int id, MemorySegment page, int level, byte[] lower, byte @Nullable [] upper) {
    String what = "page " + id + of;
    treePages++;
    extents.treePage(id, table);
    int type = level == 0 ? Page.LEAF : Page.INNER;
    if (Page.type(page) != type || Slotted.level(page) != level || Slotted.table(page) != table) {
      pages.problem(
          what
              + " has type "
              + Page.type(page)
              + ", level "
              + Slotted.level(page)
              + ", table "
              + Slotted.table(page)
              + "; expected type "
              + type
              + ", level "
              + level);
      return;
    }
    pages.flags(id, page);
    try {
      fences(page, what, lower, upper);
      order(page, what);
      if (level == 0) {
        rows(page, what);
        return;
      }
    } catch (IndexOutOfBoundsException senseless) {
      pages.problem(what + " cannot be decoded: " + senseless.getMessage());
      return;
    }
    children(page, level, what, lower, upper);
  }

  private void fences(MemorySegment page, String what, byte[] lower, byte @Nullable [] upper) {
    if (!Arrays.equals(lower, Slotted.lowerFence(page)) || !endsAt(page, upper)) {
      pages.problem(what + " has fences that differ from those in its parent");
    }
  }

  private static boolean endsAt(MemorySegment page, byte @Nullable [] upper) {
    return upper == null
        ? !Slotted.hasUpperFence(page)
        : Slotted.hasUpperFence(page) && Arrays.equals(upper, Slotted.upperFence(page));
  }

  /** The end of a last child whose right neighbours may have been freed. */
  private static byte @Nullable [] endOfLast(MemorySegment page, byte @Nullable [] upper) {
    try {
      boolean before =
          Slotted.hasUpperFence(page)
              && (upper == null || Arrays.compareUnsigned(Slotted.upperFence(page), upper) < 0);
      return before ? Slotted.upperFence(page) : upper;
    } catch (IndexOutOfBoundsException senseless) {
      return upper; // the problem is reported for the page itself
    }
  }

  private void order(MemorySegment page, String what) {
    int count = Slotted.count(page);
    byte[] before = null;
    for (int slot = 0; slot < count; slot++) {
      byte[] key = Slotted.key(page, slot);
      if (before != null && Arrays.compareUnsigned(before, key) >= 0) {
        pages.problem(
            what + ": keys of slots " + (slot - 1) + " and " + slot + " are not in order");
      }
      before = key;
      if (!SlottedSearch.covers(page, key)) {
        pages.problem(what + ": the key of slot " + slot + " lies outside the fences");
      }
    }
    String heads = SlottedSearch.problemOfHeads(page);
    if (heads != null) {
      pages.problem(what + ": " + heads);
    }
  }

  private void children(
      MemorySegment page, int level, String what, byte[] lower, byte @Nullable [] upper) {
    int count = Slotted.count(page);
    for (int slot = -1; slot < count; slot++) {
      int child = Slotted.child(page, slot);
      byte[] from = slot < 0 ? lower : Slotted.key(page, slot);
      byte[] to = slot + 1 < count ? Slotted.key(page, slot + 1) : upper;
      String as = "child " + slot + " of " + what;
      if (pages.reach(child, as)) {
        MemorySegment below = pages.readOnce(child, as);
        if (below != null) {
          boolean last = dropped && slot + 1 == count;
          page(child, below, level - 1, from, last ? endOfLast(below, to) : to);
        }
      }
    }
  }

  private void rows(MemorySegment page, String what) {
    int count = Slotted.count(page);
    rows += count;
    for (int slot = 0; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      row(page, cell, what + ", slot " + slot);
      rowsSeen.row(page, cell);
    }
  }

  private void row(MemorySegment page, int cell, String what) {
    String problem = LeafCell.problemOf(page, cell);
    if (problem != null) {
      pages.problem(what + " " + problem);
    }
    long writer = LeafCell.writer(page, cell);
    if (writer > Slotted.maxWriter(page)) {
      pages.problem(what + " has a writer above the highest writer of the page header");
    }
    if (LeafCell.is(page, cell, LeafCell.DELETED) && (Page.flags(page) & Page.FLAG_GHOST) == 0) {
      pages.problem(what + " is deleted, but the page has no ghost bit");
    }
    boolean active = pages.frozen().isActive(writer);
    boolean aborted = pages.frozen().isAborted(writer);
    if (!active && !aborted && pages.frozen().isForgotten(writer)) {
      pages.problem(what + " is of transaction " + writer + ", which should have no rows left");
    }
    if ((active || aborted) && !Page.hasVersions(page)) {
      pages.problem(
          what
              + " is of transaction "
              + writer
              + ", which has not been committed, but the page has no version bit");
    }
    versionBytes +=
        LeafCell.versionBytes(page, cell)
            - (LeafCell.is(page, cell, LeafCell.DELETED)
                ? LeafCell.predecessorLength(page, cell)
                : 0);
    boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR);
    boolean visible =
        (active || aborted)
            ? predecessor && !LeafCell.is(page, cell, LeafCell.PREDECESSOR_DELETED)
            : !LeafCell.is(page, cell, LeafCell.DELETED);
    if (visible) {
      visibleRows++;
    }
    // An aborted value may be freed before its row.
    if (LeafCell.is(page, cell, LeafCell.OVERFLOW) && !aborted) {
      values.ofRow(page, LeafCell.valueOffset(page, cell), writer, what);
    }
    // Below a version that every snapshot sees, the predecessor may have been freed: no reader
    // follows it any more.
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW) && (active || aborted)) {
      values.ofRow(
          page,
          LeafCell.predecessorOffset(page, cell),
          LeafCell.predecessorWriter(page, cell),
          what + " (predecessor)");
    }
  }
}
