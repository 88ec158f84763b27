package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Manages the room on a leaf: the room that must stay free for versions, and the room of unneeded
 * predecessors. For one thread at a time.
 */
final class LeafRoom {
  /** Room for some versions of small rows. */
  static final int RESERVE = 1024;

  /** The least gain from the removal of predecessors; otherwise the leaf is split. */
  private static final int MIN_GAIN = 256;

  private final Storage storage;
  private final MiniTransaction mini;

  /** Makes room with records of this mini-transaction. */
  LeafRoom(Storage storage, MiniTransaction mini) {
    this.storage = storage;
    this.mini = mini;
  }

  /**
   * The room that the right-most leaf keeps for new versions of appended rows. Without it, the
   * first update of each full leaf would split the leaf.
   *
   * @param slot the slot of the row, or its place, as returned by a search
   * @param length bytes of the row with its predecessor
   */
  static int reserve(MemorySegment page, int slot, int length) {
    boolean appends = slot < -1 && -slot - 1 == Slotted.count(page) && !Slotted.hasUpperFence(page);
    return appends && length <= RESERVE ? RESERVE : 0;
  }

  /**
   * Removes the predecessors on a leaf that no snapshot needs. It uses a separate record, so the
   * caller's next steps may fail. Their successors need not be durable: they stay, and this record
   * comes after their commits in the log (R9).
   *
   * @param leaf frame, latched exclusively
   * @return false if it does not pay; then nothing was changed
   */
  boolean settle(int leaf, MemorySegment page) {
    if (!Page.hasVersions(page) || !canGain(page)) {
      return false;
    }
    long horizon = storage.horizon().refresh().horizon();
    TransactionTable transactions = storage.transactions();
    int gain = 0;
    int count = Slotted.count(page);
    mini.begin(0);
    RecordBuilder record = mini.change(leaf);
    for (int slot = 0; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
        long status = transactions.status(LeafCell.writer(page, cell));
        if (TransactionTable.isCommitted(status) && status <= horizon) {
          gain += LeafCell.versionBytes(page, cell);
          PageOps.settle(record, slot);
        }
      }
    }
    mini.end();
    if (gain < MIN_GAIN) {
      return false;
    }
    mini.commit();
    return true;
  }

  /** Whether the predecessors on a leaf, needed or not, have enough room. */
  private static boolean canGain(MemorySegment page) {
    int gain = 0;
    int count = Slotted.count(page);
    for (int slot = 0; slot < count && gain < MIN_GAIN; slot++) {
      gain += LeafCell.versionBytes(page, Slotted.cell(page, slot));
    }
    return gain >= MIN_GAIN;
  }
}
