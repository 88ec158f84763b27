package org.revenantdb.engine.overflow;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Moves pages of a large value to free pages further front, if the value is at rest: its head has
 * no version bit (protocols.md §18).
 *
 * <p>Only the cleaner calls it. Each step is one record of the system and leaves a whole value. The
 * old page is free on disk then, but whoever reads the value may have its id in his hands: it stays
 * claimed until the owner gives it back.
 */
public final class OverflowMove {
  /** Credit for log space that one step may use. */
  public static final int CREDIT = 48 * 1024;

  /** Data pages that one record moves. */
  private static final int PAGES_PER_RECORD = 4;

  /**
   * Credit for pages: new data pages, a space map for each of them and for each old one, and the
   * page that names them; and what claiming changes: they fill an extent at the most.
   */
  public static final int PAGES = 3 * PAGES_PER_RECORD + 1 + Allocator.PAGES_AT_ONCE;

  /** Is told which pages are free on disk, though not to be claimed yet. */
  @FunctionalInterface
  public interface Retired {
    /** Somebody who began before this LSN may read the page. */
    void page(int pageId, long lsn);
  }

  /** The value is not at rest, its row has changed, or there is no free page. */
  private static final int NOT_MOVED = -1;

  private final BufferPool pool;
  private final Allocator allocator;
  private final RecoverySpace space;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Retired retired;
  private final Descent descent = new Descent();
  private final int[] olds = new int[PAGES_PER_RECORD];
  private final int[] news = new int[PAGES_PER_RECORD];
  private final int[] frames = new int[PAGES_PER_RECORD];

  /** A mover that shares its cleaner's mini-transaction. */
  public OverflowMove(
      BufferPool pool,
      Allocator allocator,
      RecoverySpace space,
      MiniTransaction mini,
      MapChanges maps,
      Retired retired) {
    this.pool = pool;
    this.allocator = allocator;
    this.space = space;
    this.mini = mini;
    this.maps = maps;
    this.retired = retired;
  }

  /**
   * Moves those pages of a value that lie behind a page.
   *
   * @param key of the row whose value it was when the caller looked
   * @param head first page of the value
   * @param from pages from this one on are moved
   * @param limit below this page
   * @return how many were moved
   */
  public int value(Tree tree, byte[] key, int head, int from, int limit) {
    int moved = 0;
    int first = head;
    if (head >= from) {
      first = inCredit(() -> head(tree, key, head, limit));
      if (first == NOT_MOVED) {
        return 0;
      }
      moved++;
    }
    int named = first;
    int at = first;
    while (at != 0) {
      int container = at;
      int n;
      do {
        n = inCredit(() -> data(named, container, from, limit));
        moved += Math.max(0, n);
      } while (n > 0);
      int next = n == NOT_MOVED ? NOT_MOVED : next(named, container);
      if (next == NOT_MOVED) {
        return moved;
      }
      if (next >= from && next != 0) {
        next = inCredit(() -> index(named, container, limit));
        if (next == NOT_MOVED) {
          return moved;
        }
        moved++;
      }
      at = next;
    }
    return moved;
  }

  private int inCredit(IntSupplier step) {
    space.acquireToClean(CREDIT, PAGES);
    try {
      return step.getAsInt();
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  /** The caller's thread frees pages, and nobody else does: a head's id still means a head. */
  private boolean isAtRest(int headFrame) {
    MemorySegment page = pool.page(headFrame);
    return Page.type(page) == Page.OVERFLOW_HEAD && !Page.hasVersions(page);
  }

  /** Moves the head, which the row names. */
  private int head(Tree tree, byte[] key, int head, int limit) {
    int leaf = tree.leafExclusive(key, descent);
    int headFrame = -1;
    try {
      MemorySegment page = pool.page(leaf);
      int slot = Slotted.search(page, key);
      if (slot < 0 || !names(page, Slotted.cell(page, slot), head)) {
        return NOT_MOVED;
      }
      headFrame = pool.fixExclusive(head);
      if (!isAtRest(headFrame)) {
        return NOT_MOVED;
      }
      int target = allocator.claimBelow(Unit.NONE, limit);
      if (target < 0) {
        return NOT_MOVED;
      }
      int cell = Slotted.cell(page, slot);
      long length = LeafCell.referenceLength(page, LeafCell.valueOffset(page, cell));
      byte[] row =
          LeafCell.build(
              key,
              LeafCell.OVERFLOW,
              LeafCell.writer(page, cell),
              LeafCell.reference(target, length));
      MemorySegment source = pool.page(headFrame);
      int inline = OverflowPage.inline(source);
      int ids = OverflowPage.count(source);
      moveOne(
          head,
          target,
          source,
          OverflowPage.DATA - Page.BODY + inline,
          4 * ids,
          leaf,
          record -> PageOps.replace(record, slot, row));
      return target;
    } finally {
      if (headFrame >= 0) {
        pool.unfixExclusive(headFrame);
      }
      pool.unfixExclusive(leaf);
    }
  }

  private static boolean names(MemorySegment page, int cell, int head) {
    return LeafCell.is(page, cell, LeafCell.OVERFLOW)
        && !LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && LeafCell.referenceHead(page, LeafCell.valueOffset(page, cell)) == head;
  }

  /** Writes, as the operations of a part, where a page is now. */
  @FunctionalInterface
  private interface Pointer {
    void write(RecordBuilder record);
  }

  private void moveOne(
      int old,
      int target,
      MemorySegment source,
      int headBytes,
      int tailBytes,
      int namingFrame,
      Pointer pointer) {
    int fresh = -1;
    boolean logged = false;
    try {
      fresh = pool.fixNew(target);
      mini.begin(0);
      RecordBuilder record = mini.format(fresh);
      PageOps.image(record, source, headBytes, tailBytes);
      mini.end();
      pointer.write(mini.change(namingFrame));
      mini.end();
      mini.free(old);
      maps.clear();
      maps.set(old, 0);
      maps.set(target, SpaceMapPage.ALLOCATED);
      maps.latchAndWrite(mini);
      long lsn = mini.commit();
      logged = true;
      retired.page(old, lsn);
    } finally {
      maps.unlatch();
      giveUp(fresh, target, logged);
    }
  }

  private void giveUp(int fresh, int target, boolean logged) {
    if (logged) {
      pool.unfixExclusive(fresh);
      return;
    }
    if (fresh >= 0) {
      pool.discard(fresh);
    }
    allocator.unclaim(target);
  }

  /** The next index page that a page of the value names, 0 for none. */
  private int next(int head, int container) {
    int headFrame = pool.fixShared(head);
    try {
      MemorySegment page = pool.page(headFrame);
      if (Page.type(page) != Page.OVERFLOW_HEAD || Page.hasVersions(page)) {
        return NOT_MOVED;
      }
      if (container == head) {
        return OverflowPage.nextIndex(page);
      }
      int frame = pool.fixShared(container);
      try {
        return OverflowPage.nextIndex(pool.page(frame));
      } finally {
        pool.unfixShared(frame);
      }
    } finally {
      pool.unfixShared(headFrame);
    }
  }

  /** Moves the index page that the head, or another index page, names as the next one. */
  private int index(int head, int container, int limit) {
    int headFrame = pool.fixExclusive(head);
    int frame = -1;
    int indexFrame = -1;
    try {
      if (!isAtRest(headFrame)) {
        return NOT_MOVED;
      }
      frame = container == head ? headFrame : pool.fixExclusive(container);
      int index = OverflowPage.nextIndex(pool.page(frame));
      indexFrame = pool.fixExclusive(index);
      int target = allocator.claimBelow(Unit.NONE, limit);
      if (target < 0) {
        return NOT_MOVED;
      }
      MemorySegment source = pool.page(indexFrame);
      moveOne(
          index,
          target,
          source,
          OverflowPage.DATA - Page.BODY,
          4 * OverflowPage.count(source),
          frame,
          record -> PageOps.setInt(record, OverflowPage.NEXT_INDEX, target));
      return target;
    } finally {
      if (indexFrame >= 0) {
        pool.unfixExclusive(indexFrame);
      }
      if (frame >= 0 && frame != headFrame) {
        pool.unfixExclusive(frame);
      }
      pool.unfixExclusive(headFrame);
    }
  }

  /** Moves some of the data pages that the head or an index page names; 0 when none is left. */
  private int data(int head, int container, int from, int limit) {
    int headFrame = pool.fixExclusive(head);
    int frame = -1;
    try {
      if (!isAtRest(headFrame)) {
        return NOT_MOVED;
      }
      frame = container == head ? headFrame : pool.fixExclusive(container);
      return data(frame, from, limit);
    } finally {
      if (frame >= 0 && frame != headFrame) {
        pool.unfixExclusive(frame);
      }
      pool.unfixExclusive(headFrame);
    }
  }

  private int data(int frame, int from, int limit) {
    MemorySegment page = pool.page(frame);
    int[] places = new int[PAGES_PER_RECORD];
    int count = 0;
    int fixed = 0;
    boolean full = false;
    boolean logged = false;
    try {
      int ids = OverflowPage.count(page);
      for (int i = 0; i < ids && count < PAGES_PER_RECORD && !full; i++) {
        if (OverflowPage.id(page, i) < from) {
          continue;
        }
        int target = allocator.claimBelow(Unit.NONE, limit);
        full = target < 0;
        if (!full) {
          places[count] = i;
          olds[count] = OverflowPage.id(page, i);
          news[count++] = target;
        }
      }
      if (count == 0) {
        return full ? NOT_MOVED : 0;
      }
      mini.begin(0);
      maps.clear();
      for (int i = 0; i < count; i++) {
        frames[i] = pool.fixNew(news[i]);
        fixed++;
        formatCopy(frames[i], olds[i]);
        maps.set(olds[i], 0);
        maps.set(news[i], SpaceMapPage.ALLOCATED);
      }
      RecordBuilder record = mini.change(frame);
      for (int i = 0; i < count; i++) {
        PageOps.setInt(record, OverflowPage.idOffset(places[i]), news[i]);
      }
      mini.end();
      for (int i = 0; i < count; i++) {
        mini.free(olds[i]);
      }
      maps.latchAndWrite(mini);
      long lsn = mini.commit();
      logged = true;
      for (int i = 0; i < count; i++) {
        retired.page(olds[i], lsn);
      }
      return count;
    } finally {
      maps.unlatch();
      for (int i = 0; i < count; i++) {
        giveUp(i < fixed ? frames[i] : -1, news[i], logged);
      }
    }
  }

  private void formatCopy(int fresh, int old) {
    int frame = pool.fixShared(old);
    try {
      MemorySegment source = pool.page(frame);
      RecordBuilder record = mini.format(fresh);
      PageOps.image(record, source, OverflowPage.DATA - Page.BODY + OverflowPage.count(source), 0);
      mini.end();
    } finally {
      pool.unfixShared(frame);
    }
  }
}
