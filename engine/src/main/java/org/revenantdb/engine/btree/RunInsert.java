package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.flight.FlightEvents;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Inserts prepared leaves at a place where a tree has no rows yet, several with one record: behind
 * all its rows, or in a gap that one leaf covers.
 *
 * <p>Threads: one at a time. Other threads may work with the tree meanwhile.
 *
 * <p>Failure: after an exception the tree has nothing of the run, but it may have become higher.
 */
public final class RunInsert {
  /*
   * Protocol    docs/protocols.md §17, with what a crash leaves after each step.
   *
   * Order       new pages, which no other thread knows; root ... parent, leaf with the gap; space maps.
   *
   * Marks       new leaves are put off, not marked: their writer is active, and the cleaner need not find that out
   *             itself. They are entered before they are unlatched, so before the writer can have ended (R2).
   */
  private static final int CREDIT = 96 * 1024;

  /**
   * The leaves, a map for each, right-most leaf, parent, the former root's new page, and two more
   * maps; and the pages that claiming all of these changes, which fill few extents.
   */
  private static final int PAGES = 2 * LeafRun.MAX_LEAVES + 5 + 3 * Allocator.PAGES_OF_UNIT;

  private static final byte[] MINUS_INFINITY = {};

  private enum Attempt {
    DONE,
    /** The parent has no room for the separators. */
    NO_ROOM,
    /** There are rows behind the first fence, or there is no room for a fence. */
    NOT_FREE
  }

  private final BufferPool pool;
  private final Allocator allocator;
  private final VersionMarks marks;
  private final RecoverySpace space;
  private final BooleanSupplier refuses;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Split split;
  private final Tally splits;
  private final Descent descent = new Descent();
  private final SlottedBuilder moved = new SlottedBuilder();
  private final SlottedBuilder top = new SlottedBuilder();
  private final int[] pages = new int[LeafRun.MAX_LEAVES];
  private final int[] frames = new int[LeafRun.MAX_LEAVES];
  private int claimed;
  private int fixed;

  /**
   * Makes an object with its own mini-transaction.
   *
   * @param refuses whether a missing row may be one that must not be inserted; called with the leaf
   *     latched
   */
  public RunInsert(
      BufferPool pool,
      Journal log,
      Allocator allocator,
      VersionMarks marks,
      RecoverySpace space,
      BooleanSupplier refuses,
      Tally splits) {
    this.pool = pool;
    this.allocator = allocator;
    this.marks = marks;
    this.space = space;
    this.refuses = refuses;
    this.splits = splits;
    this.mini = new MiniTransaction(pool, log);
    this.maps = new MapChanges(pool, allocator.claims());
    this.split = new Split(pool, allocator, marks, mini, maps, splits);
  }

  /**
   * The lower fence for a run that begins with a key, from the present content of its leaf: the
   * shortest fence above all rows, or the key itself if there is none.
   */
  public byte[] fenceFor(Tree tree, byte[] key) {
    int frame = tree.leafShared(key, descent);
    try {
      MemorySegment page = pool.page(frame);
      int count = Slotted.count(page);
      if (count == 0) {
        byte[] lower = Slotted.lowerFence(page);
        return Arrays.compareUnsigned(lower, key) <= 0 ? lower : key.clone();
      }
      byte[] last = Slotted.key(page, count - 1);
      return Arrays.compareUnsigned(last, key) < 0 ? Split.separator(last, key) : key.clone();
    } finally {
      pool.unfixShared(frame);
    }
  }

  /** The lower fence of a run that follows one that ended with this key. */
  public static byte[] fenceBetween(byte[] last, byte[] key) {
    return Split.separator(last, key);
  }

  /**
   * Inserts a run.
   *
   * @param id the transaction that wrote its rows
   * @param firstKey the first key of the run
   * @return whether it was inserted; false if something in the tree is in its way
   */
  public boolean insert(Tree tree, long id, LeafRun run, byte[] firstKey) {
    if (!maybeFree(tree, run, firstKey)) {
      return false;
    }
    while (true) {
      Attempt attempt;
      space.acquire(CREDIT, PAGES);
      try {
        attempt = attempt(tree, id, run, firstKey);
      } finally {
        space.release(CREDIT, PAGES);
      }
      if (attempt != Attempt.NO_ROOM) {
        return attempt == Attempt.DONE;
      }
      makeRoom(tree, firstKey);
    }
  }

  /** A check before pages are claimed. Its result may be out of date a moment later. */
  private boolean maybeFree(Tree tree, LeafRun run, byte[] firstKey) {
    int leaf = tree.leafShared(firstKey, descent);
    try {
      return isFree(pool.page(leaf), run);
    } finally {
      pool.unfixShared(leaf);
    }
  }

  /** Splits each full inner page on the way to the leaf. */
  private void makeRoom(Tree tree, byte[] key) {
    space.acquire(Split.CREDIT, Split.PAGES);
    try {
      pool.unfixExclusive(split.leafWithRoom(tree, key, /* need= */ 0));
    } finally {
      space.release(Split.CREDIT, Split.PAGES);
    }
  }

  private Attempt attempt(Tree tree, long id, LeafRun run, byte[] firstKey) {
    int parent = -1;
    int position = -1;
    int leaf = -1;
    int unused = run.size();
    try {
      fixNewPages(tree, run.size());
      parent = tree.rootExclusive();
      if (Slotted.level(pool.page(parent)) == 0) {
        if (!isFree(pool.page(parent), run)) {
          return Attempt.NOT_FREE;
        }
        leaf = growRoot(tree, parent);
      } else {
        for (int level = Slotted.level(pool.page(parent)); level > 1; level--) {
          MemorySegment page = pool.page(parent);
          int childId = Slotted.child(page, SlottedSearch.childPosition(page, firstKey));
          int child = tree.childExclusive(childId, level - 1);
          pool.unfixExclusive(parent);
          parent = child;
        }
        position = SlottedSearch.childPosition(pool.page(parent), firstKey);
        leaf = tree.childExclusive(Slotted.child(pool.page(parent), position), /* level= */ 0);
        tree.demandCovers(pool.page(leaf), firstKey);
        if (!isFree(pool.page(leaf), run)) {
          return Attempt.NOT_FREE;
        }
        if (Slotted.free(pool.page(parent)) < run.separatorBytes()) {
          return Attempt.NO_ROOM;
        }
      }
      unused = attach(id, run, parent, position, leaf);
      int last = unused < run.size() ? frames[run.size() - 1] : leaf;
      tree.noteIfLast(pool.stayOf(last));
      return Attempt.DONE;
    } finally {
      maps.unlatch();
      if (leaf >= 0) {
        pool.unfixExclusive(leaf);
      }
      if (parent >= 0) {
        pool.unfixExclusive(parent);
      }
      unfixNewPages(tree, unused);
    }
  }

  /**
   * Whether a leaf holds nothing from the run's first fence on, none of the run's rows may be one
   * that must not be inserted, and the whole run belongs there.
   */
  private boolean isFree(MemorySegment leaf, LeafRun run) {
    if (refuses.getAsBoolean()) {
      return false;
    }
    byte[] fence = run.fence(0);
    int count = Slotted.count(leaf);
    boolean isBehind =
        count == 0
            ? Arrays.compareUnsigned(Slotted.lowerFence(leaf), fence) <= 0
            : Slotted.free(leaf) >= fence.length
                && Arrays.compareUnsigned(Slotted.key(leaf, count - 1), fence) < 0;
    return isBehind && (!Slotted.hasUpperFence(leaf) || run.endsBefore(Slotted.upperFence(leaf)));
  }

  /**
   * Publishes the record.
   *
   * @param position the position of the leaf in its parent
   * @return how many of the new pages were not needed; they are the first ones
   */
  private int attach(long id, LeafRun run, int parent, int position, int leaf) {
    MemorySegment leafPage = pool.page(leaf);
    if (Slotted.hasUpperFence(leafPage)) {
      run.end(Slotted.upperFence(leafPage));
    }
    boolean inPlace =
        Slotted.count(leafPage) == 0 && Arrays.equals(Slotted.lowerFence(leafPage), run.fence(0));
    int first = inPlace ? 1 : 0;
    maps.clear();
    mini.begin(id);
    if (inPlace) {
      run.leaf(0).inherit(leafPage);
      format(leaf, pool.pageIdOf(leaf), run.leaf(0));
    } else {
      RecordBuilder record = mini.change(leaf);
      PageOps.keepLeft(record, Slotted.count(leafPage), run.fence(0));
      mini.end();
    }
    for (int i = first; i < run.size(); i++) {
      format(frames[i], pages[i], run.leaf(i));
    }
    if (first < run.size()) {
      RecordBuilder record = mini.change(parent);
      int slot = position + 1;
      for (int i = first; i < run.size(); i++) {
        PageOps.insert(record, slot++, InnerCell.build(run.fence(i), pages[i]));
      }
      mini.end();
    }
    maps.latchAndWrite(mini);
    mini.commit();
    if (inPlace) {
      marks.postponeLong(pool.pageIdOf(leaf));
    }
    for (int i = first; i < run.size(); i++) {
      marks.postponeLong(pages[i]);
    }
    return first;
  }

  private void format(int frame, int page, SlottedBuilder leaf) {
    PageOps.image(mini.format(frame), leaf);
    mini.end();
    maps.set(page, SpaceMapPage.inUse(leaf.flags()));
  }

  /**
   * Moves the root's rows to a new page, which becomes its only child; returns the frame of that
   * page.
   */
  private int growRoot(Tree tree, int root) {
    MemorySegment page = pool.page(root);
    moved.begin(0, tree.table(), MINUS_INFINITY, null);
    moved.inherit(page);
    moved.append(page, 0, Slotted.count(page));
    int flags = moved.flags();
    int child = allocator.claim();
    int frame = -1;
    boolean logged = false;
    try {
      frame = pool.fixNew(child);
      maps.clear();
      maps.set(child, SpaceMapPage.inUse(flags));
      maps.set(tree.root(), SpaceMapPage.ALLOCATED);
      mini.begin(0);
      PageOps.image(mini.format(frame), moved);
      mini.end();
      top.begin(1, tree.table(), MINUS_INFINITY, null);
      top.iam(Slotted.iam(page));
      top.leftmostChild(child);
      PageOps.image(mini.format(root), top);
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      // First the new mark, as when a root splits (R2).
      marks.carry(child, flags);
      marks.clear(tree.root());
    } finally {
      maps.unlatch();
      if (!logged) {
        if (frame >= 0) {
          pool.discard(frame);
        }
        allocator.unclaim(child);
      }
    }
    splits.increment();
    FlightEvents.split(tree.table(), /* level= */ 0, /* isRoot= */ true);
    return frame;
  }

  private void fixNewPages(Tree tree, int count) {
    while (claimed < count) {
      pages[claimed] = allocator.claim(tree.unit());
      claimed++;
    }
    while (fixed < count) {
      frames[fixed] = pool.fixNew(pages[fixed]);
      fixed++;
    }
  }

  /** Releases the new pages; those before {@code unused} are free again. */
  private void unfixNewPages(Tree tree, int unused) {
    while (fixed > 0) {
      fixed--;
      if (fixed >= unused) {
        pool.unfixExclusive(frames[fixed]);
      } else {
        pool.discard(frames[fixed]);
      }
    }
    while (claimed > 0) {
      claimed--;
      if (claimed < unused) {
        allocator.unclaim(tree.unit(), pages[claimed]);
      }
    }
  }
}
