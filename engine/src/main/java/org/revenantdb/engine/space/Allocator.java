package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.PageCondition;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.FileException;

/**
 * Finds free pages and gives each to only one thread.
 *
 * <p>Pages lie in extents of eight. A large tree has its own extents, and takes pages from them;
 * all others share mixed extents. A thread that takes a page enters it in the {@link Claims} before
 * anything is logged (R5). The record that first uses the page sets its byte in the space map. An
 * unused claim ends with the process, so a crash leaks nothing. A separate record allocates an
 * extent and does nothing else. An extent is freed when all of its pages are free.
 *
 * <p>Thread-safe. The caller may hold latches of tree and overflow pages, but never of a space map.
 * For {@link #claim(Unit)} it must hold no latch.
 */
public final class Allocator {
  /*
   * Protocol    docs/protocols.md §19, §25.
   *
   * Hints       no free mixed page, or free extent, is below a hint.
   *
   * End         a number of pages, a multiple of eight. fence lowers it, then looks for claims and bytes behind it. A
   *             claiming thread enters the page, then reads the end. So either it sees the new end and leaves, or
   *             fence sees its claim. Extents are taken only under the lock, and so is the fence set.
   *
   * Lock        for rare operations: taking extents, growing, fencing, holding back. Latches of tree pages are
   *             acquired before it, those of maps after it.
   */
  /**
   * The number of pages that a claim may change in addition to the caller's page: GAM and map of an
   * extent, twice if the file grows.
   */
  public static final int PAGES = 4;

  /** Credit for log space that goes with {@link #PAGES}. */
  public static final int CREDIT = 2 * 1024;

  /** As {@link #PAGES}, if the file does not grow: GAM, map, list of extents. */
  public static final int PAGES_AT_ONCE = 3;

  /** As {@link #PAGES}, for {@link #claim(Unit)}: also a list of extents and the root. */
  public static final int PAGES_OF_UNIT = PAGES + 3;

  /** A file that has fewer pages doubles. */
  private static final int MIN_GROWTH = 128;

  private static final int MAX_GROWTH = 2048;

  /**
   * The file begins to grow when only this many pages before its end are left; in a small file it
   * is a part of it.
   */
  private static final int AHEAD = 2048;

  /** Of so many used pages a database at rest has one more. */
  private static final int REST = 128;

  /** The number of maps that are searched for a free mixed page before another extent is taken. */
  private static final int MAPS = 16;

  /** The number of extents that are searched for a free page before a tree takes a new one. */
  private static final int LOOKS = 64;

  /**
   * Results of {@link #takeExtent} that are not a page: no free extent; a range without a list, and
   * lower numbers.
   */
  private static final int NONE_FREE = -1;

  private static final int LIST_MISSING = -2;

  private final BufferPool pool;
  private final Journal log;
  private final MiniTransaction mini;
  private final Claims claims;
  private final Occupancy occupancy;

  /** With {@link #mini}, under the lock. */
  private final MapChanges changes;

  private final PatientLock lock = new PatientLock();

  /**
   * Held while a list of extents is made; acquired with nothing latched, and before {@link #lock}.
   */
  private final PatientLock listing = new PatientLock();

  private @Nullable ExtentLists lists;

  /**
   * Freed pages that must not be claimed yet, with their former owners; null if freed pages may be
   * claimed at once.
   */
  private volatile @Nullable Map<Integer, Unit> held;

  private final Hint mixed = new Hint();

  /** The mixed extent that was taken last: it may be far beyond the end of a search. */
  private volatile int current;

  private final Hint extents = new Hint();

  /** Extents of which a page was freed, with their owners: they may be empty. */
  private final Map<Integer, Unit> loosened = new ConcurrentHashMap<>();

  private volatile int pages;

  /** The end of all extents that were taken since the file was opened. Under the lock. */
  private int used;

  /** The pages of all extents that were taken since the file was opened. Written under the lock. */
  private volatile int takenPages;

  /**
   * Pages whose space maps are formatted: {@link #pages}, and those behind a fence that were not
   * cut off, whose maps no later growth formats. Under the lock.
   */
  private int mapped;

  /**
   * How often the end was fenced: a thread that meets a page behind the end had seen a former end.
   */
  private final AtomicInteger fences = new AtomicInteger();

  /**
   * Makes an allocator for an open data file.
   *
   * @param pages the number of pages of the file
   */
  public Allocator(BufferPool pool, Journal log, int pages) {
    this.pool = pool;
    this.log = log;
    this.mini = new MiniTransaction(pool, log);
    this.claims = new Claims(log);
    this.occupancy = new Occupancy(pool, claims, this::pages);
    this.changes = new MapChanges(pool, claims);
    this.pages = wholeExtents(pages);
    this.mapped = this.pages;
  }

  /** A file that ends within an extent was growing when the process died. */
  private static int wholeExtents(int pages) {
    return pages - pages % ExtentMapPage.PAGES;
  }

  /** Pages that the data file holds. */
  public int pages() {
    return pages;
  }

  /**
   * Takes a look while the file neither grows nor is cut: all records of a growth are published, or
   * none is.
   *
   * @param look gets the number of pages that have their space maps; it must not wait for latches
   *     or for log space
   */
  public <T> T whileUnchanged(IntFunction<T> look) {
    lock.lock();
    try {
      return look.apply(mapped);
    } finally {
      lock.unlock();
    }
  }

  /** Which pages and extents are in use. */
  public Occupancy occupancy() {
    return occupancy;
  }

  /** The pages and extents that are being taken or freed. */
  public Claims claims() {
    return claims;
  }

  /**
   * Claims a free page of a mixed extent. It belongs to the caller until {@link #release}, or until
   * the space map records the allocation.
   *
   * @throws org.revenantdb.recovery.file.DiskFullException if the file has to grow and cannot;
   *     nothing has changed
   */
  public int claim() {
    return claimFor(Unit.NONE);
  }

  /**
   * As {@link #claim()}, for a page of a tree. If the tree is large, the page is from its own
   * extents. The caller has nothing latched.
   */
  public int claim(Unit unit) {
    unit.load(pool);
    return claimFor(unit);
  }

  private int claimFor(Unit unit) {
    while (true) {
      int limit = pages;
      int page = claimLower(unit, limit);
      if (page >= 0) {
        growInTime(page, limit);
        return page;
      }
      lock.lock();
      try {
        page = claimLower(unit, pages);
        if (page < 0) {
          page = takeExtent(unit, pages);
        }
        if (page >= 0) {
          return page;
        }
        if (page == NONE_FREE) {
          grow();
        }
      } finally {
        lock.unlock();
      }
      if (page <= LIST_MISSING) {
        addList(unit, LIST_MISSING - page);
      }
    }
  }

  private void addList(Unit unit, int range) {
    listing.lock();
    try {
      if (lists == null) {
        lists = new ExtentLists(pool, log, this);
      }
      lists.add(unit, range);
    } finally {
      listing.unlock();
    }
  }

  /**
   * Claims a free page for a tree if there is one, without waiting for a thread that lets the file
   * grow. The caller may have pages of the tree latched.
   *
   * @return the page; -1 if that would need a wait, or if the tree has not been looked up
   */
  public int claimAtOnce(Unit unit) {
    int limit = pages;
    int page = claimLower(unit, limit);
    if (page < 0 && lock.tryLock()) {
      try {
        page = Math.max(-1, claimBelow(unit, limit));
      } finally {
        lock.unlock();
      }
    }
    if (page >= 0) {
      growInTime(page, limit);
    }
    return page;
  }

  /**
   * Lets the file grow before its end is reached. A session that has taken few pages leaves that to
   * the end of the file: it may close soon, and a close cuts off what was not used.
   */
  private void growInTime(int claimed, int limit) {
    if (claimed > limit - Math.min(Math.min(limit / 8, AHEAD), takenPages)) {
      pool.extendAhead(beforeNextMap(limit, limit + growth(limit)));
    }
  }

  /**
   * Claims a free page of a mixed extent below a limit. Takes no extent, and does not let the file
   * grow.
   *
   * @return the page, or -1 if there is none
   */
  public int claimBelow(int limit) {
    int before = fences.get();
    try {
      return searchMixed(limit);
    } catch (FileException behindTheEnd) {
      return noneIfCut(before, behindTheEnd);
    }
  }

  /** Read before a map is read, as argument for {@link #noneIfCut}. */
  int fences() {
    return fences.get();
  }

  /**
   * Handles a map that was cut off with the end of the file while a thread was on its way to it.
   */
  int noneIfCut(int before, FileException failure) {
    if (fences.get() == before) {
      throw failure;
    }
    return -1;
  }

  private int searchMixed(int limit) {
    int all = pages;
    int end = Math.min(limit, all);
    long seen = mixed.seen();
    int from = Hint.place(seen);
    for (int looks = 0; looks < MAPS && from < end; looks++) {
      int page = enterMixed(from, end);
      if (page >= 0) {
        mixed.raise(seen, page + 1);
        return page;
      }
      from += SpaceMapPage.GROUP - from % SpaceMapPage.GROUP;
    }
    if (end == all) {
      mixed.raise(seen, Math.min(from, end));
    }
    int lastTaken = ExtentMapPage.firstPage(current);
    return lastTaken < from || lastTaken >= end
        ? -1
        : enterMixed(lastTaken, Math.min(end, lastTaken + ExtentMapPage.PAGES));
  }

  /** Enters the first free mixed page from one on, of its group and below an end; or -1. */
  private int enterMixed(int from, int end) {
    int first = from - from % SpaceMapPage.GROUP;
    int page;
    int frame = pool.fixShared(first + SpaceMapPage.POSITION);
    try {
      page = FreeBytes.enterMixed(pool.page(frame), claims, first, from, end);
    } finally {
      pool.unfixShared(frame);
    }
    if (page >= pages) {
      claims.leavePage(page); // the page is behind the end, which was fenced meanwhile
      return -1;
    }
    return page;
  }

  /**
   * Claims a free page for a tree below a limit, if necessary from a free extent. Does not let the
   * file grow. The tree has been {@linkplain Unit#load looked up}.
   *
   * @return the page; negative if there is none, and also if there is a free extent but the tree
   *     has no list that can name it: see {@link #rangeWithoutList}
   */
  public int claimBelow(Unit unit, int limit) {
    int page = claimLower(unit, limit);
    if (page >= 0) {
      return page;
    }
    lock.lock();
    try {
      return takeExtent(unit, Math.min(limit, pages));
    } finally {
      lock.unlock();
    }
  }

  /**
   * The range for which the tree needs a list before it can have an extent of it.
   *
   * @param claimed the result of {@link #claimBelow(Unit, int)}
   * @return the range; -1 if no list is missing
   */
  public static int rangeWithoutList(int claimed) {
    return claimed <= LIST_MISSING ? LIST_MISSING - claimed : -1;
  }

  /** As {@link #claimBelow(Unit, int)}, but only from the tree's extents or mixed ones. */
  public int claimLower(Unit unit, int limit) {
    return unit.isLarge() ? claimOwn(unit, limit) : claimBelow(limit);
  }

  /** A free page of the tree's extents below a limit; -1 if a limited search has found none. */
  private int claimOwn(Unit unit, int limit) {
    int before = fences.get();
    try {
      return searchOwn(unit, limit);
    } catch (FileException behindTheEnd) {
      return noneIfCut(before, behindTheEnd);
    }
  }

  private int searchOwn(Unit unit, int limit) {
    long current = unit.current();
    int lastUsed = Unit.extent(current);
    int page = lastUsed < 0 ? -1 : claimOf(unit, Unit.turn(current), lastUsed, limit);
    if (page >= 0) {
      return page;
    }
    long seen = unit.hint().seen();
    int from = Hint.place(seen);
    for (int looks = 0; looks < LOOKS; looks++) {
      int turn = unit.turn();
      int extent = unit.nextExtent(pool, from);
      if (extent < 0 || ExtentMapPage.firstPage(extent) >= limit) {
        break;
      }
      page = claimOf(unit, turn, extent, limit);
      if (page >= 0) {
        unit.setCurrent(turn, extent);
        unit.hint().raise(seen, extent);
        return page;
      }
      from = extent + 1;
    }
    unit.hint().raise(seen, from);
    return -1;
  }

  /** A free page of an extent that belonged to the tree at a turn; or -1. */
  private int claimOf(Unit unit, int turn, int extent, int limit) {
    int first = ExtentMapPage.firstPage(extent);
    if (first + ExtentMapPage.PAGES > Math.min(limit, pages)) {
      return -1;
    }
    if (unit.turn() != turn && !unit.owns(pool, extent)) {
      return -1; // else its owner would skip the pages while they are entered here
    }
    int page;
    int frame = pool.fixShared(SpaceMapPage.mapOf(first));
    try {
      page = FreeBytes.enterOwn(pool.page(frame), claims, extent);
    } finally {
      pool.unfixShared(frame);
    }
    if (page < 0) {
      return -1;
    }
    boolean owns = false;
    try {
      owns = unit.turn() == turn || unit.owns(pool, extent);
    } finally {
      if (!owns) {
        claims.leavePage(page); // the extent was given back before the page was entered
      }
    }
    return owns ? page : -1;
  }

  /**
   * Takes a free extent, under the lock, and claims its first page before any other thread can. So
   * a thread that needs a page takes at most one extent.
   *
   * @param unit the owner of the extent, if it is large; else the extent is mixed
   * @param limit the extent ends below this page
   * @return the page; or {@link #NONE_FREE}; or, for a range without a list, {@link #LIST_MISSING}
   *     less the range
   */
  private int takeExtent(Unit unit, int limit) {
    boolean own = unit.isLarge();
    long seen = extents.seen();
    int from = Hint.place(seen);
    int end = ExtentMapPage.extentOf(limit);
    for (int range = ExtentMapPage.range(from); range * ExtentMapPage.RANGE < end; range++) {
      int first = range * ExtentMapPage.RANGE;
      int extent;
      int frame = pool.fixShared(ExtentMapPage.gamOf(first));
      try {
        extent = FreeBytes.enterExtent(pool.page(frame), claims, Math.max(from, first), end);
      } finally {
        pool.unfixShared(frame);
      }
      if (extent < 0) {
        continue;
      }
      int page = ExtentMapPage.firstPage(extent);
      boolean taken = false;
      try {
        int list = own ? unit.list(range) : 0;
        if (own && list == 0) {
          return LIST_MISSING - range;
        }
        demandFree(extent);
        claims.page(page, !own);
        try {
          record(extent, list, /* taken= */ true);
          taken = true;
        } finally {
          if (!taken) {
            claims.leavePage(page);
          }
        }
      } finally {
        claims.leaveExtent(extent);
      }
      extents.raise(seen, extent + 1);
      used = Math.max(used, page + ExtentMapPage.PAGES);
      takenPages = Math.min(AHEAD, takenPages + ExtentMapPage.PAGES);
      if (own) {
        unit.setCurrent(unit.turn(), extent); // which others change only under the lock
        unit.hint().lower(extent);
      } else {
        current = extent;
        mixed.lower(page);
      }
      return page;
    }
    if (limit == pages) {
      extents.raise(seen, end);
    }
    return NONE_FREE;
  }

  /**
   * Demands that the two maps agree. Else the extent could be in use already, at worst by a map
   * itself.
   */
  private void demandFree(int extent) {
    if (occupancy.bitsOfEmpty(extent) != 0) {
      throw pool.damage(
          ExtentMapPage.gamOf(extent),
          "it marks extent " + extent + " as free, but the space map marks it as taken");
    }
  }

  private void record(int extent, int list, boolean taken) {
    changes.clear();
    changes.extent(extent, list, taken);
    mini.begin(0);
    try {
      changes.latchAndWrite(mini);
      mini.commit();
    } finally {
      changes.unlatch();
    }
  }

  /** The result of freeing an extent. */
  public enum Emptied {
    /** It is free. */
    GIVEN_BACK,
    /** It is in use. */
    IN_USE,
    /** A thread has entered it, or a page of it: it may be empty later. */
    BUSY
  }

  /** Extents of which pages were freed, and which may be empty, with their owners. */
  public Map<Integer, Unit> loosened() {
    return loosened;
  }

  /**
   * Frees an extent if all of its pages are free and no thread is about to take one. Called only by
   * the cleaner, with nothing latched.
   *
   * @param unit its owner, if it is not mixed
   */
  public Emptied giveBack(int extent, Unit unit) {
    int first = ExtentMapPage.firstPage(extent);
    int entered = 0;
    boolean given = false;
    unit.lookUp(pool); // it may not have been read or used since the restart
    lock.lock();
    try {
      int seen = occupancy.bitsOfEmpty(extent);
      if (held != null || seen < 0) {
        return held != null ? Emptied.BUSY : Emptied.IN_USE;
      }
      if (!claims.tryExtent(extent)) {
        return Emptied.BUSY;
      }
      try {
        while (entered < ExtentMapPage.PAGES) {
          if (!claims.tryPage(first + entered, seen != 0)) {
            return Emptied.BUSY;
          }
          entered++;
        }
        int bits = occupancy.bitsOfEmpty(extent);
        if (bits < 0 || (bits == 0 && !unit.owns(pool, extent))) {
          return Emptied.IN_USE;
        }
        int list = bits == 0 ? unit.list(ExtentMapPage.range(extent)) : 0;
        record(extent, list, /* taken= */ false);
        given = true;
        if (Unit.extent(unit.current()) == extent) {
          unit.setCurrent(unit.turn(), -1);
        }
        unit.nextTurn();
      } finally {
        while (entered > 0) {
          claims.leavePage(first + --entered);
        }
        claims.leaveExtent(extent);
        if (!given) {
          lower(
              unit, first,
              seen != 0); // a thread that has skipped a page because it was entered searches again
        }
      }
      extents.lower(extent);
      return Emptied.GIVEN_BACK;
    } finally {
      lock.unlock();
    }
  }

  /** A tree's first extent from one on; -1 if there is none. */
  public int nextExtent(Unit unit, int from) {
    return unit.nextExtent(pool, from);
  }

  /**
   * The size that is enough for a database at rest: up to the last extent that is in use, or was
   * taken since the file was opened; and some more, so that its next user need not wait for the
   * growth of the file. At most its present size. An extent that was taken and is free again
   * counts: the next session may use it again.
   */
  public int sizeAtRest() {
    lock.lock();
    try {
      int end = Math.max(used, occupancy.endOfExtents(pages));
      return wholeExtents(Math.min(pages, end + end / REST));
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #fence(int)}, as far as possible. */
  public int fence() {
    return fence(0);
  }

  /**
   * From now on treats the end of the last used extent as the end of the file: a thread that needs
   * more has to let the file grow. A group in which only its maps are in use counts as unused.
   * Pages behind that end may be cut off when a checkpoint that began after this call is durable
   * (protocols.md §18).
   *
   * @param least the number of pages that stay in the file, a multiple of eight, at most its
   *     present number
   * @return the end
   */
  public int fence(int least) {
    lock.lock();
    try {
      if (held != null) {
        return pages; // a check is reading all pages that the file had when it began
      }
      fences.incrementAndGet();
      int before = pages;
      int end = Math.min(before, Math.max(least, occupancy.endOfExtents(before)));
      boolean found = false;
      pages = end;
      try {
        // A thread that claimed a page behind the new end before it could see that end keeps the
        // page, and all pages before it stay.
        for (int last = occupancy.endOfExtents(before);
            last > end;
            last = occupancy.endOfExtents(before)) {
          end = last;
          pages = end;
        }
        found = true;
      } finally {
        if (!found) {
          pages = before; // a map cannot be read, and a page behind the new end may be in use
        }
      }
      mixed.lower(end);
      extents.lower(ExtentMapPage.extentOf(end));
      return end;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Cuts the file off at the end that {@link #fence} returned, unless it has grown since.
   *
   * @return whether it was cut
   */
  public boolean cut(int end) {
    lock.lock();
    try {
      boolean isCut = pages == end && pool.cutTo(end);
      if (isCut) {
        mapped = end;
        used = Math.min(used, end);
      }
      return isCut;
    } finally {
      lock.unlock();
    }
  }

  /** Gives up an unused claim: the page was free all the time. */
  public void unclaim(int page) {
    unclaim(Unit.NONE, page);
  }

  /** As {@link #unclaim(int)}, for a page that was claimed for a tree. */
  public void unclaim(Unit unit, int page) {
    lower(unit, page, claims.leavePage(page));
  }

  /** Called after a free page was left: lowers the hints, so that searches find it. */
  private void lower(Unit unit, int page, boolean isMixed) {
    if (isMixed) {
      mixed.lower(page);
    } else {
      unit.hint().lower(ExtentMapPage.extentOf(page));
    }
  }

  /** Whether freed pages cannot be claimed at the moment because a thread reads them. */
  public boolean isHoldingBack() {
    return held != null;
  }

  /** Frees a page that belongs to no tree, after the record that frees it was applied. */
  public void release(int page) {
    release(Unit.NONE, page);
  }

  /** Frees a page of a tree, after the record that frees it was applied. */
  public void release(Unit unit, int page) {
    loosened.put(ExtentMapPage.extentOf(page), unit);
    if (held == null || !keep(unit, page)) {
      unclaim(unit, page);
    }
  }

  /** Holds a page back; false if nothing is held back any more. */
  private boolean keep(Unit unit, int page) {
    lock.lock();
    try {
      Map<Integer, Unit> keep = held;
      if (keep != null) {
        keep.put(page, unit);
      }
      return keep != null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * From now on freed pages cannot be claimed: they keep their content for a thread that reads
   * pages as they were.
   */
  public void holdBack() {
    lock.lock();
    try {
      held = new ConcurrentHashMap<>();
    } finally {
      lock.unlock();
    }
  }

  /** How many pages are held back. */
  public int heldBack() {
    Map<Integer, Unit> back = held;
    return back == null ? 0 : back.size();
  }

  /** Ends {@link #holdBack}: all pages that were freed meanwhile can be claimed. */
  public void holdNoMore() {
    lock.lock();
    try {
      Map<Integer, Unit> back = held;
      held = null;
      if (back != null) {
        back.forEach((page, unit) -> unclaim(unit, page));
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called before a list of extents moves and its root is latched: no thread takes an extent
   * meanwhile.
   */
  void beginListChange() {
    lock.lock();
  }

  /** Called after the list has moved. */
  void endListChange() {
    lock.unlock();
  }

  /**
   * The size that the file may have before the next space map is formatted: a map in the file that
   * was never written would count as damage.
   */
  private static int beforeNextMap(int from, int wanted) {
    int next = (SpaceMapPage.group(from - 1) + 1) * SpaceMapPage.GROUP;
    return Math.min(wanted, next);
  }

  /** The number of pages by which a file of this many pages grows. */
  public static int growth(int from) {
    return wholeExtents(Math.clamp(from / 8, Math.min(from, MIN_GROWTH), MAX_GROWTH));
  }

  /** Lets the file grow, under the lock. */
  private void grow() {
    int from = pages;
    pool.extendTo(from + growth(from));
    // The pool may have prepared more than was requested.
    int to = wholeExtents(pool.sizeInPages());
    int map = SpaceMapPage.mapOf(to - 1);
    if (map >= from) {
      int frame = pool.fixNew(map);
      try {
        format(frame, map);
      } finally {
        pool.unfixExclusive(frame);
      }
    }
    pages = to;
    mapped = to;
    extents.lower(ExtentMapPage.extentOf(from));
    mixed.lower(from);
  }

  /**
   * Formats the maps of a new group. Its first extent is mixed and contains them; nothing else is
   * in use.
   */
  private void format(int frame, int map) {
    int group = SpaceMapPage.group(map);
    int first = group * SpaceMapPage.GROUP;
    int extent = ExtentMapPage.extentOf(first);
    boolean range = ExtentMapPage.beginsRange(group);
    MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
    Page.putByte(image, Page.TYPE, Page.SPACE_MAP);
    for (int page = first; page < first + ExtentMapPage.PAGES; page++) {
      int bits = SpaceMapPage.MIXED | (Occupancy.isMap(page) ? SpaceMapPage.ALLOCATED : 0);
      Page.putByte(image, SpaceMapPage.offset(page), bits);
    }
    int gam = -1;
    changes.clear();
    mini.begin(0);
    try {
      PageOps.image(
          mini.format(frame), image, SpaceMapPage.HEADER + ExtentMapPage.PAGES - Page.BODY, 0);
      mini.end();
      if (range) {
        gam = pool.fixNew(ExtentMapPage.gamOf(extent));
        image.fill((byte) 0);
        Page.putByte(image, Page.TYPE, Page.GAM);
        Page.putByte(image, ExtentMapPage.offset(extent), ExtentMapPage.mask(extent));
        PageOps.image(mini.format(gam), image, SpaceMapPage.HEADER + 1 - Page.BODY, 0);
        mini.end();
      } else {
        changes.gam(extent, /* taken= */ true);
      }
      changes.latchAndWrite(mini);
      mini.commit();
    } finally {
      changes.unlatch();
      if (gam >= 0) {
        pool.unfixExclusive(gam);
      }
    }
  }

  /**
   * Makes sure, after a restart, that the last group has its map: the file may have grown into a
   * group whose first record was lost.
   */
  public void formatMissingMap(long knownPages) {
    int last = SpaceMapPage.mapOf(pages - 1);
    if (last == SpaceMapPage.POSITION) {
      return;
    }
    int frame = pool.fixInAnyCondition(last);
    PageCondition condition = pool.condition(frame);
    boolean lost = condition == PageCondition.NEVER_WRITTEN && last < knownPages;
    if (lost || (condition != PageCondition.GOOD && condition != PageCondition.NEVER_WRITTEN)) {
      pool.discard(frame);
      pool.unfixShared(pool.fixShared(last)); // throws if something is wrong with it
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
