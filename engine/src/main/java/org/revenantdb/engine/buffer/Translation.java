package org.revenantdb.engine.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * Maps a page id to its {@link Stay} and to its frame's number: arrays in chunks that are created
 * with the first use of one of their pages.
 *
 * <p>It is the only part of the pool that grows with the database: 8 bytes a page (12 if the heap
 * is so large that references take 8). An entry is a hint: the stay may have ended when its latch
 * is acquired.
 *
 * <p>The frame's number is in the stay, too. It is here so that a reader can load the page's bytes
 * without waiting for the stay's: two cache misses at a time instead of one after the other.
 *
 * <p>Threads: any. Only the holder of the stay's exclusive latch may change an entry.
 */
final class Translation {
  /*
   * Entry       null = not in the pool | the page's stay
   * Transitions null -> stay   compare-and-set, by the thread that brings the page: only one
   *                            succeeds
   *             stay -> null   volatile store, by the holder of the exclusive latch
   * Frame       of the last stay that was entered; stored before the stay, also by a thread that
   *             then fails to enter. So a user compares it with the stay's.
   *
   * Ordering    the compare-and-set releases what the winner wrote about the stay; the acquiring read of an entry
   *             sees it. (jcstress: TranslationPublishStress)
   * Growth      the directory is copied under the lock; chunks are shared by the old and the new one, so a
   *             reader with the old directory still reads and writes the same entries.
   */
  private static final int CHUNK_SHIFT = 13;
  private static final int CHUNK_PAGES = 1 << CHUNK_SHIFT;
  private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(Stay[].class);

  private static final VarHandle FRAME = MethodHandles.arrayElementVarHandle(int[].class);

  private static final class Chunk {
    final @Nullable Stay[] stays = new Stay[CHUNK_PAGES];
    final int[] frames = new int[CHUNK_PAGES];
  }

  private final PatientLock growth = new PatientLock();
  private volatile @Nullable Chunk[] directory = new Chunk[4];

  /** The stay that a page probably has, or null. */
  @Nullable Stay stayOf(int pageId) {
    Chunk chunk = chunkOf(pageId);
    return chunk == null ? null : (Stay) ENTRY.getAcquire(chunk.stays, index(pageId));
  }

  /** The frame in which a page probably is, if it is in one; otherwise the number of any frame. */
  int frameOf(int pageId) {
    Chunk chunk = chunkOf(pageId);
    return chunk == null ? 0 : (int) FRAME.getOpaque(chunk.frames, index(pageId));
  }

  /** Prepares a page's entry, so that nothing can fail later. */
  void prepare(int pageId) {
    if (chunkOf(pageId) == null) {
      grow(pageId >>> CHUNK_SHIFT);
    }
  }

  /** Enters a page that is not in the pool; false if it is by now. */
  boolean install(Stay stay) {
    int pageId = stay.pageId();
    Chunk chunk = existing(pageId);
    if (ENTRY.getAcquire(chunk.stays, index(pageId)) != null) {
      return false;
    }
    FRAME.setOpaque(chunk.frames, index(pageId), stay.frame());
    return ENTRY.compareAndSet(chunk.stays, index(pageId), (Stay) null, stay);
  }

  /** Removes a page. */
  void remove(int pageId) {
    ENTRY.setVolatile(existing(pageId).stays, index(pageId), (Stay) null);
  }

  private static int index(int pageId) {
    return pageId & (CHUNK_PAGES - 1);
  }

  private @Nullable Chunk chunkOf(int pageId) {
    @Nullable Chunk[] chunks = directory;
    int index = pageId >>> CHUNK_SHIFT;
    return index < chunks.length ? chunks[index] : null;
  }

  private Chunk existing(int pageId) {
    Chunk chunk = chunkOf(pageId);
    if (chunk == null) {
      throw new IllegalStateException("page " + pageId + " was never prepared");
    }
    return chunk;
  }

  private void grow(int index) {
    growth.lock();
    try {
      @Nullable Chunk[] old = directory;
      if (index < old.length && old[index] != null) {
        return;
      }
      @Nullable Chunk[] wider =
          Arrays.copyOf(old, Math.max(old.length, Math.max(index + 1, index * 2)));
      wider[index] = new Chunk();
      directory = wider;
    } finally {
      growth.unlock();
    }
  }
}
