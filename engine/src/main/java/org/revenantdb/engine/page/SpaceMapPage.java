package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/**
 * The space map of a group of pages: one byte for each page, after a header of 64 bytes.
 *
 * <pre>  bits 0-2 fullness   3 ghost   4 IAM   5 mixed   6 allocated   7 version
 * </pre>
 *
 * <p>Bits as in Figure 1 of "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free
 * Algorithms" (VLDB 2020).
 */
public final class SpaceMapPage {
  /** Bytes before those of the pages. */
  public static final int HEADER = 64;

  /** Pages of a group. */
  public static final int GROUP = Page.SIZE - HEADER;

  /** Position of a group's map within the group. */
  public static final int POSITION = 3;

  /**
   * Bits: the fullness of a used shared-values page, from 1, by {@link SharedValues#fullness}; 0
   * for all other pages.
   */
  public static final int FULLNESS = 7;

  /**
   * Bit, only with {@link #VERSION}: the page has something that only the cleaner can remove: a
   * deleted row or a large value.
   */
  public static final int GHOST = 8;

  /** Bit: the page is a list of a tree's extents. */
  public static final int IAM = 16;

  /** Bit: the page's extent is mixed, whether the page is in use or not. */
  public static final int MIXED = 32;

  /** Bit: the page is in use. */
  public static final int ALLOCATED = 64;

  /** Bit: rows or a value on the page may have to be cleaned. */
  public static final int VERSION = 128;

  private static final long EACH = 0x0101010101010101L;

  private SpaceMapPage() {}

  /** The group of a page. */
  public static int group(int pageId) {
    return pageId / GROUP;
  }

  /** The space map page that covers a page. */
  public static int mapOf(int pageId) {
    return group(pageId) * GROUP + POSITION;
  }

  /** Offset of a page's byte in its space map page. */
  public static int offset(int pageId) {
    return HEADER + pageId % GROUP;
  }

  /** The byte of a page in use whose header has these flags. */
  public static int inUse(int flags) {
    return ALLOCATED
        | ((flags & Page.FLAG_VERSIONS) != 0 ? VERSION : 0)
        | ((flags & Page.FLAG_GHOST) != 0 ? GHOST : 0);
  }

  /** The byte of a used page with these flags and its present content. */
  public static int inUse(MemorySegment page, int flags) {
    return inUse(flags) | SharedValues.fullness(page);
  }

  /** The flags in the header of a page with this byte. */
  public static int flags(int bits) {
    return ((bits & VERSION) != 0 ? Page.FLAG_VERSIONS : 0)
        | ((bits & GHOST) != 0 ? Page.FLAG_GHOST : 0);
  }

  /** The byte of a page in a latched space map; other threads may change other bytes of it. */
  public static int bits(MemorySegment map, int pageId) {
    return Page.getByteShared(map, offset(pageId));
  }

  /**
   * Whether one of eight bytes has a combination of bits that the engine never writes: a free page
   * with more than {@link #MIXED}, a ghost without {@link #VERSION}, a fullness above 4, or a
   * fullness of a page that lists extents.
   *
   * @param bytes of eight pages, in any order
   */
  static boolean hasIllegalByte(long bytes) {
    // Bit n of each byte is shifted to bit 0; bits from the next byte are masked away.
    long shared = bytes | (bytes >>> 1) | (bytes >>> 2);
    long ghost = bytes >>> 3;
    long list = bytes >>> 4;
    long allocated = bytes >>> 6;
    long version = bytes >>> 7;
    long illegal =
        ((shared | ghost | list | version) & ~allocated)
            | (ghost & ~version)
            | ((bytes >>> 2) & (bytes | (bytes >>> 1)))
            | (list & shared);
    return (illegal & EACH) != 0;
  }
}
