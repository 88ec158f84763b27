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
 * Leads an ascending scan from leaf to leaf, and has the leaves read that come next while the scan
 * is at one.
 *
 * <p>It begins where the scan meets leaves that are not in memory, asks for a few, and for twice as
 * many each time that there was something to read; it ends where all that it asks for is there
 * already. A scan in memory pays nothing for it. One that has an end asks for nothing behind it; of
 * one that has none, nothing is known before its second leaf, so nothing is asked for at its first.
 *
 * <p>One thread at a time. Nothing is latched between two calls.
 */
public final class ReadAhead {
  /*
   * State       window 0: not reading ahead. Else so many leaves are asked for at once; ahead = how many of those the
   *             scan has not come to yet.
   *
   * Transitions 0 -> FIRST_WINDOW     a leaf is not resident, and the scan has an end or it is the second such leaf
   *             w -> 2w, at most max  ahead is down to half a window, and of the next ones some were not resident
   *             w -> 0                all were
   *             w -> w                the pool refused: it is asked again at the next leaf
   *
   * Names       of the leaves to come are read in their parent, and in its right neighbour, under a shared latch, which
   *             is only tried, as are those on the way to it; an inner page that is not resident ends the look. What
   *             was read may be out of date when it is asked for: a page is read in vain then.
   */
  private static final int FIRST_WINDOW = 4;
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
   * Of a scan that begins.
   *
   * @param tree what is scanned
   * @param end key where it ends, exclusive; null for none
   */
  public ReadAhead(BufferPool pool, Tree tree, byte @Nullable [] end) {
    this.pool = pool;
    this.tree = tree;
    this.end = end;
  }

  /**
   * Frame of the leaf whose fences hold a key, latched shared, for the scan: it becomes no warmer.
   *
   * @param key at or after the last one
   * @param descent to be used
   * @return the frame
   */
  public int leafShared(byte[] key, Descent descent) {
    int frame = NONE;
    if (tree.descend(key, descent)) {
      frame = pool.tryFixSharedForScan(descent.leaf(), descent.stamp());
    } else if (window == 0) {
      begin();
    }
    if (window > 0 && ahead <= window / 2 && frame == NONE) {
      ask(key); // before this one is read, so that they are read at the same time
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
    if (end != null || missing > 1) {
      window = FIRST_WINDOW;
      ahead = 0;
    }
  }

  /**
   * Tells that the scan has come to a leaf, where it was not found by {@link #leafShared}.
   *
   * @param key with which it was found
   */
  public void cameTo(byte[] key, int pageId) {
    if (pageId == leafNow) {
      return;
    }
    leafNow = pageId;
    if (window > 0) {
      ahead = Math.max(0, ahead - 1);
      if (ahead <= window / 2) {
        ask(key);
      }
    }
  }

  /** Has the leaves read that are right of the one of a key; without memory for that, none. */
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

  /** Puts down the leaves right of the one of a key, at most a window. */
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

  /** Frame of the inner page above the leaf of a key, latched shared; or NONE if not at once. */
  private int parent(byte[] key) {
    int root = tree.root();
    int frame = tryFix(root);
    if (frame != NONE && tree.root() != root) { // it has moved from there
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
