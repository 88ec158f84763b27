package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.PageBitmap;

/**
 * Compares GAM, IAM pages and space maps with each other, and with the pages that were found in
 * trees (protocols.md §25, X1 to X3). For one check and one thread.
 */
final class ExtentCheck {
  private final CheckPages pages;

  /** The owners of extents, by the lists. */
  private final Map<Integer, Integer> owners = new HashMap<>();

  /** Pages of trees that lie in the tree's own extents. */
  private final PageBitmap atHome = new PageBitmap();

  private final PageBitmap lists = new PageBitmap();
  private final PageBitmap mixed = new PageBitmap();

  ExtentCheck(CheckPages pages) {
    this.pages = pages;
  }

  /** Walks the lists of a tree, before its pages. */
  void lists(int first, int table, String of) {
    PageBitmap ranges = new PageBitmap();
    for (int id = first; id != 0; ) {
      String what = "list of extents" + of;
      if (!pages.reach(id, what)) {
        return;
      }
      MemorySegment list = pages.read(id, what);
      if (list == null) {
        return;
      }
      int range = ExtentMapPage.rangeNumber(list);
      if (Page.type(list) != Page.IAM
          || ExtentMapPage.table(list) != table
          || range < 0
          || range > ExtentMapPage.range(Integer.MAX_VALUE / ExtentMapPage.PAGES)) {
        pages.problem("page " + id + " is not a list of extents" + of);
        return;
      }
      if (!ranges.set(range)) {
        pages.problem("page " + id + " is the second list of range " + range + of);
      }
      lists.set(id);
      int base = range * ExtentMapPage.RANGE;
      for (int i = 0; i < ExtentMapPage.RANGE; i++) {
        if (ExtentMapPage.isSet(list, base + i)) {
          own(base + i, table, of);
        }
      }
      id = ExtentMapPage.nextPage(list);
    }
  }

  private void own(int extent, int table, String of) {
    Integer other = owners.putIfAbsent(extent, table);
    if (other != null) {
      pages.problem("extent " + extent + of + " is listed twice, the other time by table " + other);
    }
  }

  /** Called when a page of a tree was reached. */
  void treePage(int id, int table) {
    Integer owner = owners.get(ExtentMapPage.extentOf(id));
    if (owner != null && owner != table) {
      pages.problem("page " + id + " of table " + table + " lies in an extent of table " + owner);
    } else if (owner != null) {
      atHome.set(id);
    }
  }

  /** Checks all extents of a group, after all trees have been walked. */
  void map(MemorySegment map, int first, int limit) {
    for (int at = first; at < first + SpaceMapPage.GROUP && at < limit; at += ExtentMapPage.PAGES) {
      int extent = ExtentMapPage.extentOf(at);
      boolean isMixed = (SpaceMapPage.bits(map, at) & SpaceMapPage.MIXED) != 0;
      if (isMixed) {
        mixed.set(extent);
      }
      for (int page = at; page < at + ExtentMapPage.PAGES; page++) {
        page(page, extent, SpaceMapPage.bits(map, page), isMixed);
      }
    }
  }

  private void page(int page, int extent, int bits, boolean isMixed) {
    boolean isAllocated = (bits & SpaceMapPage.ALLOCATED) != 0;
    if (isMixed != ((bits & SpaceMapPage.MIXED) != 0)) {
      pages.problem(
          "extent " + extent + " is marked as mixed by some of its pages, but not by page " + page);
    } else if (!isAllocated && (bits & ~SpaceMapPage.MIXED) != 0) {
      pages.problem("page " + page + " is free, but its byte in the space map is " + bits);
    } else if (isAllocated && !pages.isUnreadable()) {
      if (!isMixed && !atHome.contains(page)) {
        pages.problem(
            "page "
                + page
                + " lies in extent "
                + extent
                + ", but not in the tree of its owner: "
                + (owners.containsKey(extent)
                    ? "it belongs to table " + owners.get(extent)
                    : "it has no owner"));
      }
      if (((bits & SpaceMapPage.IAM) != 0) != lists.contains(page)) {
        pages.problem(
            "page "
                + page
                + ": its byte in the space map, "
                + bits
                + ", does not match whether it is a list of extents");
      }
    }
  }

  /** Compares the GAMs with the extents that were found. */
  void compare(int limit) {
    int end = ExtentMapPage.extentOf(limit);
    for (int from = 0; from < end; from += ExtentMapPage.RANGE) {
      int id = ExtentMapPage.gamOf(from);
      MemorySegment gam = pages.read(id, "GAM");
      if (gam == null) {
        continue;
      }
      if (Page.type(gam) != Page.GAM) {
        pages.problem("page " + id + " should be a GAM, and has type " + Page.type(gam));
        continue;
      }
      for (int extent = from; extent < Math.min(end, from + ExtentMapPage.RANGE); extent++) {
        compare(gam, extent);
      }
    }
    owners.keySet().stream()
        .filter(extent -> extent >= end)
        .forEach(extent ->
            pages.problem("extent " + extent + " is listed, but lies beyond the end of the file"));
  }

  private void compare(MemorySegment gam, int extent) {
    boolean isMixed = mixed.contains(extent);
    Integer owner = owners.get(extent);
    if (isMixed && owner != null) {
      pages.problem("extent " + extent + " is mixed, but table " + owner + " lists it");
    }
    boolean taken = ExtentMapPage.isSet(gam, extent);
    if (taken && !isMixed && owner == null && !pages.isUnreadable()) {
      pages.problem("extent " + extent + " is allocated, but no table lists it: it has leaked");
    } else if (!taken && (isMixed || owner != null)) {
      pages.problem("extent " + extent + " is in use, but its GAM marks it as free");
    }
  }
}
