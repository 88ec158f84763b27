package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;

/**
 * The extents of one tree, as far as this life of the database knows them: the places of their
 * lists, the IAM pages, and the place from which on a search for a free page can begin.
 *
 * <p>There is one object for each tree; thread-safe.
 */
public final class Unit {
  /*
   * Source      "allocation unit", Concurrent Updates to Pages with Fixed-Size Rows (VLDB 2020), 2.1.2; protocols.md §25.
   *
   * lists       written by a thread that has the root latched: exclusively if it has changed the chain, shared if it
   *             has read it. The page of a list changes only with that page latched exclusively. So a thread that has
   *             it latched, and still finds it here, has the list.
   */
  /** The unit of everything that belongs to no tree. */
  public static final Unit NONE = new Unit(-1, -1);

  /** A tree with this many pages under its root gets its own extents. */
  public static final int LARGE = 7;

  private final int table;

  /** Changed only by a thread that has the former root page and the new one latched exclusively. */
  private volatile int root;

  private final Hint hint = new Hint();

  /** IAM pages by range, 0: none; null: they have not been looked up. */
  private volatile int @Nullable [] lists;

  private volatile boolean large;

  /** How often an extent was given back. */
  private final AtomicInteger turns = new AtomicInteger();

  /**
   * The extent from which a page was taken last, -1: none; in the upper half, a turn in which it
   * belonged to the tree.
   */
  private volatile long current = current(0, -1);

  /** Makes an object for the tree with this root; nothing is read yet. */
  public Unit(int table, int root) {
    this.table = table;
    this.root = root;
  }

  /** The id in the pages of the tree. */
  public int table() {
    return table;
  }

  /** The tree's root; it may move while it is not latched. */
  public int root() {
    return root;
  }

  /**
   * Called when the root has moved. The caller has the former page and the new one latched
   * exclusively.
   */
  public void rootMoved(int to) {
    root = to;
  }

  /** Frame of the root, latched shared. */
  public int fixRootShared(BufferPool pool) {
    while (true) {
      int page = root;
      int frame;
      try {
        frame = pool.fixShared(page);
      } catch (FileException unreadable) {
        demandStillRoot(page, unreadable);
        continue;
      }
      if (root == page) {
        return frame;
      }
      pool.unfixShared(frame); // it has moved from there
    }
  }

  /** Frame of the root, latched exclusively. */
  public int fixRootExclusive(BufferPool pool) {
    while (true) {
      int page = root;
      int frame;
      try {
        frame = pool.fixExclusive(page);
      } catch (FileException unreadable) {
        demandStillRoot(page, unreadable);
        continue;
      }
      if (root == page) {
        return frame;
      }
      pool.unfixExclusive(frame); // it has moved from there
    }
  }

  /**
   * Demands that a page is still the root: a page that the root has left may belong to another tree
   * by now, or be cut off.
   */
  private void demandStillRoot(int page, FileException unreadable) {
    if (root == page) {
      throw unreadable;
    }
  }

  /** The place from which on to search for extents with a free page. */
  Hint hint() {
    return hint;
  }

  /** {@link #turn()} and {@link #extent(long)} of the extent that a page was taken from last. */
  long current() {
    return current;
  }

  /**
   * @param turn read before it was seen that the extent is the tree's
   */
  void setCurrent(int turn, int extent) {
    current = current(turn, extent);
  }

  private static long current(int turn, int extent) {
    return ((long) turn << Integer.SIZE) | Integer.toUnsignedLong(extent);
  }

  /** The extent; -1: none. */
  static int extent(long current) {
    return (int) current;
  }

  /** The turn. */
  static int turn(long current) {
    return (int) (current >>> Integer.SIZE);
  }

  /**
   * How often an extent was freed. A thread that frees one has all of its pages entered until this
   * has changed. So if an extent belonged to the tree after this was read, it still does as long as
   * this is unchanged and one of the extent's pages is entered.
   */
  int turn() {
    return turns.get();
  }

  /**
   * Called by a thread that frees an extent, under the allocator's lock, before it leaves its
   * pages.
   */
  void nextTurn() {
    turns.incrementAndGet();
  }

  /** Whether the tree was found to be so large that it has its own extents. */
  public boolean isLarge() {
    return large;
  }

  /** Looks the tree up, unless it is known to be large. The caller has nothing latched. */
  public void load(BufferPool pool) {
    if (large) {
      return;
    }
    int frame = fixRootShared(pool);
    try {
      load(pool, pool.page(frame));
    } finally {
      pool.unfixShared(frame);
    }
  }

  /**
   * Reads the lists of the tree's extents, unless they are known: after a restart a tree from which
   * pages are only freed has not been looked up. The caller has nothing latched.
   */
  void lookUp(BufferPool pool) {
    if (lists != null || root < 0) {
      return;
    }
    int frame = fixRootShared(pool);
    try {
      MemorySegment page = pool.page(frame);
      boolean isThere = Page.type(page) == Page.LEAF || Page.type(page) == Page.INNER;
      if (isThere && Slotted.table(page) == table) { // else the tree is gone
        load(pool, page);
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  /** Reads the chain of lists from a root that the caller has latched. */
  void load(BufferPool pool, MemorySegment rootPage) {
    demandRoot(pool, rootPage);
    int[] found = new int[1];
    for (int page = Slotted.iam(rootPage); page != 0; ) {
      demandMayWait(pool, page);
      int frame = pool.fixShared(page);
      try {
        MemorySegment list = pool.page(frame);
        demandList(pool, page, list);
        int range =
            ExtentMapPage.rangeNumber(list); // a range that a file can have; else it is no list
        if (range >= found.length) {
          found = Arrays.copyOf(found, range + 1);
        }
        if (found[range] != 0) { // each range only once: so the chain ends
          throw pool.damage(
              page,
              "page %s is the second list of the extents of range %d of table %d, after page %d"
                  .formatted(Integer.toUnsignedString(page), range, table, found[range]));
        }
        found[range] = page;
        page = ExtentMapPage.nextPage(list);
      } finally {
        pool.unfixShared(frame);
      }
    }
    lists = found;
    int level = Slotted.level(rootPage);
    large =
        Slotted.iam(rootPage) != 0
            || level > 1
            || (level == 1 && Slotted.count(rootPage) + 1 >= LARGE);
  }

  /** Demands that the root in the catalogue is a page of this tree. */
  void demandRoot(BufferPool pool, MemorySegment rootPage) {
    int level = Slotted.level(rootPage);
    if (Slotted.kind(rootPage) != Slotted.kindOf(table, level)) {
      throw pool.damage(
          root,
          "page %s is not the root of a tree of table %d"
              .formatted(Integer.toUnsignedString(root), table));
    }
  }

  /** Demands that a page which the root or another list names is a list of this tree. */
  void demandList(BufferPool pool, int page, MemorySegment list) {
    if (Page.type(list) != Page.IAM || ExtentMapPage.table(list) != table) {
      throw noList(pool, page);
    }
  }

  /**
   * Demands that the page can be waited for: a thread with the root latched does not wait for a
   * page that it may have latched itself.
   */
  void demandMayWait(BufferPool pool, int page) {
    if (pool.isOfOtherType(page, Page.IAM, Page.IAM)) {
      throw noList(pool, page);
    }
  }

  private DamagedFileException noList(BufferPool pool, int page) {
    return pool.damage(
        page,
        "page "
            + Integer.toUnsignedString(page)
            + " is not a list of the extents of table "
            + table
            + ", but its root refers to it as one");
  }

  /** The IAM page of a range, 0 if there is none. */
  int list(int range) {
    int[] known = lists;
    return known == null || range >= known.length ? 0 : known[range];
  }

  /** The argument for {@link #lists(int[])} when the list of a range has another page. */
  int[] listsWith(int range, int page) {
    int[] known = lists;
    int[] changed =
        Arrays.copyOf(known == null ? new int[0] : known, Math.max(range + 1, ranges()));
    changed[range] = page;
    return changed;
  }

  /**
   * Called by a thread that has the root latched exclusively, and the IAM page if there was one.
   */
  void lists(int[] changed) {
    lists = changed;
  }

  /** The number of ranges that may have a list. */
  int ranges() {
    int[] known = lists;
    return known == null ? 0 : known.length;
  }

  /**
   * Latches the IAM page of a range shared.
   *
   * @return its frame; -1 if there is none
   */
  int latchList(BufferPool pool, int range) {
    for (int page = list(range); page != 0; page = list(range)) {
      int frame = pool.fixShared(page);
      boolean hasMoved = list(range) != page;
      if (!hasMoved && isList(pool.page(frame), range)) {
        return frame;
      }
      pool.unfixShared(frame);
      if (!hasMoved) {
        return -1; // the tree is gone
      }
    }
    return -1;
  }

  private boolean isList(MemorySegment page, int range) {
    return Page.type(page) == Page.IAM
        && ExtentMapPage.table(page) == table
        && ExtentMapPage.rangeNumber(page) == range;
  }

  /** Whether an extent belongs to the tree. */
  boolean owns(BufferPool pool, int extent) {
    int frame = latchList(pool, ExtentMapPage.range(extent));
    if (frame < 0) {
      return false;
    }
    try {
      return ExtentMapPage.isSet(pool.page(frame), extent);
    } finally {
      pool.unfixShared(frame);
    }
  }

  /** The subset of some extents that belongs to the tree. The caller has nothing latched. */
  BitSet owned(BufferPool pool, BitSet extents) {
    lookUp(pool);
    BitSet owned = new BitSet();
    for (int range = 0; range < ranges(); range++) {
      int frame = latchList(pool, range);
      if (frame < 0) {
        continue;
      }
      try {
        MemorySegment list = pool.page(frame);
        int first = range * ExtentMapPage.RANGE;
        int end = first + ExtentMapPage.RANGE;
        for (int e = extents.nextSetBit(first); e >= 0 && e < end; e = extents.nextSetBit(e + 1)) {
          owned.set(e, ExtentMapPage.isSet(list, e));
        }
      } finally {
        pool.unfixShared(frame);
      }
    }
    return owned;
  }

  /** The tree's first extent from one on; -1 if there is none. */
  int nextExtent(BufferPool pool, int from) {
    for (int range = ExtentMapPage.range(from), at = from; range < ranges(); range++) {
      int frame = latchList(pool, range);
      if (frame >= 0) {
        try {
          int extent = ExtentMapPage.next(pool.page(frame), at, /* set= */ true);
          if (extent >= 0) {
            return extent;
          }
        } finally {
          pool.unfixShared(frame);
        }
      }
      at = (range + 1) * ExtentMapPage.RANGE;
    }
    return -1;
  }
}
