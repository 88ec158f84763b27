package org.revenantdb.engine.overflow;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Moves large values to free pages nearer to the beginning of the file, if they are at rest: their
 * transaction is decided, so that only their row leads to them (protocols.md §18, §26).
 *
 * <p>Only the cleaner uses it. Each step is one record of the system and leaves a whole value.
 * After it the old page is free on disk, but a reader of the value may still have its id. So the
 * page stays claimed until the owner of this object gives it back. The cleaner takes a slot of a
 * shared page when no reader can come back to it.
 */
public final class OverflowMove {
  /** Credit for log space that one step may use. */
  public static final int CREDIT = 48 * 1024;

  /** The number of data pages that one record moves. */
  private static final int PAGES_PER_RECORD = 4;

  /**
   * Credit for pages: new data pages, a space map for each of them and for each old one, and the
   * page that names them; and the pages that a claim changes: the new pages fill at most one
   * extent.
   */
  public static final int PAGES = 3 * PAGES_PER_RECORD + 1 + Allocator.PAGES_AT_ONCE;

  /** Receives the pages that are free on disk, but must not be claimed yet. */
  @FunctionalInterface
  public interface Retired {
    /** Called for a page that readers which began before this LSN may still read. */
    void page(int pageId, long lsn);
  }

  /** Returned if the value is not at rest, its row has changed, or there is no free page. */
  private static final int NOT_MOVED = -1;

  private final BufferPool pool;
  private final Allocator allocator;
  private final RecoverySpace space;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Retired retired;
  private final RoomyPages roomy;
  private final VersionMarks marks;
  private final LongPredicate committed;
  private final Descent descent = new Descent();

  /** The shared page to which a value was moved last; it may have room for another one. */
  private int lastTarget;

  private final int[] olds = new int[PAGES_PER_RECORD];
  private final int[] news = new int[PAGES_PER_RECORD];
  private final int[] frames = new int[PAGES_PER_RECORD];

  /**
   * Makes an object that shares its cleaner's mini-transaction.
   *
   * @param committed whether the transaction with this id has committed
   */
  public OverflowMove(
      BufferPool pool,
      Allocator allocator,
      RoomyPages roomy,
      VersionMarks marks,
      RecoverySpace space,
      MiniTransaction mini,
      MapChanges maps,
      LongPredicate committed,
      Retired retired) {
    this.pool = pool;
    this.allocator = allocator;
    this.roomy = roomy;
    this.marks = marks;
    this.space = space;
    this.mini = mini;
    this.maps = maps;
    this.committed = committed;
    this.retired = retired;
  }

  /**
   * Moves those pages of a value that lie at or behind a page. A value that shares such a page is
   * moved away from it; its slot then waits for the cleaner.
   *
   * @param key the key of the row whose value it was when the caller looked
   * @param value the reference at that time
   * @param from pages from this one on are moved
   * @param limit new pages are below this page
   * @return how many pages were moved
   */
  public int value(Tree tree, byte[] key, ValueReference value, int from, int limit) {
    if (!value.isShared()) {
      return chain(tree, key, value, from, limit);
    }
    return value.page() >= from ? Math.max(0, inCredit(() -> shared(tree, key, value, limit))) : 0;
  }

  private int chain(Tree tree, byte[] key, ValueReference value, int from, int limit) {
    int moved = 0;
    int first = value.page();
    if (first >= from) {
      first = inCredit(() -> head(tree, key, value, limit));
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

  /** Moves a value that shares its page to another such page, or to a new one. */
  private int shared(Tree tree, byte[] key, ValueReference value, int limit) {
    int leaf = tree.leafExclusive(key, descent);
    int target = -1; // frame; its page is before that of the value, and so latched first
    int claimed = -1;
    int old = -1;
    boolean logged = false;
    try {
      MemorySegment page = pool.page(leaf);
      int slot = SlottedSearch.search(page, key);
      if (slot < 0 || !names(page, Slotted.cell(page, slot), value)) {
        return NOT_MOVED;
      }
      long writer = LeafCell.writer(page, Slotted.cell(page, slot));
      if (!committed.test(writer)) {
        return NOT_MOVED; // an aborted row may refer to a page that holds another value by now
      }
      if (value.length() > SharedValues.MAX_VALUE) {
        return NOT_MOVED; // damaged
      }
      target = roomy.fixBelow((int) value.length(), limit, lastTarget);
      if (target < 0) {
        claimed = allocator.claimBelow(Unit.NONE, limit);
        if (claimed < 0) {
          return NOT_MOVED;
        }
        target = pool.fixNew(claimed);
      }
      if (isNoValue(value)) {
        return NOT_MOVED;
      }
      old = pool.fixExclusive(value.page());
      MemorySegment source = pool.page(old);
      if (!value.leadsTo(source, writer)
          || value.lengthOn(source) != value.length()
          || SharedValues.superseder(source, value.slot()) != 0) {
        return NOT_MOVED;
      }
      byte[] bytes =
          Page.bytes(source, SharedValues.offset(source, value.slot()), (int) value.length());
      mini.begin(0);
      maps.clear();
      ValueReference moved = put(target, claimed >= 0, writer, bytes);
      byte[] row = LeafCell.build(key, LeafCell.OVERFLOW, writer, moved.bytes());
      PageOps.replace(mini.change(leaf), slot, row);
      mini.end();
      RecordBuilder record = mini.change(old);
      PageOps.setLong(record, value.supersederOffset(), SharedValues.MOVED);
      maps.setFlags(record, source, value.page(), Page.FLAG_VERSIONS | Page.FLAG_GHOST);
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      lastTarget = moved.page();
      marks.mark(value.page());
      return 1;
    } finally {
      maps.unlatch();
      if (old >= 0) {
        pool.unfixExclusive(old);
      }
      if (target >= 0 && (logged || claimed < 0)) {
        roomy.hasRoom(pool.pageIdOf(target), SharedValues.fullness(pool.page(target)));
      }
      if (claimed >= 0) {
        giveUp(target, claimed, logged);
      } else if (target >= 0) {
        pool.unfixExclusive(target);
      }
      pool.unfixExclusive(leaf);
    }
  }

  /** Writes the record part of the page to which the value is moved; returns the new reference. */
  private ValueReference put(int frame, boolean isNew, long writer, byte[] value) {
    MemorySegment page = pool.page(frame);
    int pageId = pool.pageIdOf(frame);
    if (isNew) {
      MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
      SharedValues.build(image, /* flags= */ 0, writer, /* superseder= */ 0, value);
      PageOps.image(mini.format(frame), image, SharedValues.headLength(), value.length);
      mini.end();
      maps.set(pageId, SpaceMapPage.inUse(image, 0));
      return new ValueReference(pageId, 0, value.length);
    }
    int slot = SharedValues.nextSlot(page);
    PageOps.putValue(mini.change(frame), slot, writer, /* superseder= */ 0, value);
    mini.end();
    int free = SharedValues.freeAfterPut(page, slot, value.length);
    maps.set(pageId, SpaceMapPage.inUse(Page.flags(page)) | SharedValues.fullness(free));
    return new ValueReference(pageId, slot, value.length);
  }

  private int inCredit(IntSupplier step) {
    space.acquireToClean(CREDIT, PAGES);
    try {
      return step.getAsInt();
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  /**
   * Whether a head is at rest. Only the caller's thread frees pages, so a head's id still denotes a
   * head.
   */
  private boolean isAtRest(int headFrame) {
    MemorySegment page = pool.page(headFrame);
    return Page.type(page) == Page.OVERFLOW_HEAD && !Page.hasVersions(page);
  }

  /** Moves the head, to which the row refers. */
  private int head(Tree tree, byte[] key, ValueReference value, int limit) {
    int head = value.page();
    int leaf = tree.leafExclusive(key, descent);
    int headFrame = -1;
    try {
      MemorySegment page = pool.page(leaf);
      int slot = SlottedSearch.search(page, key);
      if (slot < 0 || !names(page, Slotted.cell(page, slot), value)) {
        return NOT_MOVED;
      }
      int cell = Slotted.cell(page, slot);
      long writer = LeafCell.writer(page, cell);
      if (isNoValue(value)) {
        return NOT_MOVED;
      }
      headFrame = pool.fixExclusive(head);
      // An aborted row may refer to a page that holds another value by now.
      if (!isAtRest(headFrame)
          || !committed.test(writer)
          || !value.leadsTo(pool.page(headFrame), writer)) {
        return NOT_MOVED;
      }
      int target = allocator.claimBelow(Unit.NONE, limit);
      if (target < 0) {
        return NOT_MOVED;
      }
      ValueReference moved = new ValueReference(target, ValueReference.WHOLE, value.length());
      byte[] row = LeafCell.build(key, LeafCell.OVERFLOW, writer, moved.bytes());
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

  /** Whether a row refers to a page of another kind, which the caller may have latched itself. */
  private boolean isNoValue(ValueReference value) {
    int type = value.isShared() ? Page.SHARED_VALUES : Page.OVERFLOW_HEAD;
    return pool.isOfOtherType(value.page(), type, type);
  }

  private static boolean names(MemorySegment page, int cell, ValueReference value) {
    return LeafCell.is(page, cell, LeafCell.OVERFLOW)
        && !LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && ValueReference.of(page, LeafCell.valueOffset(page, cell)).equals(value);
  }

  /** Writes the new place of a page, as the operations of a record part. */
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
      ValueChain chain = new ValueChain(pool, page);
      int frame = chain.fixIndexExclusive(container);
      try {
        chain.demandNextAscends(pool.page(frame));
        return OverflowPage.nextIndex(pool.page(frame));
      } finally {
        pool.unfixExclusive(frame);
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
      ValueChain chain = new ValueChain(pool, pool.page(headFrame));
      frame = container == head ? headFrame : chain.fixIndexExclusive(container);
      int index = OverflowPage.nextIndex(pool.page(frame));
      chain.demandNextAscends(pool.page(frame)); // so it is not the container
      indexFrame = chain.fixIndexExclusive(index);
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

  /**
   * Moves some of the data pages that the head or an index page names; returns 0 if none is left.
   */
  private int data(int head, int container, int from, int limit) {
    int headFrame = pool.fixExclusive(head);
    int frame = -1;
    try {
      if (!isAtRest(headFrame)) {
        return NOT_MOVED;
      }
      ValueChain chain = new ValueChain(pool, pool.page(headFrame));
      frame = container == head ? headFrame : chain.fixIndexExclusive(container);
      return data(chain, frame, from, limit);
    } finally {
      if (frame >= 0 && frame != headFrame) {
        pool.unfixExclusive(frame);
      }
      pool.unfixExclusive(headFrame);
    }
  }

  private int data(ValueChain chain, int frame, int from, int limit) {
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
        formatCopy(frames[i], chain, olds[i], OverflowPage.number(page) + places[i]);
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

  private void formatCopy(int fresh, ValueChain chain, int old, int number) {
    int frame = chain.fixShared(old, Page.OVERFLOW_DATA, number);
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
