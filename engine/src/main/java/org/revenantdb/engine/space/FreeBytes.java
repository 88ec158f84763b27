package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;

/**
 * Finds a free page or extent in a map that others change at the same time, and enters it ({@link
 * Claims}): it finds it free, enters it, and checks that it is still free. The map is latched
 * shared throughout.
 */
public final class FreeBytes {
  /** Eight bytes, each of a free page in a mixed extent. */
  private static final long EIGHT = 0x0101010101010101L * SpaceMapPage.MIXED;

  private static final long EIGHT_FULLNESS = 0x0101010101010101L * SpaceMapPage.FULLNESS;

  private FreeBytes() {}

  /**
   * Enters the first free page of a mixed extent.
   *
   * @param map of the group
   * @param first page of the group
   * @param from page to begin with, of the group
   * @param limit below this page
   * @return the page; -1 if there is none
   */
  public static int enterMixed(MemorySegment map, Claims claims, int first, int from, int limit) {
    int end = Math.min(SpaceMapPage.GROUP, limit - first);
    for (int i = from - first; i < end; i++) {
      if (i % Long.BYTES == 0 && !hasFree(map, first + i)) {
        i += Long.BYTES - 1;
      } else if (enter(map, claims, first + i, SpaceMapPage.MIXED)) {
        return first + i;
      }
    }
    return -1;
  }

  /**
   * Whether one of eight bytes, from that of a page on, belongs to a free page of a mixed extent.
   */
  private static boolean hasFree(MemorySegment map, int page) {
    long zeros = Page.getLong(map, SpaceMapPage.offset(page)) ^ EIGHT;
    return ((zeros - 0x0101010101010101L) & ~zeros & 0x8080808080808080L) != 0;
  }

  /**
   * The first shared-values page with at most this fullness; nothing is entered.
   *
   * @param map of the group
   * @param first page of the group
   * @param from page to begin with, of the group
   * @param limit below this page
   * @return the page; -1 if there is none
   */
  static int withRoom(MemorySegment map, int first, int fullness, int from, int limit) {
    int end = Math.min(SpaceMapPage.GROUP, limit - first);
    for (int i = from - first; i < end; i++) {
      if (i % Long.BYTES == 0
          && (Page.getLong(map, SpaceMapPage.offset(first + i)) & EIGHT_FULLNESS) == 0) {
        i += Long.BYTES - 1;
        continue;
      }
      int full = SpaceMapPage.bits(map, first + i) & SpaceMapPage.FULLNESS;
      if (full > 0 && full <= fullness) {
        return first + i;
      }
    }
    return -1;
  }

  /** Enters a free page of a tree's own extent, whose map this is; returns the page or -1. */
  static int enterOwn(MemorySegment map, Claims claims, int extent) {
    int first = ExtentMapPage.firstPage(extent);
    for (int page = first; page < first + ExtentMapPage.PAGES; page++) {
      if (enter(map, claims, page, 0)) {
        return page;
      }
    }
    return -1;
  }

  private static boolean enter(MemorySegment map, Claims claims, int page, int free) {
    if (SpaceMapPage.bits(map, page) != free || !claims.tryPage(page, free != 0)) {
      return false;
    }
    if (SpaceMapPage.bits(map, page) == free) {
      return true;
    }
    claims.leavePage(page);
    return false;
  }

  /**
   * Enters the first free extent.
   *
   * @param gam the range's
   * @param from extent to begin with, of the range
   * @param limit below this extent
   * @return the extent; -1 if there is none
   */
  public static int enterExtent(MemorySegment gam, Claims claims, int from, int limit) {
    int at = from;
    while (at < limit) {
      int extent = ExtentMapPage.next(gam, at, /* set= */ false);
      if (extent < 0 || extent >= limit) {
        return -1;
      }
      if (claims.tryExtent(extent)) {
        if (!ExtentMapPage.isSet(gam, extent)) {
          return extent;
        }
        claims.leaveExtent(extent);
      }
      at = extent + 1;
      if (ExtentMapPage.range(at) != ExtentMapPage.range(extent)) {
        return -1;
      }
    }
    return -1;
  }
}
