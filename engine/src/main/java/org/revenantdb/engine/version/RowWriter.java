package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.RowDecision.Writer;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Writes rows for one transaction: it finds the leaf, decides what happens to the row ({@link
 * RowDecision}), makes room, and makes the change ({@link RowChange}). For one thread at a time.
 *
 * <p>First updater wins: a row whose newest committed version is above the snapshot, or that
 * another transaction is writing, is a conflict, and nothing has changed. The caller decides
 * whether to wait for the other transaction.
 */
public final class RowWriter implements RowConflict {
  /** The result of a write. */
  public enum Outcome {
    /** The row was written. */
    DONE,
    /** There was no row to delete. */
    NOTHING,
    /** Another transaction has written the row first; see {@link #conflictingWriter}. */
    CONFLICT
  }

  private static final int CREDIT = 16 * 1024;

  /** Credit for pages: the leaf, those of two large values, and the space maps of all three. */
  private static final int PAGES = 6;

  /** How often a writer that finds the leaf full lets other threads split it. */
  private static final int LETS_OTHERS_SPLIT = 8;

  /** How often a request follows a leaf that is split while it waits. */
  private static final int REQUESTS = 4;

  /** Results of an attempt to insert a row that are not a leaf. */
  private static final int INSERTED = -1;

  private static final int NOT_TRIED = -2;

  private static final byte[] NO_BYTES = new byte[0];

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Split split;
  private final OverflowWriter overflow;
  private final InsertRequest request;
  private final Descent descent = new Descent();
  private final Holds holds = new Holds();
  private final WriteHistory history;
  private final RowChange change;
  private final LeafRoom leafRoom;

  /** What is done when the transaction has ended; null if nothing is. */
  private @Nullable Runnable whenEnded;

  private long conflictingWriter;
  private long conflictLsn;
  private int conflictTree;
  private byte[] conflictKey = NO_BYTES;
  private long metLsn;

  /** A writer with its own mini-transaction. */
  public RowWriter(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.split = storage.splitter(mini, maps);
    this.overflow = storage.overflowWriter(mini, maps);
    ValuePages valuePages = new ValuePages(storage, mini, maps);
    this.history = new WriteHistory(storage, new RowRevert(storage, mini, maps, valuePages));
    this.change = new RowChange(storage, mini, maps, valuePages);
    this.leafRoom = new LeafRoom(storage, mini);
    this.request = new InsertRequest(mini, storage.versions().unseenDeletes());
  }

  /**
   * Called when a transaction begins to write.
   *
   * @param shortRows up to this many rows can be {@linkplain WriteHistory#putBack put back}
   */
  public void begin(int shortRows) {
    history.begin(shortRows);
  }

  /** Called when its transaction has ended. */
  public void end() {
    holds.clear();
    history.end();
    Runnable last = whenEnded;
    if (last != null) {
      whenEnded = null;
      last.run();
    }
  }

  /** Sets what is done when its transaction has ended, however it ends. It must not fail. */
  public void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /**
   * Called when from now on other objects also write rows of its transaction, so that it cannot put
   * all of them back.
   */
  void cannotPutBack() {
    history.giveUp();
  }

  /** The history of the rows that its transaction has written. */
  public WriteHistory history() {
    return history;
  }

  /**
   * Restores the versions that all rows had at a savepoint, the last one first. After an exception
   * some rows have them, and the others must still be restored.
   */
  public void goBackTo(int savepoint, long id, long snapshot) {
    history.goBackTo(savepoint, id, (version, value) -> restore(version, value, id, snapshot));
  }

  private void restore(Overwritten.Version version, byte[] value, long id, long snapshot) {
    int kind = version.flags();
    ValueReference adopted = kind == LeafCell.OVERFLOW ? ValueReference.of(value) : null;
    Outcome outcome = write(version.tree(), id, snapshot, version.key(), kind, value, adopted);
    if (outcome == Outcome.CONFLICT) {
      throw new IllegalStateException(
          "a row of transaction " + id + " was changed by another transaction");
    }
  }

  /**
   * The builder of a record of its transaction without pages. The caller begins it; it is valid
   * until the next write.
   */
  public RecordBuilder bareRecord() {
    return mini.record();
  }

  /** The holds of its transaction. They are here because writers are reused. */
  public Holds holds() {
    return holds;
  }

  /** The writer of overflow values that shares this one's mini-transaction. */
  public OverflowWriter overflow() {
    return overflow;
  }

  /** After {@link Outcome#CONFLICT}: the other transaction. */
  @Override
  public long conflictingWriter() {
    return conflictingWriter;
  }

  /** After {@link Outcome#CONFLICT}: the LSN of its commit, 0 if it has not ended. */
  @Override
  public long conflictLsn() {
    return conflictLsn;
  }

  @Override
  public int conflictTree() {
    return conflictTree;
  }

  @Override
  public byte[] conflictKey() {
    return conflictKey;
  }

  /** After a write: the commit LSN of the version that was there, 0 if it is committed for all. */
  public long metLsn() {
    return metLsn;
  }

  /** Stores a value that stays in the leaf. */
  public Outcome put(Tree tree, long id, long snapshot, byte[] key, byte[] value) {
    return write(tree, id, snapshot, key, 0, value, null);
  }

  /** A separate writer of overflow values, for a value that is written in several calls. */
  public OverflowWriter newOverflowWriter() {
    return storage.overflowWriter(new MiniTransaction(pool, storage.log()), storage.mapChanges());
  }

  /** Stores the value that this writer of overflow values has written. */
  public Outcome putOverflow(
      Tree tree, long id, long snapshot, byte[] key, OverflowWriter written) {
    Outcome outcome = putOverflow(tree, id, snapshot, key, written.reference());
    if (outcome == Outcome.DONE) {
      storage.counters().overflowValues.increment();
    }
    return outcome;
  }

  /** Stores a value of this transaction that is in overflow pages. */
  Outcome putOverflow(Tree tree, long id, long snapshot, byte[] key, ValueReference written) {
    return write(tree, id, snapshot, key, LeafCell.OVERFLOW, written.bytes(), written);
  }

  /** Deletes a row. Whether there was one depends on {@link #metLsn}. */
  public Outcome delete(Tree tree, long id, long snapshot, byte[] key) {
    return write(tree, id, snapshot, key, LeafCell.DELETED, NO_BYTES, null);
  }

  private Outcome write(
      Tree tree,
      long id,
      long snapshot,
      byte[] key,
      int flags,
      byte[] value,
      @Nullable ValueReference adopted) {
    int need = 0;
    boolean makesRoom = false;
    history.beginStatement();
    change.begin(flags, value, adopted);
    for (int waits = 0; ; waits++) {
      int credit = makesRoom ? CREDIT + Split.CREDIT : CREDIT;
      int pages = makesRoom ? PAGES + Split.PAGES : PAGES;
      storage.space().acquire(credit, pages);
      try {
        int leaf;
        if (makesRoom) {
          leaf =
              descent.isAtRightEdge()
                  ? split.leafWithRoomFromRoot(tree, key, need)
                  : split.leafWithRoom(tree, key, need);
        } else if (flags != 0) {
          leaf = tree.leafExclusive(key, descent);
        } else {
          leaf = leafUnlessInserted(tree, key, id, snapshot, value);
          if (leaf < 0) {
            history.writeIsDone(tree, key);
            metLsn = 0;
            return Outcome.DONE;
          }
        }
        try {
          Outcome outcome = writeTo(tree, leaf, id, snapshot, key);
          if (outcome == null) {
            int half = splitHere(tree, leaf, key);
            if (half >= 0) {
              leaf = half;
              outcome = writeTo(tree, leaf, id, snapshot, key);
            }
          }
          if (outcome != null) {
            return outcome;
          }
          need = change.need();
        } finally {
          pool.unfixExclusive(leaf);
        }
      } finally {
        storage.space().release(credit, pages);
      }
      // The thread that has the page above latched may be splitting this very leaf.
      makesRoom =
          makesRoom
              || waits == LETS_OTHERS_SPLIT
              || descent.isAtRightEdge()
              || !tree.awaitWriter(descent);
    }
  }

  /**
   * Writes the row, if the leaf has room.
   *
   * @param leaf frame, latched exclusively
   * @return null if there is no room for what was planned
   */
  private @Nullable Outcome writeTo(Tree tree, int leaf, long id, long snapshot, byte[] key) {
    MemorySegment page = pool.page(leaf);
    tree.wrote(pool.stayOf(leaf), descent);
    int slot = descent.search(page, 0, key);
    if (slot < 0) {
      tree.demandCovers(page, key); // before anything is in the log
    }
    RowDecision decision = plan(page, slot, id, snapshot, key);
    switch (decision) {
      case NOTHING -> {
        return Outcome.NOTHING;
      }
      case CONFLICT, CONFLICT_BEFORE, CONFLICT_GONE -> {
        conflictTree = tree.table();
        conflictKey = key.clone(); // the caller may reuse its array
        return Outcome.CONFLICT;
      }
      case INSERT, REPLACE_OWN, REPLACE_ABORTED, KEEP -> {}
    }
    if (!change.hasRoom(page, slot) && leafRoom.settle(leaf, page)) {
      plan(page, slot, id, snapshot, key); // its predecessor may have been removed
    }
    if (!change.hasRoom(page, slot)) {
      return null;
    }
    if (decision == RowDecision.KEEP) {
      keepForSnapshots(tree, page, Slotted.cell(page, slot), key);
    }
    if (decision == RowDecision.REPLACE_OWN) {
      prepareOwn(tree, page, Slotted.cell(page, slot), key);
    } else {
      history.prepareFirst(tree, key);
    }
    apply(leaf, slot, id);
    history.writeIsDone(tree, key);
    return Outcome.DONE;
  }

  private void apply(int leaf, int slot, long id) {
    history.writeBegins();
    change.apply(leaf, slot, id);
  }

  private void prepareOwn(Tree tree, MemorySegment page, int cell, byte[] key) {
    if (history.keepsOwn()) {
      history.prepareOwn(tree, key, LeafCell.currentFlags(page, cell), LeafCell.value(page, cell));
    } else {
      history.prepareOwn();
    }
  }

  /** The half that holds the key, latched instead of the leaf; -1 if it was not split. */
  private int splitHere(Tree tree, int leaf, byte[] key) {
    if (!storage.space().tryAcquire(Split.CREDIT_HERE, Split.PAGES_HERE)) {
      return -1;
    }
    try {
      return split.tryHere(tree, leaf, key, descent);
    } finally {
      storage.space().release(Split.CREDIT_HERE, Split.PAGES_HERE);
    }
  }

  /**
   * The key's leaf, latched exclusively; -1 if the row was inserted: by the thread that had the
   * leaf latched, or at once, because it was appended.
   */
  private int leafUnlessInserted(Tree tree, byte[] key, long id, long snapshot, byte[] newValue) {
    history.prepareFirst(tree, key);
    history.writeBegins();
    int leaf;
    try {
      leaf = tryToInsert(tree, key, id, snapshot, newValue);
    } finally {
      request.forget();
    }
    if (leaf != INSERTED) {
      history.writeIsOff();
    }
    return leaf == NOT_TRIED ? tree.leafExclusive(key, descent) : leaf;
  }

  private int tryToInsert(Tree tree, byte[] key, long id, long snapshot, byte[] newValue) {
    for (int tries = 0; tries < REQUESTS; tries++) {
      Stay stay = tree.leafToWrite(key, descent);
      if (stay == null) {
        if (tree.awaitWriter(descent)) {
          continue;
        }
        break;
      }
      boolean appends = descent.isAtRightEdge();
      if (appends) {
        request.prepare(tree, stay, key, id, snapshot, newValue);
      }
      int leaf = pool.tryFixExclusive(stay, descent.stamp());
      if (leaf >= 0) {
        return appends && insertedAt(leaf) ? INSERTED : leaf;
      }
      if (!appends) {
        request.prepare(tree, stay, key, id, snapshot, newValue);
      }
      // So threads that append rows do not wake each other for each row.
      pool.runExclusive(stay, request);
      if (request.isInserted()) {
        return INSERTED;
      }
      if (!request.hasMissed()) {
        break;
      }
    }
    return NOT_TRIED;
  }

  /** Runs the request on this thread. If it fails, the leaf is still latched. */
  private boolean insertedAt(int leaf) {
    boolean unlatches = true;
    try {
      request.run();
      unlatches = request.isInserted();
      return unlatches;
    } finally {
      if (unlatches) {
        pool.unfixExclusive(leaf);
      }
    }
  }

  /**
   * Decides what happens to the row, and prepares its change. The current version's writer is
   * looked up here, with the leaf latched (R1).
   *
   * @param slot of the row, or where it goes, as from a search
   */
  private RowDecision plan(MemorySegment page, int slot, long id, long snapshot, byte[] key) {
    metLsn = 0;
    int cell = slot < 0 ? 0 : Slotted.cell(page, slot);
    long writer = slot < 0 ? 0 : LeafCell.writer(page, cell);
    long status = 0;
    Writer current = slot < 0 ? Writer.NOBODY : Writer.SELF;
    if (slot >= 0 && writer != id) {
      status = outcome(writer);
      current = Writer.of(status, snapshot);
    }
    long writerBefore = 0;
    long statusBefore = 0;
    Writer before = Writer.NOBODY;
    if (current == Writer.ABORTED && LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      writerBefore = LeafCell.predecessorWriter(page, cell);
      statusBefore = outcome(writerBefore);
      before = Writer.of(statusBefore, snapshot);
    }
    boolean isEmpty = slot < 0 || (current == Writer.ABORTED && before == Writer.NOBODY);
    long deletedAt =
        isEmpty ? storage.versions().unseenDeletes().after(Slotted.table(page), key, snapshot) : 0;
    RowDecision decision =
        RowDecision.of(
            current,
            slot >= 0 && LeafCell.is(page, cell, LeafCell.DELETED),
            before,
            before != Writer.NOBODY && LeafCell.is(page, cell, LeafCell.PREDECESSOR_DELETED),
            change.deletes(),
            deletedAt != 0);
    switch (decision) {
      case INSERT -> change.insert(page, key, id);
      case REPLACE_OWN -> change.replaceOwn(page, cell, id);
      case REPLACE_ABORTED -> change.replaceAborted(page, cell);
      case KEEP -> change.keep(page, cell, writer, status == TransactionTable.COMMITTED_FOR_ALL);
      case NOTHING -> {}
      case CONFLICT -> conflict(writer, current == Writer.LATER ? status : 0);
      case CONFLICT_BEFORE -> conflict(writerBefore, statusBefore);
      case CONFLICT_GONE -> conflict(0, deletedAt);
    }
    return decision;
  }

  /** The outcome of a writer other than the transaction itself. */
  private long outcome(long writer) {
    long status = storage.transactions().outcome(writer);
    if (TransactionTable.isCommitted(status)) {
      metLsn = status;
    }
    return status;
  }

  private void conflict(long writer, long lsn) {
    conflictingWriter = writer;
    conflictLsn = lsn;
  }

  /**
   * Called when the predecessor, if there is one, is about to leave the page: keeps it in the
   * volatile store if a snapshot may need it.
   */
  private void keepForSnapshots(Tree tree, MemorySegment page, int cell, byte[] key) {
    if (!LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      return;
    }
    long supersededAt = storage.transactions().outcome(LeafCell.writer(page, cell));
    long committedAt = storage.transactions().outcome(LeafCell.predecessorWriter(page, cell));
    if (supersededAt != TransactionTable.COMMITTED_FOR_ALL
        && storage.versions().keeps(committedAt, supersededAt)) {
      storage
          .versions()
          .push(
              tree.table(),
              key.clone(), // it is kept, and the caller may reuse its array
              committedAt,
              supersededAt,
              LeafCell.predecessorFlags(page, cell),
              LeafCell.predecessor(page, cell));
    }
  }
}
