package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.PageCondition;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Finds free pages and hands each to one taker.
 *
 * <p>A page is <em>claimed</em> here, in memory, before anything is logged; the record that first
 * uses it sets its space-map byte; a free drops the claim last, when its record is published and
 * applied (R5). A claim that is never used is forgotten with the process, so a crash leaks nothing.
 *
 * <p>Thread-safe. The caller may hold latches of tree and overflow pages, never of a space map.
 */
public final class Allocator {
  private static final int MIN_GROWTH = 128;
  private static final int MAX_GROWTH = 2048;

  private final BufferPool pool;
  private final MiniTransaction formatting;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * A bit a page: allocated in the space map, or claimed. Null: the group's map has not been read
   * yet.
   */
  private final List<long[]> used = new ArrayList<>();

  /** No page below this one is free. */
  private int hint;

  private volatile int pages;

  /**
   * An allocator over an open data file.
   *
   * @param pages how many pages the file holds
   */
  public Allocator(BufferPool pool, Journal log, int pages) {
    this.pool = pool;
    this.formatting = new MiniTransaction(pool, log);
    this.pages = pages;
  }

  /** Pages that the data file holds. */
  public int pages() {
    return pages;
  }

  /**
   * Claims a free page. It is the caller's until {@link #release}, or until the space map says so.
   *
   * @throws org.revenantdb.recovery.file.DiskFullException if the file has to grow and cannot;
   *     nothing has changed
   */
  public int claim() {
    lock.lock();
    try {
      while (true) {
        int limit = pages;
        for (int group = hint / SpaceMapPage.GROUP; group * SpaceMapPage.GROUP < limit; group++) {
          int page = claimIn(group, limit);
          if (page > 0) {
            hint = page + 1;
            return page;
          }
        }
        // Where the file ends before the map of its last group, the pages before the map are still
        // to be had.
        int last = SpaceMapPage.group(limit - 1) * SpaceMapPage.GROUP;
        hint = limit <= last + SpaceMapPage.POSITION ? last : limit;
        grow(limit);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * To be called before the record that frees a page is published. Were the page's group read only
   * afterwards, from a space map that calls the page free, it could be claimed before {@link
   * #release}, which would then drop the new owner's claim (R5).
   */
  public void beforeFree(int pageId) {
    lock.lock();
    try {
      group(SpaceMapPage.group(pageId));
    } finally {
      lock.unlock();
    }
  }

  /** Gives a page back: its claim was not used, or the record that frees it has been applied. */
  public void release(int pageId) {
    lock.lock();
    try {
      int group = SpaceMapPage.group(pageId);
      long[] words = group < used.size() ? used.get(group) : null;
      if (words != null) {
        int bit = pageId % SpaceMapPage.GROUP;
        words[bit >>> 6] &= ~(1L << bit);
      }
      hint = Math.min(hint, pageId);
    } finally {
      lock.unlock();
    }
  }

  private int claimIn(int group, int limit) {
    int first = group * SpaceMapPage.GROUP;
    if (limit <= first + SpaceMapPage.POSITION) {
      return -1;
    }
    long[] words = group(group);
    int end = Math.min(SpaceMapPage.GROUP, limit - first);
    int start = Math.max(0, hint - first);
    for (int w = start >>> 6; w << 6 < end; w++) {
      long free = ~words[w];
      if (w == start >>> 6) {
        free &= -1L << start;
      }
      if (free != 0) {
        int bit = (w << 6) + Long.numberOfTrailingZeros(free);
        if (bit >= end) {
          return -1;
        }
        words[w] |= 1L << bit;
        return first + bit;
      }
    }
    return -1;
  }

  private long[] group(int group) {
    while (used.size() <= group) {
      used.add(null);
    }
    long[] words = used.get(group);
    if (words == null) {
      words = read(group);
      used.set(group, words);
    }
    return words;
  }

  private long[] read(int group) {
    long[] words = new long[SpaceMapPage.GROUP / 64];
    int map = group * SpaceMapPage.GROUP + SpaceMapPage.POSITION;
    int frame = pool.fixShared(map);
    try {
      MemorySegment page = pool.page(frame);
      for (int i = 0; i < SpaceMapPage.GROUP; i++) {
        if ((Page.getByte(page, 64 + i) & SpaceMapPage.ALLOCATED) != 0) {
          words[i >>> 6] |= 1L << i;
        }
      }
    } finally {
      pool.unfixShared(frame);
    }
    return words;
  }

  private void grow(int from) {
    int to = from + Math.clamp(from / 8, MIN_GROWTH, MAX_GROWTH);
    pool.extendTo(to);
    // The pool may have prepared more than was asked for.
    to = pool.sizeInPages();
    int map = SpaceMapPage.mapOf(to - 1);
    if (map >= from && map < to) {
      format(map);
    }
    pages = to;
  }

  /**
   * Formats the space map of a new group; it says of itself and of nothing else that it is in use.
   */
  private void format(int map) {
    int frame = pool.fixNew(map);
    try {
      format(frame, map);
    } finally {
      pool.unfixExclusive(frame);
    }
  }

  private void format(int frame, int map) {
    MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
    Page.putByte(image, Page.TYPE, Page.SPACE_MAP);
    Page.putByte(image, SpaceMapPage.offset(map), SpaceMapPage.ALLOCATED);
    formatting.begin(0);
    RecordBuilder record = formatting.format(frame);
    PageOps.image(record, image, SpaceMapPage.offset(map) + 1 - Page.BODY, 0);
    formatting.end();
    formatting.commit();
  }

  /**
   * Makes sure, after a restart, that the last group has its map: the file may have grown into a
   * group whose first record was lost.
   */
  public void formatMissingMap(long knownPages) {
    int last = SpaceMapPage.mapOf(pages - 1);
    if (last >= pages || last == SpaceMapPage.POSITION) {
      return;
    }
    int frame = pool.fixForRedo(last);
    PageCondition condition = pool.condition(frame);
    boolean lost = condition == PageCondition.NEVER_WRITTEN && last < knownPages;
    if (lost || (condition != PageCondition.GOOD && condition != PageCondition.NEVER_WRITTEN)) {
      pool.discard(frame);
      pool.unfixShared(pool.fixShared(last)); // says what is wrong with it
      return;
    }
    try {
      if (condition == PageCondition.NEVER_WRITTEN) {
        format(frame, last);
      }
    } finally {
      pool.unfixExclusive(frame);
    }
  }
}
