package org.revenantdb.jmh.baseline;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The content of rows before their updates, kept only in memory, for an engine whose rows contain
 * only the id of their writer ({@link EngineOfWriterIds}, whose classes call this).
 *
 * <p>One for each writer of rows, used by one thread at a time. The methods for readers are static,
 * because readers do not know the writer: one database a JVM. Refused: values in overflow pages,
 * savepoints, prepared transactions, and rows that became shorter and whose page is full when they
 * are restored. TPC-C has none of these.
 */
public class FormerVersions {
  /*
   * Life        in the index, with no end, before the row changes
   *             -> commit: it ends at the commit LSN
   *             -> rollback: restored into the row, then it ends at the present end of the log, for
   *             readers that have seen the row before
   *
   * Why by key  a reader looks when the leaf is unlatched, as for any older version (protocols.md §30).
   */
  private static final FormerVersionIndex INDEX = new FormerVersionIndex();

  /** This many transactions share one look at the open snapshots. */
  private static final int LOOK = 16;

  /** The parts of the database; also for engines that keep versions elsewhere. */
  protected final Storage storage;

  private final List<FormerVersion> ofTransaction = new ArrayList<>();
  private SnapshotSet snapshots;
  private int ended;

  /**
   * Of a writer.
   *
   * @param storage of its database
   */
  public FormerVersions(Storage storage) {
    this.storage = storage;
    this.snapshots = storage.horizon().refresh();
  }

  /** A row is about to be written, and nothing is latched. */
  public void prepare() {}

  /**
   * A row is about to change.
   *
   * @param leaf frame of its page, latched exclusively
   * @param slot of the row, negative if there is none
   * @param id the transaction of the change
   */
  public final void beforeChange(int leaf, int slot, long id) {
    if (slot < 0) {
      return;
    }
    MemorySegment page = storage.pool().page(leaf);
    int cell = Slotted.cell(page, slot);
    long writer = LeafCell.writer(page, cell);
    if (writer == id) {
      return;
    }
    int flags = LeafCell.currentFlags(page, cell);
    if ((flags & LeafCell.OVERFLOW) != 0) {
      throw new UnsupportedOperationException("a value in overflow pages has been replaced");
    }
    FormerVersion version =
        new FormerVersion(
            Slotted.table(page),
            Slotted.keyOf(page, cell),
            writer,
            storage.transactions().outcome(writer),
            flags,
            LeafCell.value(page, cell),
            id);
    keep(version);
    ofTransaction.add(version);
    INDEX.add(version, snapshots);
  }

  /** Keeps a version somewhere else, too; its row's page is latched. */
  void keep(FormerVersion version) {}

  /** The transaction has ended. */
  public final void ended() {
    if (!ofTransaction.isEmpty()) {
      long at = endOfLife();
      for (FormerVersion version : ofTransaction) {
        version.supersededAt = at;
      }
      ofTransaction.clear();
    }
    ended++;
    if (ended % LOOK == 0) {
      snapshots = storage.horizon().refresh();
    }
    ended(snapshots);
  }

  /** A transaction has ended; these snapshots are open, or others that see no older versions. */
  void ended(SnapshotSet snapshots) {}

  private long endOfLife() {
    boolean isPutBack = ofTransaction.getFirst().isPutBack;
    for (FormerVersion version : ofTransaction) {
      if (version.isPutBack != isPutBack) {
        throw new IllegalStateException("a transaction has put back some of its rows, not all");
      }
    }
    if (isPutBack) {
      return storage.log().tail();
    }
    long id = ofTransaction.getFirst().superseder;
    long status = storage.transactions().outcome(id);
    if (!TransactionTable.isCommitted(status)) {
      throw new IllegalStateException(
          "transaction " + id + " has ended without a commit, and has left its rows as they are");
    }
    return status;
  }

  /**
   * Removes the version of a transaction from its row: writes the operation that restores the
   * former content, or that removes the row.
   *
   * @param record in which a part of the page has begun
   * @param slot of the row
   * @param page latched exclusively
   * @param id of the transaction
   */
  public static void putBack(RecordBuilder record, int slot, MemorySegment page, long id) {
    int cell = Slotted.cell(page, slot);
    FormerVersion version = INDEX.supersededBy(id, Slotted.table(page), Slotted.keyOf(page, cell));
    if (version == null) {
      PageOps.remove(record, slot);
      return;
    }
    if (version.value.length - LeafCell.valueLength(page, cell) > Slotted.free(page)) {
      throw new IllegalStateException("a row that became shorter has no room to be put back");
    }
    PageOps.update(record, slot, version.flags, PageOps.REPLACE, version.writer, version.value);
    version.isPutBack = true;
  }

  /**
   * Whether there are no older versions of rows.
   *
   * @param store the engine's, in which there are none
   * @return false: there may be some
   */
  public static boolean isEmpty(VolatileStore store) {
    return false;
  }

  /**
   * The content of a row for a snapshot if its leaf has no version for it.
   *
   * @param store the engine's, in which there is none
   * @param table of the row
   * @param key of the row
   * @param snapshot the reading snapshot
   * @return the version, null if it sees none
   */
  public static VolatileStore.@Nullable Version find(
      VolatileStore store, int table, byte[] key, long snapshot) {
    FormerVersion version = INDEX.seenBy(snapshot, table, key);
    return version == null
        ? null
        : new VolatileStore.Version(
            version.committedAt, version.supersededAt, version.flags, version.value, null);
  }

  /**
   * As {@link #find}, for several rows.
   *
   * @param store as there
   * @param table of the rows
   * @param keys of the rows
   * @param snapshot the reading snapshot
   * @return the versions, in the places of the keys
   */
  public static VolatileStore.@Nullable Version[] findAll(
      VolatileStore store, int table, List<byte[]> keys, long snapshot) {
    VolatileStore.@Nullable Version[] found = new VolatileStore.Version[keys.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = find(store, table, keys.get(i), snapshot);
    }
    return found;
  }
}
