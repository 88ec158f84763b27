package org.revenantdb.engine.version;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.ValueDiff;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Stores rows of a load that lie between other rows: as many as the leaf can take, in one record
 * (protocols.md §17). For one thread at a time.
 */
final class LeafLoader {
  /** The new content of a leaf, and the headers of the parts. */
  private static final int CREDIT = 24 * 1024;

  /** The leaf and its space map. */
  private static final int PAGES = 2;

  /** Not the id of any writer; 0 stands for a row that is committed for all. */
  private static final long NOBODY = -1;

  private final Storage storage;
  private final BufferPool pool;
  private final Tree tree;
  private final long id;
  private final long snapshot;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Descent descent = new Descent();
  private final SlottedBuilder anew = new SlottedBuilder();
  private final MemorySegment scratch = Arena.ofAuto().allocate(LeafCell.MAX_CELL, Long.BYTES);

  /**
   * Makes a loader.
   *
   * @param id of the transaction
   */
  LeafLoader(Storage storage, Tree tree, long id, long snapshot) {
    this.storage = storage;
    this.pool = storage.pool();
    this.tree = tree;
    this.id = id;
    this.snapshot = snapshot;
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
  }

  /**
   * Stores rows as long as they belong to one leaf and have room there. They may meet only versions
   * of aborted transactions without a predecessor.
   *
   * @param rows a leaf that was filled outside the tree
   * @param from the slot of the first row
   * @return how many were stored; 0 if the first row has to be stored separately
   */
  int store(MemorySegment rows, int from) {
    storage.space().acquire(CREDIT, PAGES);
    try {
      byte[] key = Slotted.keyOf(rows, Slotted.cell(rows, from));
      int leaf = tree.leafExclusive(key, descent);
      try {
        tree.demandCovers(pool.page(leaf), key); // before anything is in the log
        return !storage.versions().unseenDeletes().anyAfter(tree.table(), snapshot)
                && isLeftByAborted(leaf)
            ? storeAnew(rows, from, leaf)
            : store(rows, from, leaf);
      } finally {
        maps.unlatch();
        pool.unfixExclusive(leaf);
      }
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
  }

  /** Whether a leaf has rows, and all of them were inserted by aborted transactions. */
  private boolean isLeftByAborted(int leaf) {
    MemorySegment page = pool.page(leaf);
    int count = Slotted.count(page);
    if (count == 0 || pool.pageIdOf(leaf) == tree.root()) {
      return false;
    }
    long aborted = NOBODY;
    for (int slot = 0; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      long writer = LeafCell.writer(page, cell);
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)
          || (writer != aborted
              && storage.transactions().outcome(writer) != TransactionTable.ABORTED)) {
        return false;
      }
      aborted = writer;
    }
    return true;
  }

  /**
   * Replaces the content of the leaf, between its fences: its present rows are visible to no
   * transaction.
   */
  private int storeAnew(MemorySegment rows, int from, int leaf) {
    MemorySegment page = pool.page(leaf);
    byte[] upper = Slotted.hasUpperFence(page) ? Slotted.upperFence(page) : null;
    anew.begin(0, tree.table(), Slotted.lowerFence(page), upper);
    anew.writtenBy(id);
    anew.inherit(page);
    int end = upper == null ? Slotted.count(rows) : SlottedSearch.slotAtOrAfter(rows, upper);
    int spare = upper == null ? LeafRoom.RESERVE : 0;
    int longer = Slotted.prefix(rows) - Slotted.prefix(anew.page());
    int row = from;
    for (; row < end; row++) {
      int cell = Slotted.cell(rows, row);
      int room = LeafCell.length(rows, cell) + longer + Slotted.LEAF_SLOT;
      if (LeafCell.is(rows, cell, LeafCell.OVERFLOW) || room + spare > anew.free()) {
        break;
      }
      anew.append(rows, row, row + 1);
    }
    if (row == from) {
      return 0;
    }
    maps.clear();
    mini.begin(id);
    PageOps.image(mini.format(leaf), anew);
    mini.end();
    maps.set(pool.pageIdOf(leaf), SpaceMapPage.inUse(anew.flags()));
    maps.latchAndWrite(mini);
    mini.commit();
    return row - from;
  }

  private int store(MemorySegment rows, int from, int leaf) {
    MemorySegment page = pool.page(leaf);
    maps.clear();
    mini.begin(id);
    RecordBuilder record = mini.change(leaf);
    boolean isMarked = Page.hasVersions(page);
    if (!isMarked) {
      maps.setFlags(record, page, pool.pageIdOf(leaf), Page.flags(page) | Page.FLAG_VERSIONS);
    }
    int count = Slotted.count(rows);
    int free = Slotted.free(page);
    int inserted = 0;
    int row = from;
    for (; row < count; row++) {
      int source = Slotted.cell(rows, row);
      byte[] key = Slotted.keyOf(rows, source);
      if (LeafCell.is(rows, source, LeafCell.OVERFLOW) || !SlottedSearch.covers(page, key)) {
        break;
      }
      byte[] value = LeafCell.value(rows, source);
      if (storage.versions().unseenDeletes().after(tree.table(), key, snapshot) != 0) {
        break;
      }
      int slot = SlottedSearch.search(page, key);
      if (slot < 0) {
        byte[] cell = LeafCell.build(key, 0, id, value);
        int room = cell.length + Slotted.LEAF_SLOT - Slotted.prefix(page);
        if (room + LeafRoom.reserve(page, slot, cell.length) > free) {
          break;
        }
        PageOps.insert(record, -slot - 1 + inserted, cell);
        inserted++;
        free -= room;
      } else {
        int cell = Slotted.cell(page, slot);
        if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)
            || storage.transactions().outcome(LeafCell.writer(page, cell))
                != TransactionTable.ABORTED) {
          break;
        }
        int room =
            LeafCell.updatedLength(page, cell, PageOps.REPLACE, 0, value, ValueDiff.NONE, scratch)
                - LeafCell.length(page, cell);
        if (room > free) {
          break;
        }
        PageOps.update(record, slot + inserted, 0, PageOps.REPLACE, id, value);
        free -= room;
      }
    }
    if (row == from) {
      return 0; // nothing of it is in the log
    }
    mini.end();
    maps.latchAndWrite(mini);
    mini.commit();
    if (!isMarked) {
      storage.marks().markForLater(pool.pageIdOf(leaf));
    }
    return row - from;
  }
}
