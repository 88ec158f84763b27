package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Restores the version that a row had before a transaction wrote it for the first time
 * (protocols.md §27, §28). That needs no room, because the version is on the leaf. For one thread
 * at a time.
 */
final class RowRevert {
  /** Credit for log space that goes with {@link #PAGES}. */
  static final int CREDIT = 4 * 1024;

  /** Credit for pages: the leaf, those of two large values, and the space maps of all three. */
  static final int PAGES = 6;

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final ValuePages values;
  private final Descent descent = new Descent();

  /** Makes an object that shares its writer's mini-transaction. */
  RowRevert(Storage storage, MiniTransaction mini, MapChanges maps, ValuePages values) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = mini;
    this.maps = maps;
    this.values = values;
  }

  /**
   * Removes a transaction's version of a row. The caller has the credit.
   *
   * @param mayBeGone whether the version may have been removed before; otherwise a missing version
   *     is damage
   */
  void row(Tree tree, byte[] key, long id, boolean mayBeGone) {
    int leaf = tree.leafExclusive(key, descent);
    try {
      MemorySegment page = pool.page(leaf);
      int slot = SlottedSearch.search(page, key);
      if (slot < 0) {
        tree.demandCovers(page, key);
      }
      if (slot >= 0 && LeafCell.writer(page, Slotted.cell(page, slot)) == id) {
        revert(leaf, page, slot, id);
      } else if (!mayBeGone) {
        throw tree.misplaced(page);
      }
    } finally {
      pool.unfixExclusive(leaf);
    }
  }

  private void revert(int leaf, MemorySegment page, int slot, long id) {
    int cell = Slotted.cell(page, slot);
    values.clear();
    if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
      values.add(ValueReference.of(page, LeafCell.valueOffset(page, cell)), id, id);
    }
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW)) {
      values.add(
          ValueReference.of(page, LeafCell.predecessorOffset(page, cell)),
          LeafCell.predecessorWriter(page, cell),
          0);
    }
    try {
      values.latch();
      maps.clear();
      mini.begin(values.isEmpty() ? 0 : id); // as a superseder the id is written to a page
      RecordBuilder record = mini.change(leaf);
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
        PageOps.revert(record, slot);
      } else {
        PageOps.remove(record, slot);
      }
      mini.end();
      values.write();
      maps.latchAndWrite(mini);
      mini.commit();
      values.mark();
      storage.counters().rowsReverted.increment();
    } finally {
      maps.unlatch();
      values.unlatch();
    }
  }
}
