package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * Finds the version of a row that a snapshot sees.
 *
 * <p>The writer of a version is looked up while its page is latched (R1). Thread-safe.
 */
public final class RowReader {
  private final Storage storage;

  /** A reader of this database's rows. */
  public RowReader(Storage storage) {
    this.storage = storage;
  }

  /**
   * The value of a key.
   *
   * @param self id of the reading transaction, 0 if it has not written
   * @param witness told of the version that is returned, or is absent
   */
  public @Nullable StoredValue read(
      Tree tree, byte[] key, long snapshot, long self, Witness witness) {
    int frame = tree.leafShared(key);
    try {
      MemorySegment page = storage.pool().page(frame);
      int slot = Slotted.search(page, key);
      if (slot >= 0) {
        return visible(tree.table(), page, Slotted.cell(page, slot), snapshot, self, key, witness);
      }
      if (!Slotted.covers(page, key)) {
        throw tree.misplaced(page);
      }
      return null;
    } finally {
      storage.pool().unfixShared(frame);
    }
  }

  /**
   * The version of the row in a cell that a snapshot sees.
   *
   * @param page its leaf, latched
   * @param key the row's key, if the caller has it
   */
  @Nullable StoredValue visible(
      int table,
      MemorySegment page,
      int cell,
      long snapshot,
      long self,
      byte @Nullable [] key,
      Witness witness) {
    if (sees(LeafCell.writer(page, cell), snapshot, self, witness)) {
      int flags = LeafCell.currentFlags(page, cell);
      return (flags & LeafCell.DELETED) != 0
          ? null
          : new StoredValue(flags, LeafCell.value(page, cell));
    }
    if (!LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      // An insert that this snapshot does not see, or a row whose former versions it does not need.
      return older(table, key == null ? LeafCell.key(page, cell) : key, snapshot, witness);
    }
    if (sees(LeafCell.predecessorWriter(page, cell), snapshot, self, witness)) {
      int flags = LeafCell.predecessorFlags(page, cell);
      return (flags & LeafCell.DELETED) != 0
          ? null
          : new StoredValue(flags, LeafCell.predecessor(page, cell));
    }
    return older(table, key == null ? LeafCell.key(page, cell) : key, snapshot, witness);
  }

  private @Nullable StoredValue older(int table, byte[] key, long snapshot, Witness witness) {
    VolatileStore.Version version = storage.versions().find(table, key, snapshot);
    if (version == null) {
      return null; // never there, or a delete that was durable before it was taken away
    }
    witness.saw(version.committedAt());
    return (version.flags() & LeafCell.DELETED) != 0
        ? null
        : new StoredValue(version.flags(), version.value().clone());
  }

  private boolean sees(long writer, long snapshot, long self, Witness witness) {
    if (writer == 0 || writer == self) {
      return true;
    }
    long status = storage.transactions().outcome(writer);
    if (!TransactionTable.isCommitted(status) || status > snapshot) {
      return false;
    }
    witness.saw(status);
    return true;
  }
}
