package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.NullUnmarked;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;

/**
 * Gives the jcstress tests the production search, claims and hint of the allocator over a separate
 * map, without pool and log. All pages but one are in use, and all extents.
 */
@NullUnmarked
public final class OpenMap {
  /** How many pages there are. */
  public static final int PAGES = 128;

  private static final int IN_USE = SpaceMapPage.MIXED | SpaceMapPage.ALLOCATED;

  private final MemorySegment map = MemorySegment.ofArray(new long[Page.SIZE / Long.BYTES]);
  private final MemorySegment gam = MemorySegment.ofArray(new long[Page.SIZE / Long.BYTES]);
  private final Claims claims = new Claims(null);
  private final Hint hint = new Hint();

  /** Has one free page, and one free extent of that number. */
  public OpenMap(int free) {
    for (int page = 0; page < PAGES; page++) {
      set(page, page == free ? SpaceMapPage.MIXED : IN_USE);
      extent(page, page != free);
    }
  }

  private void set(int page, int bits) {
    Page.putBitsShared(map, SpaceMapPage.offset(page), 0xFF, bits);
  }

  private void extent(int extent, boolean taken) {
    int mask = ExtentMapPage.mask(extent);
    Page.putBitsShared(gam, ExtentMapPage.offset(extent), mask, taken ? mask : 0);
  }

  /** Claims a page; -1 if there is none. */
  public int claim() {
    long seen = hint.seen();
    int page = FreeBytes.enterMixed(map, claims, 0, Hint.place(seen), PAGES);
    if (page >= 0) {
      hint.raise(seen, page + 1);
    }
    return page;
  }

  /** The broken claim: it sees a free page, enters it, and does not look again. */
  public int claimAtFirstSight() {
    for (int page = 0; page < PAGES; page++) {
      if (SpaceMapPage.bits(map, page) == SpaceMapPage.MIXED && claims.tryPage(page, true)) {
        return page;
      }
    }
    return -1;
  }

  /** The record that allocates a page is applied. */
  public void allocate(int page) {
    if (page >= 0) {
      set(page, IN_USE);
      claims.leavePage(page);
    }
  }

  /** Frees a page that is in use. */
  public void free(int page) {
    claims.page(page, true);
    set(page, SpaceMapPage.MIXED);
    claims.leavePage(page);
    hint.lower(page);
  }

  /** The broken release: it lowers the hint, but does not always change it. */
  public void freeWithoutTurn(int page) {
    claims.page(page, true);
    set(page, SpaceMapPage.MIXED);
    claims.leavePage(page);
    if (Hint.place(hint.seen()) > page) {
      hint.lower(page);
    }
  }

  /** Takes an extent: claims it, and applies its record; -1 if there is none. */
  public int takeExtent() {
    int taken = FreeBytes.enterExtent(gam, claims, 0, PAGES);
    if (taken >= 0) {
      extent(taken, true);
      claims.leaveExtent(taken);
    }
    return taken;
  }
}
