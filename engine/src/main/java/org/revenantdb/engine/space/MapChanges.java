package org.revenantdb.engine.space;

import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The space-map bytes that one mini-transaction sets: collects them, latches their maps in the
 * order of page ids (R19: maps come last), writes their parts. One thread at a time; reusable.
 *
 * <p>The maps are latched shared, so that no page is the place where all who allocate, free or mark
 * have to queue: each byte has one owner, and is stored by a compare-and-set of its word.
 *
 * <p>Source: "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free Algorithms" (VLDB
 * 2020), Figures 3 and 4; {@code docs/protocols.md} §19.
 */
public final class MapChanges {
  /**
   * The original method, Figure 3: the maps are latched exclusively for the same steps. For
   * measurements alone; what is in the files is the same.
   */
  private static final boolean EXCLUSIVE = Boolean.getBoolean("org.revenantdb.exclusiveSpaceMaps");

  private final BufferPool pool;
  private long[] changes = new long[16];
  private int count;
  private int[] frames = new int[4];
  private int latched;

  /** Changes of maps that are in this pool. */
  public MapChanges(BufferPool pool) {
    this.pool = pool;
  }

  /** Starts anew. */
  public void clear() {
    if (latched != 0) {
      throw new IllegalStateException("space maps are still latched");
    }
    count = 0;
  }

  /**
   * Notes that the byte of a page becomes this. The caller owns the page: its latch, or its claim.
   */
  public void set(int pageId, int value) {
    if (count == changes.length) {
      changes = Arrays.copyOf(changes, 2 * count);
    }
    changes[count++] = Integer.toUnsignedLong(pageId) << 8 | value;
  }

  /** Whether nothing was noted. */
  public boolean isEmpty() {
    return count == 0;
  }

  /**
   * Latches all maps and writes their parts into the record. {@link #unlatch} follows, come what
   * may.
   */
  public void latchAndWrite(MiniTransaction mini) {
    Arrays.sort(changes, 0, count);
    int i = 0;
    while (i < count) {
      int map = SpaceMapPage.mapOf((int) (changes[i] >>> 8));
      int frame = EXCLUSIVE ? pool.fixExclusive(map) : pool.fixShared(map);
      if (latched == frames.length) {
        frames = Arrays.copyOf(frames, 2 * latched);
      }
      frames[latched++] = frame;
      RecordBuilder record = EXCLUSIVE ? mini.change(frame) : mini.changeShared(frame);
      for (; i < count && SpaceMapPage.mapOf((int) (changes[i] >>> 8)) == map; i++) {
        PageOps.setByte(
            record, SpaceMapPage.offset((int) (changes[i] >>> 8)), (int) changes[i] & 0xFF);
      }
      mini.end();
    }
  }

  /** Releases the latches of the maps. */
  public void unlatch() {
    while (latched > 0) {
      int frame = frames[--latched];
      if (EXCLUSIVE) {
        pool.unfixExclusive(frame);
      } else {
        pool.unfixShared(frame);
      }
    }
  }
}
