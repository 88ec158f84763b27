package org.revenantdb.engine.catalog;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.version.Storage;

/**
 * Raises the mark of one sequence, in its row of the catalogue (R23).
 *
 * <p>One thread at a time, inside the gate.
 */
public final class SequenceMark {
  /*
   * Record      one, of the system, with the whole row: the mark in it is absolute, and redo-only. The mark on the
   *             page is the only one. So whatever fails before, the next mark is above all that were logged.
   * R17         credit for record and page is taken before the leaf is latched.
   * R18         the block is made before the record is published; after that nothing can fail.
   */
  /** Credit for log: a cell with the longest key, and the headers of record, part and operation. */
  private static final int CREDIT = 2 * 1024;

  /** Credit for pages: the leaf. */
  private static final int PAGES = 1;

  private final Storage storage;
  private final Tree tree;
  private final byte[] key;
  private final int cacheSize;
  private final Descent descent = new Descent();

  /** Made at the first use, since it takes some kilobytes. */
  private @Nullable MiniTransaction mini;

  /**
   * Makes an object for a sequence that is in the catalogue.
   *
   * @param tree the catalogue
   * @param key the key of the sequence's row
   * @param cacheSize the number of values in one block
   */
  SequenceMark(Storage storage, Tree tree, byte[] key, int cacheSize) {
    this.storage = storage;
    this.tree = tree;
    this.key = key;
    this.cacheSize = cacheSize;
  }

  /** Reserves the next numbers; null if there are none left. May wait for credit. */
  public @Nullable SequenceBlock reserve() {
    return changing((page, slot, leaf) -> {
      byte[] row = row(page, slot);
      long mark = SequenceRow.mark(row);
      long size = Math.min(cacheSize, SequenceRow.count(row) - mark);
      if (size <= 0) {
        return null;
      }
      return new SequenceBlock(mark, size).loggedAt(raise(leaf, slot, row, mark + size));
    });
  }

  /**
   * Raises the mark to a number, unless it is at or above it already. May wait for credit.
   *
   * @param lastLsn LSN of the last record of a mark; 0 if that was in a former life
   * @return no numbers, from the mark on
   */
  public SequenceBlock advance(long to, long lastLsn) {
    return Objects.requireNonNull(
        changing((page, slot, leaf) -> {
          byte[] row = row(page, slot);
          long mark = SequenceRow.mark(row);
          SequenceBlock none = new SequenceBlock(Math.max(mark, to), 0);
          return none.loggedAt(mark >= to ? lastLsn : raise(leaf, slot, row, to));
        }));
  }

  /** How many values may have been handed out. */
  public long read() {
    int leaf = tree.leafShared(key, descent);
    try {
      MemorySegment page = storage.pool().page(leaf);
      return SequenceRow.mark(row(page, slot(page)));
    } finally {
      storage.pool().unfixShared(leaf);
    }
  }

  private interface Change {
    @Nullable SequenceBlock make(MemorySegment page, int slot, int leaf);
  }

  private @Nullable SequenceBlock changing(Change change) {
    storage.space().acquire(CREDIT, PAGES);
    try {
      int leaf = tree.leafExclusive(key, descent);
      try {
        MemorySegment page = storage.pool().page(leaf);
        return change.make(page, slot(page), leaf);
      } finally {
        storage.pool().unfixExclusive(leaf);
      }
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
  }

  private int slot(MemorySegment page) {
    int slot = SlottedSearch.search(page, key);
    if (slot < 0) {
      throw tree.misplaced(page); // a sequence is never dropped
    }
    return slot;
  }

  private static byte[] row(MemorySegment page, int slot) {
    return LeafCell.value(page, Slotted.cell(page, slot));
  }

  /** Returns the LSN of the record. */
  private long raise(int leaf, int slot, byte[] row, long mark) {
    SequenceRow.putMark(row, mark);
    MiniTransaction change = mini();
    change.begin(0);
    PageOps.replace(change.change(leaf), slot, LeafCell.build(key, 0, 0, row));
    change.end();
    return change.commit();
  }

  private MiniTransaction mini() {
    MiniTransaction made = mini;
    if (made == null) {
      made = new MiniTransaction(storage.pool(), storage.log());
      mini = made;
    }
    return made;
  }
}
