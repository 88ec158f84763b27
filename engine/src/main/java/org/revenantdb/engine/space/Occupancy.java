package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.SpaceMapPage;

/**
 * Finds out from the maps which pages and extents of the data file are in use. It is for code that
 * needs many of them: compaction, and cutting the file. Each answer was true at some moment, map by
 * map.
 *
 * <p>Thread-safe. The caller may hold latches of tree pages, never of a map.
 */
public final class Occupancy {
  private final BufferPool pool;
  private final Claims claims;
  private final IntSupplier end;

  /**
   * Makes an object for the maps of a file.
   *
   * @param claims the claims of threads that are about to change them
   * @param end the number of pages of the file
   */
  Occupancy(BufferPool pool, Claims claims, IntSupplier end) {
    this.pool = pool;
    this.claims = claims;
    this.end = end;
  }

  /** The common byte of all pages of an extent without a used page; -1 if a page is in use. */
  int bitsOfEmpty(int extent) {
    int frame = pool.fixShared(SpaceMapPage.mapOf(ExtentMapPage.firstPage(extent)));
    try {
      return bitsOfEmpty(pool.page(frame), extent);
    } finally {
      pool.unfixShared(frame);
    }
  }

  private static int bitsOfEmpty(MemorySegment map, int extent) {
    int first = ExtentMapPage.firstPage(extent);
    int bits = SpaceMapPage.bits(map, first) & SpaceMapPage.MIXED;
    for (int page = first; page < first + ExtentMapPage.PAGES; page++) {
      if (SpaceMapPage.bits(map, page) != bits) {
        return -1;
      }
    }
    return bits;
  }

  /**
   * The empty extents below the end, which the cleaner should free: the mixed ones, or those of a
   * tree.
   */
  public List<Integer> empty(@Nullable Unit unit) {
    List<Integer> found = new ArrayList<>();
    if (unit != null) {
      for (int e = unit.nextExtent(pool, 0); e >= 0; e = unit.nextExtent(pool, e + 1)) {
        if (bitsOfEmpty(e) == 0) {
          found.add(e);
        }
      }
      return found;
    }
    for (int e = 0; e < ExtentMapPage.extentOf(end.getAsInt()); e++) {
      if (bitsOfEmpty(e) == SpaceMapPage.MIXED) {
        found.add(e);
      }
    }
    return found;
  }

  /**
   * The extents of a group that are empty and not free.
   *
   * @param mixed receives the mixed ones
   * @param uniform receives those of trees
   */
  void empty(int group, BitSet mixed, BitSet uniform) {
    int from = group * ExtentMapPage.GROUP;
    int to = Math.min(from + ExtentMapPage.GROUP, ExtentMapPage.extentOf(end.getAsInt()));
    BitSet taken = new BitSet(ExtentMapPage.GROUP);
    int frame = pool.fixShared(ExtentMapPage.gamOf(from));
    try {
      MemorySegment gam = pool.page(frame);
      for (int e = from; e < to; e++) {
        taken.set(e - from, ExtentMapPage.isSet(gam, e));
      }
    } finally {
      pool.unfixShared(frame);
    }
    frame = pool.fixShared(SpaceMapPage.mapOf(ExtentMapPage.firstPage(from)));
    try {
      MemorySegment map = pool.page(frame);
      for (int e = from; e < to; e++) {
        int bits = taken.get(e - from) ? bitsOfEmpty(map, e) : -1;
        if (bits >= 0) {
          (bits == 0 ? uniform : mixed).set(e);
        }
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  /**
   * The approximate end of the file if the used extents had no gaps and were full, except the last
   * one of each tree and of the mixed ones, with the maps at their places among them. Other threads
   * may change the file meanwhile.
   *
   * @param units the units of all trees, looked up
   */
  public int compactSize(Iterable<Unit> units) {
    int own = 0;
    for (Unit unit : units) {
      int used = 0;
      for (int e = unit.nextExtent(pool, 0); e >= 0; e = unit.nextExtent(pool, e + 1)) {
        used += inUse(e, /* onlyMixed= */ false);
      }
      own += (used + ExtentMapPage.PAGES - 1) / ExtentMapPage.PAGES;
    }
    int shared = 0;
    for (int e = 0; e < ExtentMapPage.extentOf(end.getAsInt()); e++) {
      shared += inUse(e, /* onlyMixed= */ true);
    }
    int size = 0;
    for (int next = ExtentMapPage.PAGES; next != size; ) {
      size = next;
      int groups = SpaceMapPage.group(size - 1) + 1;
      int ranges = ExtentMapPage.range(ExtentMapPage.extentOf(size - 1)) + 1;
      int maps = groups + ranges;
      int behind = Math.max(0, shared - (groups * ExtentMapPage.PAGES - maps));
      next =
          ExtentMapPage.PAGES
              * (groups + own + (behind + ExtentMapPage.PAGES - 1) / ExtentMapPage.PAGES);
    }
    return size;
  }

  /** The number of pages of an extent that are in use or claimed, without maps. */
  private int inUse(int extent, boolean onlyMixed) {
    int first = ExtentMapPage.firstPage(extent);
    int count = 0;
    int frame = pool.fixShared(SpaceMapPage.mapOf(first));
    try {
      MemorySegment map = pool.page(frame);
      if (onlyMixed && (SpaceMapPage.bits(map, first) & SpaceMapPage.MIXED) == 0) {
        return 0;
      }
      for (int page = first; page < first + ExtentMapPage.PAGES; page++) {
        boolean used =
            claims.hasPage(page) || (SpaceMapPage.bits(map, page) & SpaceMapPage.ALLOCATED) != 0;
        count += used && !isMap(page) ? 1 : 0;
      }
    } finally {
      pool.unfixShared(frame);
    }
    return count;
  }

  /** Whether a page is a space map or a GAM. */
  static boolean isMap(int page) {
    int place = page % SpaceMapPage.GROUP;
    return place == SpaceMapPage.POSITION
        || (place == ExtentMapPage.POSITION && ExtentMapPage.beginsRange(SpaceMapPage.group(page)));
  }

  /** The last used page below this one, without maps; or -1. */
  public int lastInUseBelow(int page) {
    int below = Math.min(page, end.getAsInt());
    for (int group = SpaceMapPage.group(below - 1); group >= 0 && below > 0; group--) {
      int first = group * SpaceMapPage.GROUP;
      int frame = pool.fixShared(first + SpaceMapPage.POSITION);
      try {
        MemorySegment map = pool.page(frame);
        for (int at = Math.min(below, first + SpaceMapPage.GROUP) - 1; at >= first; at--) {
          if ((SpaceMapPage.bits(map, at) & SpaceMapPage.ALLOCATED) != 0 && !isMap(at)) {
            return at;
          }
        }
      } finally {
        pool.unfixShared(frame);
      }
    }
    return -1;
  }

  /** The end of the last used extent below a page. An extent with only maps counts as unused. */
  int endOfExtents(int below) {
    for (int e = ExtentMapPage.extentOf(below) - 1; e > 0; e--) {
      boolean used = ExtentMapPage.hasMap(e) ? inUse(e, /* onlyMixed= */ false) > 0 : isTaken(e);
      if (used) {
        return ExtentMapPage.firstPage(e + 1);
      }
    }
    return ExtentMapPage.PAGES;
  }

  private boolean isTaken(int extent) {
    int frame = pool.fixShared(ExtentMapPage.gamOf(extent));
    try {
      return ExtentMapPage.isSet(pool.page(frame), extent);
    } finally {
      pool.unfixShared(frame);
    }
  }

  /** Whether a page is in use; a page that is only claimed is not. */
  public boolean isAllocated(int page) {
    return (bits(page) & SpaceMapPage.ALLOCATED) != 0;
  }

  /**
   * The fullness of a shared-values page in the map; 0 if it is no such page, or lies behind the
   * end.
   */
  int fullness(int page) {
    return page < end.getAsInt() ? bits(page) & SpaceMapPage.FULLNESS : 0;
  }

  private int bits(int page) {
    int frame = pool.fixShared(SpaceMapPage.mapOf(page));
    try {
      return SpaceMapPage.bits(pool.page(frame), page);
    } finally {
      pool.unfixShared(frame);
    }
  }
}
