package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.latch.HybridLatch;

/**
 * Leads an ascending scan from leaf to leaf. While the scan is at one leaf, it requests reads of
 * the next ones.
 *
 * <p>It begins when the scan meets leaves that are not in memory. It requests a few leaves, and
 * twice as many each time that the scan has come to most of them. It ends when all requested leaves
 * are already in memory. A scan in memory pays nothing for it.
 *
 * <p>A scan with an end requests nothing behind it, so it begins at its first leaf. The length of a
 * scan without an end is unknown. It begins at its fourth leaf, so what it reads is at most about
 * twice what is consumed.
 *
 * <p>One thread at a time. Nothing is latched between two calls.
 */
public final class ReadAhead {
  /*
   * State       window 0: not reading ahead. Else this many leaves are requested next; ahead = how many leaves were
   *             requested that the scan has not reached yet.
   *
   * Transitions 0 -> FIRST_WINDOW     a leaf is not resident, and the scan has an end
   *             0 -> FIRST_OPEN       the scan has no end, and it is the fourth such leaf
   *             w -> 2w, at most max  ahead is less than a quarter of w (half, if w is the most), and of the next ones
   *                                   some were not resident. w is twice what was requested before
   *             w -> 0                all were
   *             w -> w                the pool refused: it is asked again at the next leaf
   *
   * Names       the ids of the next leaves are read from their parent, and from its right neighbour, under a shared
   *             latch. This latch, and those on the way to it, are only tried. An inner page that is not resident
   *             ends the search. The ids may be out of date when the reads are requested: then a page is read for
   *             nothing.
   */
  private static final int FIRST_WINDOW = 4;
  private static final int FIRST_OPEN = 2;

  /** Leaves that a scan without an end has read itself before it requests others. */
  private static final int CONSUMED = 4;

  private static final int NONE = -1;

  private final BufferPool pool;
  private final Tree tree;
  private final byte @Nullable [] end;
  private int[] names = {};
  private int window;
  private int missing;
  private int ahead;
  private int leafNow = NONE;

  /**
   * Makes an object for a scan that begins.
   *
   * @param tree the tree to scan
   * @param end the key where it ends, exclusive; null for none
   */
  public ReadAhead(BufferPool pool, Tree tree, byte @Nullable [] end) {
    this.pool = pool;
    this.tree = tree;
    this.end = end;
  }

  /**
   * The frame of the leaf whose fences contain a key, latched shared, for the scan: the leaf does
   * not become warmer.
   *
   * @param key at or after the last one
   * @param descent the descent to use
   * @return the frame
   */
  public int leafShared(byte[] key, Descent descent) {
    int frame = NONE;
    if (tree.descend(key, descent)) {
      frame = pool.tryFixSharedForScan(descent.leaf(), descent.stamp());
    } else if (window == 0) {
      begin();
    }
    if (isDue() && frame == NONE) {
      ask(key); // before this leaf is read, so that they are read at the same time
    }
    if (frame == NONE) {
      frame = tree.leafForScan(key);
    }
    try {
      cameTo(key, pool.pageIdOf(frame));
    } catch (Throwable failure) {
      pool.unfixShared(frame);
      throw failure;
    }
    return frame;
  }

  private void begin() {
    missing++;
    if (end != null || missing >= CONSUMED) {
      window = end != null ? FIRST_WINDOW : FIRST_OPEN;
      ahead = 0;
    }
  }

  private boolean isDue() {
    int least = window == names.length ? window / 2 : Math.max(0, window / 4 - 1);
    return window > 0 && ahead <= least;
  }

  /**
   * Called when the scan has reached a leaf that was not found by {@link #leafShared}.
   *
   * @param key the key with which it was found
   */
  public void cameTo(byte[] key, int pageId) {
    if (pageId == leafNow) {
      return;
    }
    leafNow = pageId;
    if (window > 0) {
      ahead = Math.max(0, ahead - 1);
      if (isDue()) {
        ask(key);
      }
    }
  }

  /**
   * Requests reads of the leaves to the right of the leaf of a key; without memory for that, none.
   */
  private void ask(byte[] key) {
    try {
      askFor(key);
    } catch (OutOfMemoryError e) {
      window = 0; // the scan reads them itself
    }
  }

  private void askFor(byte[] key) {
    if (names.length == 0) {
      names = new int[pool.maxAhead()];
    }
    int n = nameLeaves(key);
    int begun = 0;
    for (int i = 0; i < n; i++) {
      BufferPool.Ahead became = pool.prefetch(names[i]);
      if (became == BufferPool.Ahead.REFUSED) {
        ahead = i;
        return;
      }
      begun += became == BufferPool.Ahead.BEGUN ? 1 : 0;
    }
    ahead = n;
    window = begun > 0 ? Math.min(window * 2, names.length) : 0;
    missing = 0;
  }

  /** Collects the ids of the leaves to the right of the leaf of a key, at most a window. */
  private int nameLeaves(byte[] key) {
    int n = 0;
    int frame = parent(key);
    if (frame == NONE) {
      return 0;
    }
    byte[] fence;
    try {
      MemorySegment page = pool.page(frame);
      n = putDown(page, SlottedSearch.childPosition(page, key) + 1, 0);
      if (n == window || !Slotted.hasUpperFence(page) || isBelowFence(page, end)) {
        return n;
      }
      fence = Slotted.upperFence(page);
    } finally {
      pool.unfixShared(frame);
    }
    frame = parent(fence);
    if (frame != NONE) {
      try {
        MemorySegment page = pool.page(frame);
        n = putDown(page, SlottedSearch.childPosition(page, fence), n);
      } finally {
        pool.unfixShared(frame);
      }
    }
    return n;
  }

  private int putDown(MemorySegment parent, int from, int already) {
    int n = already;
    int to = Slotted.count(parent);
    if (end != null && isBelowFence(parent, end)) {
      to = SlottedSearch.childPosition(parent, end) + 1;
    }
    for (int i = from; i < to && n < window; i++) {
      names[n++] = Slotted.child(parent, i);
    }
    return n;
  }

  private static boolean isBelowFence(MemorySegment page, byte @Nullable [] key) {
    return key != null
        && (!Slotted.hasUpperFence(page)
            || Arrays.compareUnsigned(key, Slotted.upperFence(page)) < 0);
  }

  /**
   * The frame of the inner page above the leaf of a key, latched shared; NONE if that would need a
   * wait.
   */
  private int parent(byte[] key) {
    int root = tree.root();
    int frame = tryFix(root);
    if (frame != NONE && tree.root() != root) { // the root has moved
      pool.unfixShared(frame);
      return NONE;
    }
    for (int levels = 0; frame != NONE && levels < BufferPool.MAX_LEVELS; levels++) {
      MemorySegment page = pool.page(frame);
      int level = Slotted.level(page);
      boolean ofTree = Slotted.kind(page) == Slotted.kindOf(tree.table(), level);
      if (level == 1 && ofTree) {
        return frame;
      }
      int next =
          level == 0 || !ofTree
              ? NONE
              : tryFix(Slotted.child(page, SlottedSearch.childPosition(page, key)));
      pool.unfixShared(frame);
      frame = next;
    }
    if (frame != NONE) {
      pool.unfixShared(frame);
    }
    return NONE;
  }

  private int tryFix(int pageId) {
    Stay stay = pool.resident(pageId);
    if (stay == null) {
      return NONE;
    }
    long stamp = stay.readOptimistic();
    return stamp == HybridLatch.INVALID_STAMP ? NONE : pool.tryFixSharedForScan(stay, stamp);
  }
}
