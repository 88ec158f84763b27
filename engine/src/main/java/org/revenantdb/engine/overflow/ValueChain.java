package org.revenantdb.engine.overflow;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.DamagedFileException;

/**
 * Checks which pages belong to one large value: they contain its origin and its writer, and their
 * number matches the place that refers to them. No other page is read, moved or freed as a part of
 * the value.
 *
 * <p>Immutable; it latches pages for its caller.
 */
final class ValueChain {
  private final BufferPool pool;
  private final int head;
  private final int origin;
  private final long writer;

  /**
   * Makes an object for the value of a head.
   *
   * @param page the head, latched by the caller
   * @throws DamagedFileException if it is not a head
   */
  ValueChain(BufferPool pool, MemorySegment page) {
    this.pool = pool;
    this.head = Page.id(page);
    if (Page.type(page) != Page.OVERFLOW_HEAD) {
      throw pool.damage(head, name(head) + " is not the first page of a large value");
    }
    this.origin = OverflowPage.origin(page);
    this.writer = OverflowPage.writer(page);
  }

  /**
   * Latches a page of the value shared. The caller may have the head and an index page latched.
   *
   * @param type {@link Page#OVERFLOW_INDEX} or {@link Page#OVERFLOW_DATA}
   * @param number the number of the data page, or of the first one that the index page names
   */
  int fixShared(int id, int type, int number) {
    demandMayWait(id, type);
    int frame = pool.fixShared(id);
    boolean good = false;
    try {
      demand(pool.page(frame), type, number);
      good = true;
      return frame;
    } finally {
      if (!good) {
        pool.unfixShared(frame);
      }
    }
  }

  /** Latches an index page, whose number is not known, exclusively. */
  int fixIndexExclusive(int id) {
    demandMayWait(id, Page.OVERFLOW_INDEX);
    int frame = pool.fixExclusive(id);
    boolean good = false;
    try {
      MemorySegment page = pool.page(frame);
      demand(page, Page.OVERFLOW_INDEX, OverflowPage.number(page));
      good = true;
      return frame;
    } finally {
      if (!good) {
        pool.unfixExclusive(frame);
      }
    }
  }

  /**
   * Demands that the next index page is further back in the value, so that a chain ends.
   *
   * @param index latched by the caller
   */
  void demandNextAscends(MemorySegment index) {
    int next = OverflowPage.nextIndex(index);
    if (next == 0) {
      return;
    }
    demandMayWait(next, Page.OVERFLOW_INDEX);
    int frame = pool.fixShared(next);
    try {
      MemorySegment page = pool.page(frame);
      demand(page, Page.OVERFLOW_INDEX, OverflowPage.number(page));
      if (OverflowPage.number(page) <= OverflowPage.number(index)) {
        throw pool.damage(
            next,
            "%s comes after page %d in the value of page %d, but lists earlier pages of that value"
                .formatted(name(next), Page.id(index), head));
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  /**
   * Demands that the page can be waited for: a thread does not wait for a page that it may have
   * latched itself.
   */
  private void demandMayWait(int id, int type) {
    if (id == head || pool.isOfOtherType(id, type, type)) {
      throw foreign(id, type);
    }
  }

  private void demand(MemorySegment page, int type, int number) {
    if (Page.type(page) != type
        || OverflowPage.origin(page) != origin
        || OverflowPage.writer(page) != writer
        || OverflowPage.number(page) != number) {
      throw foreign(Page.id(page), type);
    }
  }

  private DamagedFileException foreign(int id, int type) {
    return pool.damage(
        id,
        "%s is not the %s page that the large value at page %d refers to: it belongs to another value, or to another place in it"
            .formatted(name(id), type == Page.OVERFLOW_DATA ? "data" : "index", head));
  }

  private static String name(int id) {
    return "page " + Integer.toUnsignedString(id);
  }
}
