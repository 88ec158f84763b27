package org.revenantdb.engine.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * Which stay a page has in a frame: arrays from page id to {@link Stay} and to the frame's number,
 * in chunks that are made when a page of theirs is first needed.
 *
 * <p>It is the only thing of the pool that grows with the database: 8 bytes a page (12 where the
 * heap is so large that references take 8). What it says is a hint: the stay may be over when its
 * latch is had.
 *
 * <p>The frame's number is in the stay, too. It is here so that a reader can ask for the page's
 * bytes without waiting for the stay's: two cache misses at a time instead of one after the other.
 *
 * <p>Threads: any. Changing an entry is the right of who holds the stay's latch exclusively.
 */
final class Translation {
  /*
   * Entry       null = not in the pool | the page's stay
   * Transitions null -> stay   compare-and-set, by the one who brings the page: only one wins
   *             stay -> null   volatile store, by who holds the stay exclusively
   * Frame       of the last stay that was entered; stored before the stay is, and by a loser of the race to enter,
   *             too: who uses it compares it with the stay's
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

  /** The frame in which a page probably is, if it is in one; else any number, but a frame's. */
  int frameOf(int pageId) {
    Chunk chunk = chunkOf(pageId);
    return chunk == null ? 0 : (int) FRAME.getOpaque(chunk.frames, index(pageId));
  }

  /** Makes room for a page's entry, so that nothing can fail later. */
  void prepare(int pageId) {
    if (chunkOf(pageId) == null) {
      grow(pageId >>> CHUNK_SHIFT);
    }
  }

  /** Enters a page that is not in the pool; false if it is there by now. */
  boolean install(Stay stay) {
    int pageId = stay.pageId();
    Chunk chunk = existing(pageId);
    if (ENTRY.getAcquire(chunk.stays, index(pageId)) != null) {
      return false;
    }
    FRAME.setOpaque(chunk.frames, index(pageId), stay.frame());
    return ENTRY.compareAndSet(chunk.stays, index(pageId), (Stay) null, stay);
  }

  /** Takes a page out. */
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
