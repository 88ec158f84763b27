package org.revenantdb.engine.buffer;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The highest LSN in each extent of the data file, as far as it is known: so a backup need not read
 * extents that have not changed.
 *
 * <p>Threads: the page writer notes what it has written; one other thread, that of a backup, makes
 * room, reads, and makes numbers known. Nothing is allocated before the first backup.
 */
public final class WrittenExtents {
  /*
   * Protocol    docs/protocols.md §56
   *
   * Word        an LSN, which is a multiple of 8, and in bit 0 whether it is known. It only grows.
   *
   * Invariant   a known word is not below the LSN of any page in the extent that counts as written
   *
   * Ordering    page writer   bytes written and forced | fence | room? then raise | flushing := 0
   *             backup        room | fence | bytes read | known
   *             Without the fences both could miss each other: the writer sees no room, and the backup old bytes.
   */

  /** Pages of an extent. */
  public static final int PAGES = 8;

  /** Extents of a chunk, which are half a gigabyte of the file. */
  private static final int CHUNK = 8_192;

  private static final long KNOWN = 1;

  /** Replaced by the thread of a backup only. */
  private volatile @Nullable AtomicLongArray[] chunks = new AtomicLongArray[0];

  WrittenExtents() {}

  /** Notes that a page was written and forced. On the page writer, before the page counts as so. */
  void wrote(int pageId, long lsn) {
    AtomicLongArray chunk = chunk(pageId / PAGES);
    if (chunk != null) {
      raise(chunk, pageId / PAGES % CHUNK, lsn, /* bits= */ 0);
    }
  }

  /** The next {@link #wrote} see what was written before this. */
  static void beforeNotes() {
    VarHandle.fullFence();
  }

  /**
   * Makes room for all extents of a file. Call it before their pages are read.
   *
   * @param pages number of pages
   */
  public void makeRoom(int pages) {
    int wanted = ((pages + PAGES - 1) / PAGES + CHUNK - 1) / CHUNK;
    @Nullable AtomicLongArray[] present = chunks;
    if (wanted > present.length) {
      @Nullable AtomicLongArray[] more = Arrays.copyOf(present, wanted);
      for (int i = present.length; i < wanted; i++) {
        more[i] = new AtomicLongArray(CHUNK);
      }
      chunks = more;
    }
    VarHandle.fullFence();
  }

  /**
   * Makes the number of an extent known.
   *
   * @param pageId a page of it
   * @param lsn the highest LSN of all its pages, which were read after {@link #makeRoom}
   */
  public void read(int pageId, long lsn) {
    AtomicLongArray chunk = chunk(pageId / PAGES);
    if (chunk != null) {
      raise(chunk, pageId / PAGES % CHUNK, lsn, KNOWN);
    }
  }

  /**
   * Whether no page of an extent that counts as written has a higher LSN.
   *
   * @param pageId a page of it
   * @param lsn the LSN
   * @return false if one has, or if that is not known
   */
  public boolean isAtMost(int pageId, long lsn) {
    AtomicLongArray chunk = chunk(pageId / PAGES);
    if (chunk == null) {
      return false;
    }
    long word = chunk.get(pageId / PAGES % CHUNK);
    return (word & KNOWN) != 0 && word - KNOWN <= lsn;
  }

  private @Nullable AtomicLongArray chunk(int extent) {
    @Nullable AtomicLongArray[] present = chunks;
    int chunk = extent / CHUNK;
    return chunk < present.length ? present[chunk] : null;
  }

  private static void raise(AtomicLongArray chunk, int index, long lsn, long bits) {
    while (true) {
      long word = chunk.get(index);
      long raised = Math.max(word & ~KNOWN, (lsn + KNOWN) & ~KNOWN) | (word & KNOWN) | bits;
      if (raised == word || chunk.compareAndSet(index, word, raised)) {
        return;
      }
    }
  }
}
