package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
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
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Makes room for a row: finds the leaf of a key with exclusive latches and splits, from the root
 * down, every page on the way that is too full.
 *
 * <p>Each split is one record of the system: the right half formatted in full (R13), the left cut
 * off, the separator in the parent, the space map. All these pages stay latched until it is
 * applied. If rows with versions move to the new page, it gets the version bit and is added to the
 * running pass of the cleaner (R2). For one thread at a time.
 */
public final class Split {
  /** Credit for log space that {@link #leafWithRoom} may use. */
  public static final int CREDIT = 160 * 1024;

  /**
   * Credit for pages: at each of twenty levels the page, the new one and its space map; at the root
   * three more; and the pages that two claims change.
   */
  public static final int PAGES = 63 + 2 * Allocator.PAGES_OF_UNIT;

  /**
   * Credit for log space that {@link #tryHere} may use: a full page, and smaller parts of two more.
   */
  public static final int CREDIT_HERE = 24 * 1024;

  /**
   * Credit for pages: the page above, the new one and its space map, and the pages that a claim
   * changes.
   */
  public static final int PAGES_HERE = 3 + Allocator.PAGES_AT_ONCE;

  private final BufferPool pool;
  private final Allocator allocator;
  private final VersionMarks marks;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Tally splits;
  private final SlottedBuilder left = new SlottedBuilder();
  private final SlottedBuilder right = new SlottedBuilder();
  private final Descent path = new Descent();

  /** Pages for the next split; none between two calls. */
  private final int[] claims = new int[2];

  private int claimed;
  private boolean rootIsFull;

  /** What the row needs in its leaf, and what it needs more at the right edge. */
  private int needInLeaf;

  private int reserveAtEdge;

  /** Makes an object that shares its transaction's mini-transaction. */
  public Split(
      BufferPool pool,
      Allocator allocator,
      VersionMarks marks,
      MiniTransaction mini,
      MapChanges maps,
      Tally splits) {
    this.pool = pool;
    this.allocator = allocator;
    this.marks = marks;
    this.mini = mini;
    this.maps = maps;
    this.splits = splits;
  }

  /**
   * The frame of the key's leaf, latched exclusively, with room.
   *
   * @param need bytes for a cell and its slot, in addition to the present content of the leaf
   */
  public int leafWithRoom(Tree tree, byte[] key, int need) {
    return leafWithRoom(tree, key, need, /* reserve= */ 0);
  }

  /**
   * As {@link #leafWithRoom(Tree, byte[], int)}.
   *
   * @param reserve further bytes, if the row is appended at the right edge. It is decided for the
   *     leaf that is found: the one that was full may have been split meanwhile
   */
  public int leafWithRoom(Tree tree, byte[] key, int need, int reserve) {
    return leafWithRoom(tree, key, need, reserve, /* fromRoot= */ false);
  }

  /**
   * As {@link #leafWithRoom(Tree, byte[], int, int)}, but starts from the root: for rows that are
   * appended. Then all sessions need the same leaf. Sessions that queue at the root are out of the
   * way of the few that append, for which the new leaf is free. Measured: up to twice as many rows.
   */
  public int leafWithRoomFromRoot(Tree tree, byte[] key, int need, int reserve) {
    return leafWithRoom(tree, key, need, reserve, /* fromRoot= */ true);
  }

  private int leafWithRoom(Tree tree, byte[] key, int need, int reserve, boolean fromRoot) {
    needInLeaf = need;
    reserveAtEdge = reserve;
    try {
      while (true) {
        claimBeforehand(tree, rootIsFull ? claims.length : 1); // a root takes two
        rootIsFull = false;
        int leaf = fromRoot ? -1 : belowParent(tree, key);
        if (leaf < 0 && claimed > 0) { // else it was split, and its half has not enough room yet
          leaf = fromRoot(tree, key);
        }
        if (leaf >= 0) {
          return leaf;
        }
      }
    } finally {
      releaseClaims(tree);
    }
  }

  /**
   * Lets the thread that holds a full leaf split it at once, if that needs no wait for a latch or
   * for the file to grow. So no thread queues at the page above for it.
   *
   * @param leaf frame of the key's leaf, latched exclusively
   * @param descent used for a descent; {@link Tree#awaitWriter} may be called with it if nothing
   *     was done
   * @return frame of the half that holds the key, with or without room, latched instead of the
   *     leaf; -1 if nothing was done and the leaf is still latched
   */
  public int tryHere(Tree tree, int leaf, byte[] key, Descent descent) {
    int parent = tree.tryParentExclusive(pool.stayOf(leaf), key, descent);
    if (parent < 0) {
      return -1;
    }
    int right;
    try {
      int page = hasRoomForChild(parent) ? claimHere(tree, parent) : -1;
      if (page < 0) {
        return -1;
      }
      claims[claimed++] = page;
      right = splitChild(tree, parent, leaf, key);
    } finally {
      pool.unfixExclusive(parent);
      releaseClaims(tree);
    }
    return halfOf(key, leaf, right);
  }

  /**
   * Returns the half of a page that holds the key, and unlatches the other one. Unlatching may run
   * requests for that page (R22), so nothing above them should be latched any more.
   */
  private int halfOf(byte[] key, int left, int right) {
    boolean goesRight = SlottedSearch.covers(pool.page(right), key);
    pool.unfixExclusive(goesRight ? left : right);
    return goesRight ? right : left;
  }

  /** Claims pages while nothing is latched: the file may have to grow for them. */
  private void claimBeforehand(Tree tree, int count) {
    while (claimed < count) {
      claims[claimed] = allocator.claim(tree.unit());
      claimed++;
    }
  }

  private void releaseClaims(Tree tree) {
    while (claimed > 0) {
      claimed--;
      allocator.unclaim(tree.unit(), claims[claimed]);
    }
  }

  /**
   * Claims a page while the page above the leaves is latched; -1 if the tree's extents have to be
   * looked up first.
   */
  private int claimHere(Tree tree, int parent) {
    boolean isSmall =
        pool.pageIdOf(parent) == tree.root() && Slotted.count(pool.page(parent)) + 1 < Unit.LARGE;
    return isSmall || tree.unit().isLarge() ? allocator.claimAtOnce(tree.unit()) : -1;
  }

  /**
   * The usual case: only the leaf is full.
   *
   * @return the leaf; -1 if it has to be searched again, from the root
   */
  private int belowParent(Tree tree, byte[] key) {
    int parent = tree.parentExclusive(key, path);
    if (parent < 0) {
      return -1;
    }
    int leaf = -1;
    int right = -1;
    boolean done = false;
    try {
      if (hasRoomForChild(parent)) {
        MemorySegment page = pool.page(parent);
        leaf = tree.childExclusive(Slotted.child(page, SlottedSearch.childPosition(page, key)), 0);
        if (!hasRoom(leaf, key)) {
          right = splitChild(tree, parent, leaf, key);
        }
      }
      done = true;
    } finally {
      pool.unfixExclusive(parent);
      if (!done && leaf >= 0) {
        pool.unfixExclusive(leaf);
      }
    }
    if (right >= 0) {
      leaf = halfOf(key, leaf, right);
    }
    if (leaf >= 0 && !hasRoom(leaf, key)) {
      pool.unfixExclusive(leaf);
      leaf = -1;
    }
    return leaf;
  }

  /**
   * As {@link #belowParent}, with exclusive latches from the root down; each is held until the
   * child's is acquired.
   */
  private int fromRoot(Tree tree, byte[] key) {
    int parent = tree.rootExclusive();
    int child = -1;
    try {
      if (!hasRoom(parent, key)) {
        rootIsFull = claimed < claims.length; // then again, with that many
        if (!rootIsFull) {
          splitRoot(tree, parent, key);
        }
        return -1;
      }
      for (int level = Slotted.level(pool.page(parent)); level > 0; level--) {
        MemorySegment page = pool.page(parent);
        int id = Slotted.child(page, SlottedSearch.childPosition(page, key));
        child = tree.childExclusive(id, level - 1);
        if (!hasRoom(child, key)) {
          int right = splitChild(tree, parent, child, key);
          if (level > 1) {
            pool.unfixExclusive(right);
            return -1;
          }
          pool.unfixExclusive(parent);
          parent = -1;
          int left = child;
          child = -1;
          int half = halfOf(key, left, right);
          if (hasRoom(half, key)) {
            return half;
          }
          pool.unfixExclusive(half);
          return -1;
        }
        pool.unfixExclusive(parent);
        parent = child;
        child = -1;
      }
      int leaf = parent;
      parent = -1;
      return leaf;
    } finally {
      if (child >= 0) {
        pool.unfixExclusive(child);
      }
      if (parent >= 0) {
        pool.unfixExclusive(parent);
      }
    }
  }

  /** Whether a page need not be split: there is room for the row, or for one more child. */
  private boolean hasRoom(int frame, byte[] key) {
    MemorySegment page = pool.page(frame);
    if (Slotted.level(page) > 0) {
      return hasRoomForChild(frame);
    }
    int free = Slotted.free(page) - needInLeaf;
    return free >= reserveAtEdge || (free >= 0 && !isAppended(page, key));
  }

  private boolean hasRoomForChild(int frame) {
    return Slotted.free(pool.page(frame)) >= Tree.INNER_ROOM;
  }

  /** Whether a key comes behind all others of the right-most page of its level. */
  private static boolean isAppended(MemorySegment page, byte[] key) {
    return !Slotted.hasUpperFence(page)
        && -SlottedSearch.search(page, key) - 1 == Slotted.count(page);
  }

  /**
   * The place where a page is cut. The slots from {@code slot} on (leaf), or after it (inner), go
   * to the right.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Cut(int slot, byte[] separator) {}

  private static Cut cut(MemorySegment page, byte[] key) {
    int count = Slotted.count(page);
    boolean atRightEdge = isAppended(page, key);
    if (Slotted.level(page) > 0) {
      // The middle separator moves up. At the right edge the left page stays nearly full.
      int slot = atRightEdge ? count - 2 : middle(page, count);
      return new Cut(slot, Slotted.key(page, slot));
    }
    if (atRightEdge) {
      byte[] separator = separator(Slotted.key(page, count - 1), key);
      if (Slotted.free(page) >= separator.length) {
        return new Cut(count, separator);
      }
    }
    int slot = middle(page, count);
    return new Cut(slot, separator(Slotted.key(page, slot - 1), Slotted.key(page, slot)));
  }

  /** The slot, neither the first nor the last, that divides the bytes of the cells most evenly. */
  private static int middle(MemorySegment page, int count) {
    int total = 0;
    for (int slot = 0; slot < count; slot++) {
      total += Slotted.length(page, slot);
    }
    int sum = 0;
    int best = 1;
    int bestDistance = Integer.MAX_VALUE;
    for (int slot = 1; slot < count; slot++) {
      sum += Slotted.length(page, slot - 1);
      int distance = Math.abs(total - 2 * sum);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = slot;
      }
    }
    return Slotted.level(page) > 0 ? Math.min(best, count - 2) : best;
  }

  /** The shortest key above {@code low} and not above {@code high}. */
  static byte[] separator(byte[] low, byte[] high) {
    int common = Arrays.mismatch(low, high);
    return Arrays.copyOf(high, common + 1);
  }

  /**
   * Splits a child. Returns the frame of the right half, latched; the left half is still latched.
   */
  private int splitChild(Tree tree, int parent, int child, byte[] key) {
    MemorySegment page = pool.page(child);
    Cut cut = cut(page, key);
    int level = Slotted.level(page);
    int newPage = claims[claimed - 1];
    int newFrame = -1;
    boolean logged = false;
    try {
      newFrame = pool.fixNew(newPage);
      buildRight(tree, page, cut);
      int flags = right.flags();
      maps.clear();
      maps.set(newPage, SpaceMapPage.inUse(flags));
      mini.begin(0);
      format(newFrame, right);
      RecordBuilder record = mini.change(child);
      PageOps.keepLeft(record, cut.slot(), cut.separator());
      mini.end();
      record = mini.change(parent);
      int slot = -SlottedSearch.search(pool.page(parent), cut.separator()) - 1;
      PageOps.insert(record, slot, InnerCell.build(cut.separator(), newPage));
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      claimed--;
      if (level == 0) {
        marks.carry(newPage, flags);
        tree.noteIfLast(pool.stayOf(newFrame));
      }
    } finally {
      maps.unlatch();
      if (!logged && newFrame >= 0) {
        pool.discard(newFrame);
      }
    }
    splits.increment();
    FlightEvents.split(tree.table(), level, /* isRoot= */ false);
    return newFrame;
  }

  private void buildRight(Tree tree, MemorySegment page, Cut cut) {
    int level = Slotted.level(page);
    int count = Slotted.count(page);
    right.begin(
        level,
        tree.table(),
        cut.separator(),
        Slotted.hasUpperFence(page) ? Slotted.upperFence(page) : null);
    right.inherit(page, cut.slot(), count);
    if (level > 0) {
      right.leftmostChild(Slotted.child(page, cut.slot()));
      right.append(page, cut.slot() + 1, count);
    } else {
      right.append(page, cut.slot(), count);
    }
  }

  private void format(int frame, SlottedBuilder source) {
    RecordBuilder record = mini.format(frame);
    PageOps.image(record, source);
    mini.end();
  }

  /** The root stays where it is and becomes the parent of two new pages. */
  private void splitRoot(Tree tree, int root, byte[] key) {
    MemorySegment page = pool.page(root);
    Cut cut = cut(page, key);
    int level = Slotted.level(page);
    int[] pages = claims;
    int[] frames = {-1, -1};
    boolean logged = false;
    try {
      for (int i = 0; i < 2; i++) {
        frames[i] = pool.fixNew(pages[i]);
      }
      buildRight(tree, page, cut);
      left.begin(level, tree.table(), Slotted.lowerFence(page), cut.separator());
      left.inherit(page, 0, cut.slot());
      if (level > 0) {
        left.leftmostChild(Slotted.child(page, -1));
      }
      left.append(page, 0, cut.slot());
      int leftFlags = left.flags();
      int rightFlags = right.flags();
      mini.begin(0);
      format(frames[0], left);
      format(frames[1], right);
      left.begin(level + 1, tree.table(), new byte[0], null);
      left.iam(Slotted.iam(page));
      left.leftmostChild(pages[0]);
      left.append(InnerCell.build(cut.separator(), pages[1]));
      format(root, left);
      maps.clear();
      maps.set(pages[0], SpaceMapPage.inUse(leftFlags));
      maps.set(pages[1], SpaceMapPage.inUse(rightFlags));
      maps.set(tree.root(), SpaceMapPage.ALLOCATED);
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      claimed = 0;
      if (level == 0) {
        // First the new marks:
        // between the two the cleaner could find no page left and say FORGET (R2).
        marks.carry(pages[0], leftFlags);
        marks.carry(pages[1], rightFlags);
        marks.clear(tree.root());
        tree.noteIfLast(pool.stayOf(frames[1]));
      }
    } finally {
      maps.unlatch();
      for (int i = 0; i < 2; i++) {
        if (logged) {
          pool.unfixExclusive(frames[i]);
        } else if (frames[i] >= 0) {
          pool.discard(frames[i]);
        }
      }
    }
    splits.increment();
    FlightEvents.split(tree.table(), level, /* isRoot= */ true);
  }
}
