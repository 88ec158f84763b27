package org.revenantdb.engine;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The record that drops one table: its row leaves the catalogue, and an entry under another key,
 * from which its pages can be given back, comes into it.
 *
 * <p>Order of calls: {@link #publish} and, where that finds no room, {@link #makeRoom}, until it is
 * done. Inside the gate, by one thread, with nothing latched.
 *
 * <p>Failure: nothing has changed, but leaves of the catalogue may have been split.
 */
final class TableDrop {
  /*
   * Protocol    docs/protocols.md §24, with what a crash leaves.
   *
   * Latches     Row and entry may be in two leaves. All pages on the way to both are latched exclusively, from the root
   *             down, first those to the row, which is to the left (R19). Whoever meets them holds nothing to the right
   *             of a page that is waited for and wants something to the left of it: he has passed the root before, and
   *             what he still wants lies below what he holds.
   */
  private static final int CREDIT = 16 * 1024;

  /** Credit for pages: the two leaves. */
  private static final int PAGES = 2;

  private final Storage storage;
  private final BufferPool pool;
  private final Tree catalogue;
  private final byte[] key;
  private final byte[] entryKey;
  private final byte[] entry;
  private final CatalogueTools tools;
  private final int[] frames = new int[2 * BufferPool.MAX_LEVELS];
  private int latched;

  /**
   * Nothing yet.
   *
   * @param tools that nobody else uses meanwhile
   * @param catalogue where the row is
   * @param key of the row
   * @param row the table's
   */
  TableDrop(Storage storage, CatalogueTools tools, Tree catalogue, byte[] key, TableRow row) {
    this.storage = storage;
    this.pool = storage.pool();
    this.catalogue = catalogue;
    this.key = key;
    this.entryKey = DroppedTableRow.key(row.id(0));
    this.entry = LeafCell.build(entryKey, 0, 0, row.bytes());
    this.tools = tools;
  }

  /** Credit for the record: in bytes. */
  int credit() {
    return CREDIT;
  }

  /** Credit for the record: in pages. */
  int pages() {
    return PAGES;
  }

  /**
   * Publishes the record; the caller has credit for it.
   *
   * @return its LSN, or 0 if there is no room for the entry
   */
  long publish() {
    try {
      int leaf = latchPath(key);
      int entryLeaf = latchPath(entryKey);
      if (Slotted.free(pool.page(entryLeaf)) < need()) {
        return 0;
      }
      int slot = Slotted.search(pool.page(leaf), key);
      int place = -Slotted.search(pool.page(entryLeaf), entryKey) - 1;
      if (slot < 0 || place < 0) {
        throw catalogue.misplaced(pool.page(leaf));
      }
      MiniTransaction mini = tools.mini();
      mini.begin(0);
      RecordBuilder record = mini.change(leaf);
      PageOps.remove(record, slot);
      if (leaf == entryLeaf) {
        place--; // of the slots before it one has gone
      } else {
        mini.end();
        record = mini.change(entryLeaf);
      }
      PageOps.insert(record, place, entry);
      mini.end();
      return mini.commit();
    } finally {
      while (latched > 0) {
        pool.unfixExclusive(frames[--latched]);
      }
    }
  }

  private int need() {
    return entry.length + Slotted.LEAF_SLOT;
  }

  /** Latches what is not latched yet of the pages from the root to the leaf of a key. */
  private int latchPath(byte[] to) {
    int frame = latch(catalogue.root());
    for (int level = Slotted.level(pool.page(frame)); level > 0; level--) {
      MemorySegment page = pool.page(frame);
      frame = latch(Slotted.child(page, Slotted.childPosition(page, to)));
      if (Slotted.level(pool.page(frame)) != level - 1) {
        throw catalogue.misplaced(pool.page(frame));
      }
    }
    catalogue.demandCovers(pool.page(frame), to);
    return frame;
  }

  private int latch(int pageId) {
    for (int i = 0; i < latched; i++) {
      if (pool.pageIdOf(frames[i]) == pageId) {
        return frames[i];
      }
    }
    frames[latched] = pool.fixExclusive(pageId);
    return frames[latched++];
  }

  /** Splits the leaf of the entry; somebody else's row may use up the room again. */
  void makeRoom() {
    storage.space().acquire(Split.CREDIT, Split.PAGES);
    try {
      pool.unfixExclusive(tools.split().leafWithRoom(catalogue, entryKey, need()));
    } finally {
      storage.space().release(Split.CREDIT, Split.PAGES);
    }
  }
}
