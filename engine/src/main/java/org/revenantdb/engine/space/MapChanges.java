package org.revenantdb.engine.space;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The bytes and bits of maps that one mini-transaction sets. It collects them, latches their maps
 * in order (R19: GAM, IAM, space maps, each by page id, and after all other pages), and writes
 * their parts. Reusable; for one thread at a time.
 *
 * <p>The maps are latched shared. Otherwise all threads that allocate, free or mark would queue at
 * one page. Each byte, or bit, has one owner, and is stored by a compare-and-set of its word.
 *
 * <p>A page that is freed is entered in the {@link Claims} before the record, and stays there until
 * its owner calls the {@link Allocator} to free it. A page that is allocated leaves the claims when
 * the record is applied.
 *
 * <p>Source: "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free Algorithms" (VLDB
 * 2020), Figures 3 and 4; {@code docs/protocols.md} §19, §25.
 */
public final class MapChanges {
  /*
   * A change     kind << 57 | page id of the map << 25 | place in the map << 9 | value: so they sort in the order of latches.
   *              The place is that of the byte, or of the bit: both are below 2^16. A value with WHOLE brings its MIXED.
   */
  private static final int GAM = 0;
  private static final int IAM = 1;
  private static final int BYTE = 2;
  private static final int WHOLE = 256;

  private final BufferPool pool;
  private final Claims claims;
  private long[] changes = new long[16];
  private int count;
  private int[] frames = new int[4];
  private int latched;

  /** Pages that are allocated or freed, and the frames of their maps. */
  private int[] owned = new int[8];

  private int[] ownedMaps = new int[8];
  private int ownedCount;

  /**
   * Makes an object for changes of maps in this pool.
   *
   * @param claims the claims of threads that allocate there
   */
  public MapChanges(BufferPool pool, Claims claims) {
    this.pool = pool;
    this.claims = claims;
  }

  /** Removes all changes. */
  public void clear() {
    if (latched != 0) {
      throw new IllegalStateException("space maps are still latched");
    }
    count = 0;
    ownedCount = 0;
  }

  /**
   * Records the new byte of a page, except its {@link SpaceMapPage#MIXED}, which does not change.
   * The caller owns the page by its latch or its claim.
   */
  public void set(int pageId, int value) {
    add(BYTE, SpaceMapPage.mapOf(pageId), pageId % SpaceMapPage.GROUP, value);
  }

  /**
   * Writes the flags of a page's header, and records the byte that mirrors them and, for a
   * shared-values page, its present fullness.
   *
   * @param record where the part of the page is being written
   * @param page latched exclusively, or built by the caller
   */
  public void setFlags(RecordBuilder record, MemorySegment page, int pageId, int flags) {
    PageOps.setByte(record, Page.FLAGS, flags);
    set(pageId, SpaceMapPage.inUse(page, flags));
  }

  /**
   * Records that an extent is taken, or freed. The caller has entered it, and its pages if it is
   * freed.
   *
   * @param iam the page that lists it; 0: it is mixed
   */
  void extent(int extent, int iam, boolean taken) {
    gam(extent, taken);
    if (iam != 0) {
      add(IAM, iam, extent % ExtentMapPage.RANGE, taken ? 1 : 0);
      return;
    }
    int first = ExtentMapPage.firstPage(extent);
    for (int page = first; page < first + ExtentMapPage.PAGES; page++) {
      int value = WHOLE | (taken ? SpaceMapPage.MIXED : 0);
      add(BYTE, SpaceMapPage.mapOf(page), page % SpaceMapPage.GROUP, value);
    }
  }

  /** Records only the bit of an extent in the GAM. */
  public void gam(int extent, boolean taken) {
    add(GAM, ExtentMapPage.gamOf(extent), extent % ExtentMapPage.RANGE, taken ? 1 : 0);
  }

  private void add(int kind, int map, int place, int value) {
    if (count == changes.length) {
      changes = Arrays.copyOf(changes, 2 * count);
    }
    changes[count++] =
        (long) kind << 57 | Integer.toUnsignedLong(map) << 25 | (long) place << 9 | value;
  }

  /** Whether there are no changes. */
  public boolean isEmpty() {
    return count == 0;
  }

  /**
   * Latches all maps and writes their parts into the record. {@link #unlatch} must follow in any
   * case.
   */
  public void latchAndWrite(MiniTransaction mini) {
    Arrays.sort(changes, 0, count);
    ownedCount = 0;
    int i = 0;
    while (i < count) {
      long map = changes[i] >>> 25;
      if (latched == frames.length) {
        frames = Arrays.copyOf(frames, 2 * latched); // before another one is latched: it may fail
      }
      int frame = pool.fixShared((int) map);
      frames[latched++] = frame;
      RecordBuilder record = mini.changeShared(frame);
      for (; i < count && changes[i] >>> 25 == map; i++) {
        int place = (int) (changes[i] >>> 9) & 0xFFFF;
        int value = (int) changes[i] & 0x1FF;
        if (map >>> 32 == BYTE) {
          setByte(record, frame, (int) map, place, value);
        } else {
          int mask = ExtentMapPage.mask(place);
          PageOps.setBits(record, ExtentMapPage.offset(place), mask, value == 0 ? 0 : mask);
        }
      }
      mini.end();
    }
  }

  private void setByte(RecordBuilder record, int frame, int map, int place, int value) {
    int page = map - SpaceMapPage.POSITION + place;
    int offset = SpaceMapPage.offset(page);
    if ((value & WHOLE) != 0) {
      PageOps.setByte(record, offset, value & 0xFF);
      return;
    }
    int before = SpaceMapPage.bits(pool.page(frame), page);
    PageOps.setByte(record, offset, value | (before & SpaceMapPage.MIXED));
    if (((before ^ value) & SpaceMapPage.ALLOCATED) == 0) {
      return;
    }
    if (ownedCount == owned.length) {
      int[] more = Arrays.copyOf(owned, 2 * ownedCount);
      ownedMaps = Arrays.copyOf(ownedMaps, 2 * ownedCount);
      owned = more; // last: if memory runs out in between, the shorter array counts
    }
    if ((value & SpaceMapPage.ALLOCATED) == 0) {
      claims.page(page, (before & SpaceMapPage.MIXED) != 0);
    }
    owned[ownedCount] = page;
    ownedMaps[ownedCount++] = frame;
  }

  /**
   * Releases the latches of the maps. Pages that are now in use according to the maps leave the
   * claims: those that were allocated, and, if there was no record, those that were to be freed.
   */
  public void unlatch() {
    try {
      while (ownedCount > 0) {
        int page = owned[--ownedCount];
        MemorySegment map = pool.page(ownedMaps[ownedCount]);
        if ((SpaceMapPage.bits(map, page) & SpaceMapPage.ALLOCATED) != 0) {
          claims.leavePage(page);
        }
      }
    } finally {
      ownedCount = 0;
      while (latched > 0) {
        pool.unfixShared(frames[--latched]);
      }
    }
  }
}
