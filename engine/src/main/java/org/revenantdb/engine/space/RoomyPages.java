package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.FileException;

/**
 * Finds pages with room for another value, by the fullness in the space maps.
 *
 * <p>Thread-safe. The caller may hold latches of tree pages, and no others.
 *
 * <p>Source: "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free Algorithms" (VLDB
 * 2020), 2.1.1 and Figure 1.
 */
public final class RoomyPages {
  /*
   * Protocol    docs/protocols.md §26.
   *
   * Open        each stripe of threads continues with the page that it used last, so threads that write values at the
   *             same time do not all need the same page. A page that a search has found is hidden from searches until
   *             its stripe leaves it, or a hint is lowered for another reason.
   *
   * Hints       one for each fullness f that is worth a search: no page of at most this fullness is below it, except
   *             open ones. A wrong hint only costs room or searches: a thread that reaches a page reads its byte
   *             again.
   */
  /**
   * The number of stripes. If more threads than that write at once, some wait for each other at a
   * page.
   */
  private static final int STRIPES = 16;

  /** Array elements from one stripe to the next, so that they do not share a cache line. */
  private static final int APART = 16;

  /** The number of maps that are searched before a new page is taken. */
  private static final int MAPS = 16;

  /**
   * The number of pages that may turn out to be too full, after they were latched, before a new one
   * is taken.
   */
  private static final int TRIES = 4;

  private final BufferPool pool;
  private final Journal log;
  private final Allocator allocator;
  private final AtomicIntegerArray open = new AtomicIntegerArray(STRIPES * APART);

  /** By fullness, from 1 on. */
  private final Hint[] hints = {new Hint(), new Hint(), new Hint(), new Hint()};

  /** The limit that {@link #keepBelow} has set for values. */
  private volatile int limit = Integer.MAX_VALUE;

  /** Finds pages of an open data file. */
  public RoomyPages(BufferPool pool, Journal log, Allocator allocator) {
    this.pool = pool;
    this.log = log;
    this.allocator = allocator;
  }

  private static int stripe() {
    return (int) (Thread.currentThread().threadId() % STRIPES) * APART;
  }

  /**
   * Latches exclusively a page that has room for a value of this many bytes.
   *
   * @return its frame; -1 if none was found soon
   */
  public int fix(int bytes) {
    int stripe = stripe();
    int last = open.get(stripe);
    if (last != 0 && last < limit) {
      int frame = fixIfRoom(last, bytes);
      if (frame >= 0) {
        return frame;
      }
    }
    int frame = find(bytes, limit);
    if (frame >= 0) {
      goOnWith(stripe, pool.pageIdOf(frame));
    }
    return frame;
  }

  /**
   * From now on no values are put on pages from this one on, except on new pages. This is not
   * strict, because a thread that has already found such a page continues with it.
   */
  public void keepBelow(int page) {
    limit = page;
  }

  /**
   * As {@link #fix}, below a page; no stripe continues with the page.
   *
   * @param first page that is tried first, 0 for none
   */
  public int fixBelow(int bytes, int end, int first) {
    int frame = first != 0 && first < end ? fixIfRoom(first, bytes) : -1;
    return frame >= 0 ? frame : find(bytes, end);
  }

  private int find(int bytes, int end) {
    int fullness = SharedValues.fullnessFor(bytes);
    for (int tries = 0; fullness > 0 && tries < TRIES; tries++) {
      int page = search(fullness, end);
      if (page < 0) {
        return -1;
      }
      int frame = fixIfRoom(page, bytes);
      if (frame >= 0) {
        return frame;
      }
    }
    return -1;
  }

  /** Called after a page was made with a value of this many bytes on it. */
  public void made(int page, int bytes) {
    if (SharedValues.fullnessFor(bytes) > 0) {
      goOnWith(stripe(), page);
    } else {
      hasRoom(page, SharedValues.fullnessAlone(bytes));
    }
  }

  /** Called when the byte of a page has this fullness, and no stripe continues with the page. */
  public void hasRoom(int page, int fullness) {
    for (int f = Math.max(1, fullness); f < hints.length; f++) {
      hints[f].lower(page);
    }
  }

  private void goOnWith(int stripe, int page) {
    int left = open.getAndSet(stripe, page);
    if (left != 0 && left != page) {
      hasRoom(left, 1); // it may have: another thread of this stripe was quicker
    }
  }

  private int search(int fullness, int before) {
    int fences = allocator.fences();
    try {
      int end = Math.min(before, allocator.pages());
      Hint hint = hints[fullness];
      long seen = hint.seen();
      int from = Hint.place(seen);
      for (int looks = 0; looks < MAPS && from < end; looks++) {
        int first = from - from % SpaceMapPage.GROUP;
        int page;
        int frame = pool.fixShared(first + SpaceMapPage.POSITION);
        try {
          page = FreeBytes.withRoom(pool.page(frame), first, fullness, from, end);
        } finally {
          pool.unfixShared(frame);
        }
        if (page >= 0) {
          hint.raise(seen, page + 1);
          return page;
        }
        from = first + SpaceMapPage.GROUP;
      }
      hint.raise(seen, Math.min(from, end));
      return -1;
    } catch (FileException behindTheEnd) {
      return allocator.noneIfCut(fences, behindTheEnd);
    }
  }

  /** Latches a page, if it is still a shared-values page and has room. */
  private int fixIfRoom(int page, int bytes) {
    if (pool.isOfOtherType(page, Page.SHARED_VALUES, Page.SHARED_VALUES)) {
      leave(page, 0); // perhaps one that the caller has latched, and the map is wrong
      return -1;
    }
    int frame;
    try {
      frame = pool.fixExclusive(page);
    } catch (FileException unreadable) {
      if (log.failure() != null) {
        throw unreadable;
      }
      leave(
          page,
          0); // damaged, or freed and cut off: a thread that needs its content receives the error
      return -1;
    }
    boolean roomy = false;
    try {
      MemorySegment there = pool.page(frame);
      // Checks the type first: a map that claims room on itself would be latched twice.
      boolean isShared =
          Page.type(there) == Page.SHARED_VALUES && isShared(page) && !SharedValues.hasMoved(there);
      roomy = isShared && SharedValues.hasRoom(there, SharedValues.nextSlot(there), bytes);
      if (!roomy) {
        leave(page, isShared ? SharedValues.fullness(there) : 0);
      }
    } finally {
      if (!roomy) {
        pool.unfixExclusive(frame);
      }
    }
    return roomy ? frame : -1;
  }

  private boolean isShared(int page) {
    int fences = allocator.fences();
    try {
      return allocator.occupancy().fullness(page) != 0;
    } catch (FileException behindTheEnd) {
      return allocator.noneIfCut(fences, behindTheEnd) >= 0;
    }
  }

  /**
   * Called when a stripe leaves a page with this fullness, or one that is no shared-values page any
   * more.
   */
  private void leave(int page, int fullness) {
    open.compareAndSet(stripe(), page, 0);
    if (fullness > 0) {
      hasRoom(page, fullness);
    }
  }
}
