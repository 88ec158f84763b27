package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
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
  /*
   * Claims      a bit a page: in use by the space map, or claimed. 0 -> 1 by CAS: who wins has the page (R5). 1 -> 0 by
   *             its owner, who has applied the record that frees it, or has not used it.
   *
   * Hint        no free page is below it. It is raised by who has found all below his page in use, by CAS: each page that
   *             is given back changes the turn beside it, so a page that came back behind his back is not passed by.
   *
   * End         pages. fence lowers it, then looks at the bits behind it; who claims sets a bit, then looks at the end.
   *             Both are volatile, so either he sees the new end and gives the page back, or fence sees his bit.
   *
   * Lock        for all that is seldom: reading a group's map, growing, fencing, holding back.
   */
  private static final int MIN_GROWTH = 128;
  private static final int MAX_GROWTH = 2048;

  /** The file begins to grow when so few pages before its end are left, a part of a small file. */
  private static final int AHEAD = 1024;

  private final BufferPool pool;
  private final MiniTransaction formatting;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * The claims of each group; null: the group's map has not been read yet. Replaced, not changed.
   */
  private volatile @Nullable AtomicLongArray[] groups = new AtomicLongArray[4];

  /** Pages given back that nobody may claim yet; null when they may at once. */
  private volatile @Nullable PageBitmap held;

  private int heldPages;

  /** The hint, and in the upper half its turn. */
  private final AtomicLong hint = new AtomicLong();

  private volatile int pages;

  /**
   * An allocator over an open data file.
   *
   * @param pages how many pages the file holds
   */
  public Allocator(BufferPool pool, Journal log, int pages) {
    this(pool, new MiniTransaction(pool, log), pages, null);
  }

  /**
   * An allocator that need not read the map of the first group: its claims are given.
   *
   * @param first null: they are read when they are needed
   */
  Allocator(
      BufferPool pool, MiniTransaction formatting, int pages, @Nullable AtomicLongArray first) {
    this.pool = pool;
    this.formatting = formatting;
    this.pages = pages;
    this.groups[0] = first;
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
    while (true) {
      int limit = pages;
      int page = claimBelow(limit);
      if (page < 0) {
        grow(limit);
        continue;
      }
      growInTime(page, limit);
      return page;
    }
  }

  /**
   * Claims a free page if the file has one.
   *
   * @return the page; -1 if the file has to grow for it
   */
  public int claimAtOnce() {
    int limit = pages;
    int page = claimBelow(limit);
    growInTime(page, limit);
    return page;
  }

  private void growInTime(int claimed, int limit) {
    if (claimed > limit - Math.min(limit / 8, AHEAD)) {
      pool.extendAhead(beforeNextMap(limit, limit + growth(limit)));
    }
  }

  /**
   * Claims a free page below a limit, and does not let the file grow.
   *
   * @return the page, or -1 if there is none
   */
  public int claimBelow(int limit) {
    long seen = hint.get();
    int from = (int) seen;
    int end = Math.min(limit, pages);
    for (int group = from / SpaceMapPage.GROUP; group * SpaceMapPage.GROUP < end; group++) {
      int page = claimIn(group, from, end);
      if (page > 0 && page < pages) {
        hint.compareAndSet(seen, seen - from + page + 1);
        return page;
      }
      if (page > 0) {
        letGo(page); // behind the end, which was fenced meanwhile
        return -1;
      }
    }
    return -1;
  }

  /**
   * Where the file would end if all pages in use lay without a gap, the maps at their places among
   * them.
   */
  public int compactSize() {
    lock.lock();
    try {
      int inUse = 0;
      for (int group = 0; hasMap(group); group++) {
        AtomicLongArray words = group(group);
        for (int w = 0; w < words.length(); w++) {
          inUse += Long.bitCount(words.get(w));
        }
        inUse--; // the map
      }
      int size = inUse;
      int maps;
      do {
        maps = size <= SpaceMapPage.POSITION ? 0 : SpaceMapPage.group(size - 4) + 1;
        size = inUse + maps;
      } while (maps < (size <= SpaceMapPage.POSITION ? 0 : SpaceMapPage.group(size - 4) + 1));
      return size;
    } finally {
      lock.unlock();
    }
  }

  /** The last page below this one that is in use or claimed, maps left out; or -1. */
  public int lastInUseBelow(int page) {
    lock.lock();
    try {
      return lastInUse(Math.min(page, pages));
    } finally {
      lock.unlock();
    }
  }

  private int lastInUse(int below) {
    for (int group = SpaceMapPage.group(below - 1); group >= 0; group--) {
      if (!hasMap(group)) {
        continue;
      }
      AtomicLongArray words = group(group);
      int first = group * SpaceMapPage.GROUP;
      for (int bit = Math.min(SpaceMapPage.GROUP, below - first) - 1; bit >= 0; bit--) {
        if (bit != SpaceMapPage.POSITION && (words.get(bit >>> 6) & (1L << bit)) != 0) {
          return first + bit;
        }
      }
    }
    return -1;
  }

  private boolean hasMap(int group) {
    return group * SpaceMapPage.GROUP + SpaceMapPage.POSITION < pages;
  }

  /**
   * Takes the page after the last one in use for the end of the file from now on: whoever wants
   * more has to let it grow. Pages behind that end may be cut off when a checkpoint that began
   * after this is durable (protocols.md §18).
   *
   * @return the end
   */
  public int fence() {
    lock.lock();
    try {
      if (held != null) {
        return pages; // a check is looking at all pages that the file had when it began
      }
      int before = pages;
      int end = endOf(lastInUse(before), before);
      pages = end;
      // Who claimed a page behind it before he could see that keeps it, and all up to there.
      for (int last = lastInUse(before); last >= end; last = lastInUse(before)) {
        end = endOf(last, before);
        pages = end;
      }
      lowerHint(end);
      return end;
    } finally {
      lock.unlock();
    }
  }

  private static int endOf(int last, int before) {
    return Math.min(before, Math.max(last, SpaceMapPage.mapOf(last)) + 1);
  }

  /**
   * Cuts the file off at the end that {@link #fence} returned, unless it has grown since.
   *
   * @return whether it was cut
   */
  public boolean cut(int end) {
    lock.lock();
    try {
      return pages == end && pool.cutTo(end);
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
    if (loaded(SpaceMapPage.group(pageId)) != null) {
      return;
    }
    lock.lock();
    try {
      group(SpaceMapPage.group(pageId));
    } finally {
      lock.unlock();
    }
  }

  /** Gives up a claim that was not used: the page was free all the time. */
  public void unclaim(int pageId) {
    letGo(pageId);
  }

  /** Whether pages that are given back cannot be claimed for now: somebody looks at them. */
  public boolean isHoldingBack() {
    return held != null;
  }

  /** Gives a page back: its claim was not used, or the record that frees it has been applied. */
  public void release(int pageId) {
    if (held == null || !keep(pageId)) {
      letGo(pageId);
    }
  }

  /** False if nothing is held back any more. */
  private boolean keep(int pageId) {
    lock.lock();
    try {
      PageBitmap keep = held;
      if (keep != null) {
        keep.set(pageId);
        heldPages++;
      }
      return keep != null;
    } finally {
      lock.unlock();
    }
  }

  private void letGo(int pageId) {
    AtomicLongArray words = loaded(SpaceMapPage.group(pageId));
    if (words != null) {
      int bit = pageId % SpaceMapPage.GROUP;
      words.getAndAccumulate(bit >>> 6, ~(1L << bit), (word, mask) -> word & mask);
    }
    lowerHint(pageId);
  }

  /** Begins another turn, even if the hint is low enough: who has passed the page looks again. */
  private void lowerHint(int pageId) {
    hint.getAndAccumulate(
        pageId,
        (seen, page) ->
            (((seen >>> Integer.SIZE) + 1) << Integer.SIZE) | Math.min((int) seen, (int) page));
  }

  /**
   * From now on nobody can claim what is given back: it stays as it is for whoever looks at pages
   * as they were.
   */
  public void holdBack() {
    lock.lock();
    try {
      held = new PageBitmap();
    } finally {
      lock.unlock();
    }
  }

  /** How many pages are held back. */
  public int heldBack() {
    lock.lock();
    try {
      return heldPages;
    } finally {
      lock.unlock();
    }
  }

  /** Ends what {@link #holdBack} began: all that was given back meanwhile can be claimed. */
  public void holdNoMore() {
    lock.lock();
    try {
      PageBitmap back = held;
      held = null;
      heldPages = 0;
      if (back != null) {
        for (int page = back.next(0); page >= 0; page = back.next(page + 1)) {
          letGo(page);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** A page from one on, below another; -1 if there is none in the group. */
  private int claimIn(int group, int from, int limit) {
    int first = group * SpaceMapPage.GROUP;
    if (limit <= first + SpaceMapPage.POSITION) {
      return -1; // its map is not in the file yet
    }
    AtomicLongArray words = group(group);
    int end = Math.min(SpaceMapPage.GROUP, limit - first);
    int start = Math.max(0, from - first);
    long mask = -1L << start;
    for (int w = start >>> 6; w << 6 < end; w++, mask = -1L) {
      long word = words.get(w);
      while ((~word & mask) != 0) {
        int bit = (w << 6) + Long.numberOfTrailingZeros(~word & mask);
        if (bit >= end) {
          return -1;
        }
        long now = words.compareAndExchange(w, word, word | (1L << bit));
        if (now == word) {
          return first + bit;
        }
        word = now;
      }
    }
    return -1;
  }

  /** The claims of a group, if its map has been read. */
  private @Nullable AtomicLongArray loaded(int group) {
    @Nullable AtomicLongArray[] now = groups;
    return group < now.length ? now[group] : null;
  }

  private AtomicLongArray group(int group) {
    AtomicLongArray words = loaded(group);
    if (words != null) {
      return words;
    }
    lock.lock();
    try {
      words = loaded(group);
      if (words == null) {
        words = read(group);
        @Nullable AtomicLongArray[] more =
            Arrays.copyOf(groups, Math.max(groups.length, group + 1));
        more[group] = words;
        groups = more;
      }
      return words;
    } finally {
      lock.unlock();
    }
  }

  private AtomicLongArray read(int group) {
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
    return new AtomicLongArray(words);
  }

  /**
   * A size that the file may have before anybody formats the next space map: a map in the file that
   * was never written would be damage.
   */
  private static int beforeNextMap(int from, int wanted) {
    int group = SpaceMapPage.group(from - 1);
    int first = group * SpaceMapPage.GROUP + SpaceMapPage.POSITION;
    int next = from <= first ? first : first + SpaceMapPage.GROUP;
    return Math.min(wanted, next);
  }

  private static int growth(int from) {
    return Math.clamp(from / 8, MIN_GROWTH, MAX_GROWTH);
  }

  /** Lets the file grow, unless its end is another one by now. */
  private void grow(int from) {
    lock.lock();
    try {
      if (pages != from) {
        return;
      }
      pool.extendTo(from + growth(from));
      // The pool may have prepared more than was asked for.
      int to = pool.sizeInPages();
      int map = SpaceMapPage.mapOf(to - 1);
      if (map >= from && map < to) {
        format(map);
      }
      pages = to;
    } finally {
      lock.unlock();
    }
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
