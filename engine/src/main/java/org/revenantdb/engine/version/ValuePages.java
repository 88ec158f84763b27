package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The large values that one record enters in rows, or removes from them: it sets or clears the
 * superseder of each. Their pages are latched in the order of their ids, after the leaf (R19). The
 * values of one page form one part of the record. Reusable; for one thread at a time.
 */
final class ValuePages {
  private record Change(ValueReference value, long writer, long superseder) {
    int page() {
      return value.page();
    }
  }

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final List<Change> changes = new ArrayList<>(2);

  /** Frames of their pages, each once, in order. */
  private int[] frames = new int[2];

  private int latched;

  /** Makes an object for the records of this mini-transaction. */
  ValuePages(Storage storage, MiniTransaction mini, MapChanges maps) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = mini;
    this.maps = maps;
  }

  /** Removes all values. */
  void clear() {
    changes.clear();
  }

  /** Adds a value of a writer that gets this superseder, 0 for none. */
  void add(ValueReference value, long writer, long superseder) {
    changes.add(new Change(value, writer, superseder));
  }

  boolean isEmpty() {
    return changes.isEmpty();
  }

  /**
   * Latches the pages and checks that the values are there; {@link #unlatch} must follow in any
   * case.
   */
  void latch() {
    if (changes.isEmpty()) {
      return;
    }
    changes.sort(Comparator.comparingInt(Change::page));
    if (frames.length < changes.size()) {
      frames = new int[changes.size()];
    }
    int last = 0;
    for (Change change : changes) {
      ValueReference value = change.value;
      boolean isNone = false;
      if (latched == 0 || change.page() != last) {
        // A page of another kind may be one that the caller has latched.
        isNone = pool.isOfOtherType(change.page(), Page.OVERFLOW_HEAD, Page.SHARED_VALUES);
        if (!isNone) {
          frames[latched] = pool.fixExclusive(change.page());
          latched++;
          last = change.page();
        }
      }
      if (isNone || !value.leadsTo(pool.page(frames[latched - 1]), change.writer)) {
        throw pool.damage(
            value.page(),
            value.place()
                + " has no large value of transaction "
                + Long.toUnsignedString(change.writer)
                + ", but a row refers to it");
      }
    }
  }

  /** Writes the parts of the pages, version and ghost bits included. */
  void write() {
    int next = 0;
    for (int i = 0; i < latched; i++) {
      MemorySegment page = pool.page(frames[i]);
      int id = pool.pageIdOf(frames[i]);
      RecordBuilder record = mini.change(frames[i]);
      for (; next < changes.size() && changes.get(next).page() == id; next++) {
        Change change = changes.get(next);
        PageOps.setLong(record, change.value.supersederOffset(), change.superseder);
      }
      int flags = Page.FLAG_VERSIONS | Page.FLAG_GHOST;
      if (Page.flags(page) != flags) {
        maps.setFlags(record, page, id, flags);
      }
      mini.end();
    }
  }

  /**
   * Marks the pages for the cleaner, after the record is published; the cleaner may have postponed
   * a page because of a long transaction.
   */
  void mark() {
    for (int i = 0; i < latched; i++) {
      storage.marks().mark(pool.pageIdOf(frames[i]));
    }
  }

  void unlatch() {
    while (latched > 0) {
      pool.unfixExclusive(frames[--latched]);
    }
    changes.clear();
  }
}
