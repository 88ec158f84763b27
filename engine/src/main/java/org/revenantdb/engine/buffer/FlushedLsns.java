package org.revenantdb.engine.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.checkpoint.RefusedPage;

/**
 * The LSN of each page at its last write. The page in the file cannot be older.
 *
 * <p>So a write that the device lost, or put in another place, is detected when the page is read
 * again, even if the bytes there have a correct checksum and the right page id (rule R6).
 *
 * <p>Threads: any.
 */
final class FlushedLsns {
  /*
   * Entry       0 = not known | n = LSN of the image that was written and forced last
   * Written     by the page writer, after the force of a batch and before its frames stop being
   *             "being written"; during the open, from FLUSHED records, before anything is read
   * Read        by the thread that has read a page into a frame that is "loading". A page is loaded
   *             only after it was evicted, which needs flushing := 0 (volatile) to be seen. So the
   *             entry of its last write is seen, too.
   *
   * Claim       LSN of the page read >= entry. Only the page writer writes pages, an image has the
   *             LSN of its last change, and a page's LSN only rises. A page that is formatted anew
   *             has a higher LSN than ever before (protocols.md §9). After a restart redo applies
   *             nothing at or below a FLUSHED record.
   *
   * Memory      8 bytes a page, in chunks of 8192 pages that are created with the first write to
   *             one of their pages: a thousandth of the part of the file that this life writes to.
   *             A database that is only read needs none.
   * Not known   the writes of former lives, except for those in FLUSHED records from the redo point
   *             on.
   *
   * Refused     pages that were refused to a caller, with the LSN that each has at least if it is
   *             good. Each checkpoint contains them in its image, so that no later life reads them
   *             as sound. There are at most MOST, which bounds the image: beyond that a reader's
   *             page is not noted, and a page that cannot be redone stays pending. Those of a
   *             former life are all taken over.
   */
  private static final int CHUNK_SHIFT = 13;
  private static final int CHUNK_PAGES = 1 << CHUNK_SHIFT;
  private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(long[].class);

  /** The maximum number of refused pages that are remembered. */
  private static final int MOST = 4_096;

  private final ConcurrentHashMap<Integer, Long> refused = new ConcurrentHashMap<>();

  /** Why pages could not be redone in this life: a part of those that are refused. */
  private final ConcurrentHashMap<Integer, String> notRedone = new ConcurrentHashMap<>();

  private final PatientLock growth = new PatientLock();
  private volatile long[] @Nullable [] directory = new long[4][];

  /** The LSN that the page in the file has at least, or 0 if nothing is known. */
  long of(int pageId) {
    long[] @Nullable [] chunks = directory;
    int index = pageId >>> CHUNK_SHIFT;
    long[] chunk = index < chunks.length ? chunks[index] : null;
    return chunk == null ? 0 : (long) ENTRY.getAcquire(chunk, pageId & (CHUNK_PAGES - 1));
  }

  /** Notes that the page was written with that LSN, and forced. */
  void set(int pageId, long lsn) {
    if (!refused.isEmpty()) {
      refused.remove(pageId);
      notRedone.remove(pageId);
    }
    enter(pageId, lsn);
  }

  private void enter(int pageId, long lsn) {
    ENTRY.setRelease(chunk(pageId >>> CHUNK_SHIFT), pageId & (CHUNK_PAGES - 1), lsn);
  }

  /**
   * Notes that a page was refused because the file lacks its last write.
   *
   * @param lsn the LSN that a good page has at least
   * @return whether this is new
   */
  boolean refuse(int pageId, long lsn) {
    boolean isNew = !refused.containsKey(pageId); // one thread at a time has the page latched
    if (!hasRoomFor(pageId)) {
      return false;
    }
    inherit(pageId, lsn);
    return isNew;
  }

  private boolean hasRoomFor(int pageId) {
    return refused.size() < MOST || refused.containsKey(pageId);
  }

  /** Takes a note over from a former life, which had at most the same number of them. */
  void inherit(int pageId, long lsn) {
    refused.merge(pageId, lsn, Math::max);
  }

  /**
   * Notes that a page is older than the LSN and cannot be brought up to it.
   *
   * @param why the first reader was told; later ones are told the same, not what follows from it
   * @return false if there is no room for the note
   */
  boolean refuseBelow(int pageId, long lsn, String why) {
    if (!hasRoomFor(pageId)) {
      return false;
    }
    enter(pageId, Math.max(lsn, of(pageId)));
    inherit(pageId, lsn);
    notRedone.putIfAbsent(pageId, why); // last: only a refused page has one
    return true;
  }

  /** Why a page could not be redone in this life; null for any other page. */
  @Nullable String whyNotRedone(int pageId) {
    return notRedone.get(pageId);
  }

  /** The pages that were refused and not written since. */
  List<RefusedPage> refused() {
    return refused.entrySet().stream()
        .map(page -> new RefusedPage(page.getKey(), page.getValue()))
        .toList();
  }

  /** Drops pages that the file no longer has: where it grows again there are zeros. */
  void forget(int from, int to) {
    refused.keySet().removeIf(page -> page >= from && page < to);
    notRedone.keySet().removeIf(page -> page >= from && page < to);
    for (int page = from; page < to; page++) {
      if (of(page) != 0) {
        set(page, 0);
      }
    }
  }

  private long[] chunk(int index) {
    long[] @Nullable [] chunks = directory;
    long[] chunk = index < chunks.length ? chunks[index] : null;
    return chunk != null ? chunk : grow(index);
  }

  private long[] grow(int index) {
    growth.lock();
    try {
      long[] @Nullable [] old = directory;
      long[] there = index < old.length ? old[index] : null;
      if (there != null) {
        return there;
      }
      // The old and the new directory share the chunks, so an entry made through the old one
      // is not lost.
      long[] @Nullable [] wider =
          Arrays.copyOf(old, Math.max(old.length, Math.max(index + 1, index * 2)));
      long[] made = new long[CHUNK_PAGES];
      wider[index] = made;
      directory = wider;
      return made;
    } finally {
      growth.unlock();
    }
  }
}
