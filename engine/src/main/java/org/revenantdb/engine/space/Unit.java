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
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.StorageException;

/**
 * The extents of one tree, as far as this life of the database remembers them: where their lists,
 * the IAM pages, are, and from where on it is worth looking for a free page.
 *
 * <p>There is one for a tree; thread-safe.
 */
public final class Unit {
  /*
   * Source      "allocation unit", Concurrent Updates to Pages with Fixed-Size Rows (VLDB 2020), 2.1.2; protocols.md §25.
   *
   * lists       written by who has the root latched: exclusively if he has changed the chain, shared if he has read it.
   *             The page of a list changes with that page latched exclusively: so whoever has it latched, and still
   *             finds it here, has the list.
   */
  /** Of what is no tree's. */
  public static final Unit NONE = new Unit(-1, -1);

  /** A tree with so many pages under its root takes extents of its own. */
  public static final int LARGE = 7;

  private final int table;

  /**
   * Changed by who has the page that is the root until then, and the one that will be, latched
   * exclusively.
   */
  private volatile int root;

  private final Hint hint = new Hint();

  /** IAM pages by range, 0: none; null: they have not been looked up. */
  private volatile int @Nullable [] lists;

  private volatile boolean large;

  /** How often an extent was given back. */
  private final AtomicInteger turns = new AtomicInteger();

  /**
   * The extent that a page was taken from last, -1: none; in the upper half a turn, in which it was
   * the tree's.
   */
  private volatile long current = current(0, -1);

  /** The extents of the tree with this root; nothing is read yet. */
  public Unit(int table, int root) {
    this.table = table;
    this.root = root;
  }

  /** Id that the pages of the tree carry. */
  public int table() {
    return table;
  }

  /** The tree's root; it may move as long as it is not latched. */
  public int root() {
    return root;
  }

  /** The root has moved. The caller has the former page and the new one latched exclusively. */
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
      } catch (StorageException unreadable) {
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
      } catch (StorageException unreadable) {
        demandStillRoot(page, unreadable);
        continue;
      }
      if (root == page) {
        return frame;
      }
      pool.unfixExclusive(frame); // it has moved from there
    }
  }

  /** A page that the root has left may be another's by now, or cut off. */
  private void demandStillRoot(int page, StorageException unreadable) {
    if (root == page) {
      throw unreadable;
    }
  }

  /** From where on to look for extents with a free page. */
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
   * How often an extent was given back. Who gives one back has all of its pages entered until this
   * has changed: so an extent that was the tree's after this was read is the tree's as long as it
   * is the same and one of the extent's pages is entered.
   */
  int turn() {
    return turns.get();
  }

  /** By who gives an extent back, under the allocator's lock, before he leaves its pages. */
  void nextTurn() {
    turns.incrementAndGet();
  }

  /** Whether the tree was seen to be so large that it has extents of its own. */
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

  /** Looks the chain up behind a root that the caller has latched. */
  void load(BufferPool pool, MemorySegment rootPage) {
    demandRoot(pool, rootPage);
    int[] found = new int[1];
    for (int page = Slotted.iam(rootPage); page != 0; ) {
      demandMayWait(pool, page);
      int frame = pool.fixShared(page);
      try {
        MemorySegment list = pool.page(frame);
        demandList(pool, page, list);
        int range = ExtentMapPage.rangeNumber(list); // one that a file can have, or it is no list
        if (range >= found.length) {
          found = Arrays.copyOf(found, range + 1);
        }
        if (found[range] != 0) { // each range once: so the chain ends
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

  /** Demands that what the catalogue calls the root is a page of this tree. */
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

  /** A thread with the root latched does not wait for a page that it may have latched itself. */
  void demandMayWait(BufferPool pool, int page) {
    if (pool.isOfOtherType(page, Page.IAM, Page.IAM)) {
      throw noList(pool, page);
    }
  }

  private CorruptDataException noList(BufferPool pool, int page) {
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

  /** What {@link #lists(int[])} is to be given when the list of a range has another page. */
  int[] listsWith(int range, int page) {
    int[] known = lists;
    int[] changed =
        Arrays.copyOf(known == null ? new int[0] : known, Math.max(range + 1, ranges()));
    changed[range] = page;
    return changed;
  }

  /** By who has the root latched exclusively, and the IAM page, if there was one. */
  void lists(int[] changed) {
    lists = changed;
  }

  /** How many ranges may have a list. */
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

  /** Whether an extent is the tree's. */
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

  /** Those of some extents that are the tree's. The caller has nothing latched. */
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
