package org.revenantdb.engine.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which frame holds a page: an array from page id to frame, in chunks that are made when a page of
 * theirs is first needed.
 *
 * <p>It is the only thing of the pool that grows with the database: 4 bytes a page. What it says is
 * a hint; the frame itself tells, under its latch, which page it holds.
 *
 * <p>Threads: any. Changing an entry is the right of who holds the frame's latch exclusively.
 */
final class Translation {
  /*
   * Entry       0 = not in the pool | n = in frame n - 1
   * Transitions 0 -> n   compare-and-set, by the one who brings the page: only one wins
   *             n -> 0   volatile store, by who holds frame n - 1 exclusively
   *
   * Ordering    the compare-and-set releases what the winner wrote about the frame (its block, latch, page
   *             id); the acquiring read of an entry sees it.
   * Growth      the directory is copied under the lock; chunks are shared by the old and the new one, so a
   *             reader with the old directory still reads and writes the same entries.
   */
  static final int NOT_RESIDENT = -1;

  private static final int CHUNK_SHIFT = 13;
  private static final int CHUNK_PAGES = 1 << CHUNK_SHIFT;
  private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(int[].class);

  private final ReentrantLock growth = new ReentrantLock();
  private volatile int[] @Nullable [] directory = new int[4][];

  /** The frame in which a page probably is, or {@link #NOT_RESIDENT}. */
  int frameOf(int pageId) {
    int[] chunk = chunkOf(pageId);
    return chunk == null ? NOT_RESIDENT : entryAcquire(chunk, pageId) - 1;
  }

  /** Makes room for a page's entry, so that nothing can fail later. */
  void prepare(int pageId) {
    if (chunkOf(pageId) == null) {
      grow(pageId >>> CHUNK_SHIFT);
    }
  }

  /** Enters a page that is not in the pool; false if it is there by now. */
  boolean install(int pageId, int frame) {
    return ENTRY.compareAndSet(existing(pageId), pageId & (CHUNK_PAGES - 1), 0, frame + 1);
  }

  /** Takes a page out. */
  void remove(int pageId) {
    ENTRY.setVolatile(existing(pageId), pageId & (CHUNK_PAGES - 1), 0);
  }

  private static int entryAcquire(int[] chunk, int pageId) {
    return (int) ENTRY.getAcquire(chunk, pageId & (CHUNK_PAGES - 1));
  }

  private int @Nullable [] chunkOf(int pageId) {
    int[] @Nullable [] chunks = directory;
    int index = pageId >>> CHUNK_SHIFT;
    return index < chunks.length ? chunks[index] : null;
  }

  private int[] existing(int pageId) {
    int[] chunk = chunkOf(pageId);
    if (chunk == null) {
      throw new IllegalStateException("page " + pageId + " was never prepared");
    }
    return chunk;
  }

  private void grow(int index) {
    growth.lock();
    try {
      int[] @Nullable [] old = directory;
      if (index < old.length && old[index] != null) {
        return;
      }
      int[] @Nullable [] wider =
          Arrays.copyOf(old, Math.max(old.length, Math.max(index + 1, index * 2)));
      wider[index] = new int[CHUNK_PAGES];
      directory = wider;
    } finally {
      growth.unlock();
    }
  }
}
