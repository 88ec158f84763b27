package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/**
 * Pages with a bit for each extent of a range, after a header of 64 bytes: the GAM, which marks the
 * extents that are not free, and the IAM pages of a tree, which mark the tree's extents.
 *
 * <pre>
 *   IAM: 20 u32 table   24 u32 range   28 u32 next IAM page of the tree, 0: none
 * </pre>
 *
 * <p>Source: "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free Algorithms" (VLDB
 * 2020), 2.1.2 and 2.1.3.
 */
public final class ExtentMapPage {
  /** Pages of an extent. */
  public static final int PAGES = 8;

  /** Extents of a group of the space maps. */
  public static final int GROUP = SpaceMapPage.GROUP / PAGES;

  /** Extents of a range: as many as a page has bits. */
  public static final int RANGE = (Page.SIZE - SpaceMapPage.HEADER) * Byte.SIZE;

  /** Position of a GAM among the pages of its range. */
  public static final int POSITION = 4;

  /** Offset of the table that an IAM page belongs to. */
  public static final int TABLE = 20;

  /** Offset of the range that an IAM page is for. */
  public static final int RANGE_NUMBER = 24;

  /** Offset of the next IAM page of the tree. */
  public static final int NEXT = 28;

  private ExtentMapPage() {}

  /** The extent of a page. */
  public static int extentOf(int pageId) {
    return pageId / PAGES;
  }

  /** First page of an extent. */
  public static int firstPage(int extent) {
    return extent * PAGES;
  }

  /** The range of an extent. */
  public static int range(int extent) {
    return extent / RANGE;
  }

  /** The GAM that covers an extent. */
  public static int gamOf(int extent) {
    return range(extent) * RANGE * PAGES + POSITION;
  }

  /** Whether a group of pages is the first of a range, and has a GAM. */
  public static boolean beginsRange(int group) {
    return group % (RANGE / GROUP) == 0;
  }

  /** Whether an extent is the first of a group, which has the group's map. */
  public static boolean hasMap(int extent) {
    return extent % GROUP == 0;
  }

  /** Offset of the byte that has an extent's bit. */
  public static int offset(int extent) {
    return SpaceMapPage.HEADER + extent % RANGE / Byte.SIZE;
  }

  /** The bit of an extent in its byte. */
  public static int mask(int extent) {
    return 1 << (extent % Byte.SIZE);
  }

  /** Whether the bit of an extent is set. Other threads may change other bits meanwhile. */
  public static boolean isSet(MemorySegment page, int extent) {
    return (Page.getByteShared(page, offset(extent)) & mask(extent)) != 0;
  }

  /**
   * The first extent from one on whose bit is set, or is not.
   *
   * @param from an extent of the page's range
   * @return -1 if there is none in the range
   */
  public static int next(MemorySegment page, int from, boolean set) {
    int skip = set ? 0 : 0xFF;
    int base = from - from % RANGE;
    int bits = (Page.getByteShared(page, offset(from)) ^ skip) & (-mask(from) & 0xFF);
    for (int at = offset(from); at < Page.SIZE; ) {
      if (bits != 0) {
        return base + (at - SpaceMapPage.HEADER) * Byte.SIZE + Integer.numberOfTrailingZeros(bits);
      }
      at++;
      long same = set ? 0 : -1;
      while (at % Long.BYTES == 0 && at < Page.SIZE && Page.getLong(page, at) == same) {
        at += Long.BYTES;
      }
      bits = at < Page.SIZE ? Page.getByteShared(page, at) ^ skip : 0;
    }
    return -1;
  }

  /** The table of an IAM page. */
  public static int table(MemorySegment page) {
    return Page.getInt(page, TABLE);
  }

  /** The range that an IAM page is for. */
  public static int rangeNumber(MemorySegment page) {
    return Page.getInt(page, RANGE_NUMBER);
  }

  /** The next IAM page of the tree, 0 if it is the last. */
  public static int nextPage(MemorySegment page) {
    return Page.getInt(page, NEXT);
  }
}
