package org.revenantdb.engine.version;

import java.lang.foreign.Arena;
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
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.ValueDiff;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Writes rows for one transaction. One thread at a time.
 *
 * <p>First updater wins: a row whose newest committed version is above the snapshot, or that
 * another transaction is writing, is a conflict, and nothing has changed. Whether to wait for that
 * one is the caller's to decide.
 */
public final class RowWriter implements RowConflict {
  /*
   * Source      "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.2, §3.3, Figure 6; rule R3.
   *             We differ: the predecessor is always kept in the row, as a difference or, if that is not shorter, in
   *             full; and what is older goes to a store that is never logged.
   *
   * Decision    current version's writer W, leaf latched exclusively (protocols.md §7):
   *               me                          replace the current version, keep the predecessor
   *               aborted                     the predecessor's writer decides about conflict; replace, keep it
   *               committed <= snapshot       the current version becomes the predecessor; the former predecessor goes
   *                                           to the volatile store first, if a snapshot needs it
   *               committed > snapshot, else  conflict
   *             no row, or one that an aborted transaction has inserted: conflict as well, if one that was
   *             committed above the snapshot may have deleted what was there (§41)
   *
   * Record      one, with the transaction's id: the row; the version bit and its mirror if the page has none; pages of
   *             large values: the new one is adopted (superseder 0), the one replaced gets this transaction as
   *             superseder, in the order of page ids.
   */
  /** What a write came to. */
  public enum Outcome {
    /** The row was written. */
    DONE,
    /** There was no row to delete. */
    NOTHING,
    /** Another transaction was there first; see {@link #conflictingWriter}. */
    CONFLICT
  }

  private static final int CREDIT = 16 * 1024;

  /** Credit for pages: the leaf, those of two large values, and the space maps of all three. */
  private static final int PAGES = 6;

  /** Room for some versions of small rows. */
  static final int RESERVE = 1024;

  /** What taking predecessors away has to bring: else the leaf is split. */
  private static final int MIN_GAIN = 256;

  /** How often a writer who finds the leaf full leaves it to others to split it. */
  private static final int LETS_OTHERS_SPLIT = 8;

  /** How often a request follows a leaf that is split while it waits. */
  private static final int REQUESTS = 4;

  /** Outcomes of an attempt to insert a row that are no leaf: others have to be tried. */
  private static final int INSERTED = -1;

  private static final int NOT_TRIED = -2;

  /**
   * What a transaction has overwritten may take this part of the memory for older versions, and at
   * least so many bytes.
   */
  private static final int OVERWRITTEN_SHARE = 16;

  private static final long LEAST_OVERWRITTEN = 64 * 1024;

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
  private final WrittenRows written = new WrittenRows();
  private final Overwritten overwritten;
  private final RowRevert revert;
  private final ValuePages valuePages;

  /** Room for a former value, while the length of its difference is counted. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(LeafCell.MAX_CELL, Long.BYTES);

  private long conflictingWriter;
  private long conflictLsn;
  private int conflictTree;
  private byte[] conflictKey = NO_BYTES;
  private long metLsn;

  // The plan for one row, made by plan() and carried out by apply().
  private byte[] newCell = NO_BYTES;
  private int flags;
  private byte[] value = NO_BYTES;

  /**
   * Whether a row may be on its page that is not remembered: something was thrown behind its
   * record. Then only the cleaner can take back what the transaction has written (R18).
   */
  private boolean isHalfDone;

  /** Whether what is written was overwritten before, and is restored. */
  private boolean isRestoring;

  /** Whether the current version is not the transaction's own. */
  private boolean isFirstTouch;

  /** Of a row that is there: what becomes of its current version, as {@link PageOps} has it. */
  private int keep;

  /** What its value shares with the new one. */
  private int diff;

  /** Bytes of the new cell, and of a new slot. */
  private int newLength;

  private int room;

  /** Bytes that have to stay free beside. */
  private int reserved;

  /** The value in overflow pages that the row gets, while it is written. */
  private @Nullable ValueReference adopted;

  private @Nullable ValueReference superseded;
  private long supersededWriter;
  private boolean keepsPredecessor;
  private Outcome planned = Outcome.DONE;

  /** A writer with its own mini-transaction. */
  public RowWriter(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.split = storage.splitter(mini, maps);
    this.overflow = storage.overflowWriter(mini, maps);
    this.valuePages = new ValuePages(storage, mini, maps);
    this.revert = new RowRevert(storage, mini, maps, valuePages);
    this.request = new InsertRequest(mini, storage.versions().unseenDeletes());
    this.overwritten =
        new Overwritten(
            storage.spill(),
            Math.max(LEAST_OVERWRITTEN, storage.versions().budget() / OVERWRITTEN_SHARE));
  }

  /**
   * A transaction begins to write.
   *
   * @param shortRows up to so many rows can be {@linkplain #putBack put back}
   */
  public void begin(int shortRows) {
    written.begin(shortRows);
    overwritten.end();
    isHalfDone = false;
  }

  /** Its transaction has ended. */
  public void end() {
    holds.clear();
    written.clear();
    overwritten.end();
  }

  /** From now on others write rows of its transaction, too, and it cannot put all of them back. */
  void cannotPutBack() {
    written.giveUp();
  }

  /** Is shown a row. */
  @FunctionalInterface
  public interface RowVisitor {
    /**
     * A row that was written.
     *
     * @param tree id of its tree
     */
    void row(int tree, byte[] key);
  }

  /**
   * Shows all rows that its transaction has written.
   *
   * @return false if they are too many to be known: none was shown
   */
  public boolean forEachWritten(RowVisitor visitor) {
    if (!written.isComplete() || isHalfDone) {
      return false;
    }
    for (int row = 0; row < written.count(); row++) {
      visitor.row(written.tree(row).table(), written.key(row));
    }
    return true;
  }

  /**
   * Puts all rows back that its transaction has written, if they are few and there is credit at
   * once.
   *
   * @return false if some may be left
   */
  public boolean putBack(long id) {
    if (!written.isComplete() || isHalfDone) {
      return false;
    }
    for (int row = written.count() - 1; row >= 0; row--) {
      if (!storage.space().tryAcquire(RowRevert.CREDIT, RowRevert.PAGES)) {
        return false;
      }
      try {
        revert.row(written.tree(row), written.key(row), id, overwritten.hasKept());
      } finally {
        storage.space().release(RowRevert.CREDIT, RowRevert.PAGES);
      }
    }
    return true;
  }

  /** The transaction may go back to what is now; returns what {@link #goBackTo} is to be given. */
  public int savepoint() {
    return overwritten.mark();
  }

  /** The transaction has no savepoint any more. */
  public void noSavepoint() {
    overwritten.clear();
  }

  /**
   * Gives all rows back the versions that they had at a savepoint, the last one first. When it
   * throws, some have them and the rest is still to be done.
   */
  public void goBackTo(int savepoint, long id, long snapshot) {
    if (isHalfDone) {
      throw new IllegalStateException(
          "a statement of the transaction failed behind its record: it may have changed a row that is not remembered");
    }
    for (Overwritten.Version version = overwritten.last(savepoint);
        version != null;
        version = overwritten.last(savepoint)) {
      byte[] value = version.value();
      if (value == null) {
        storage.space().acquire(RowRevert.CREDIT, RowRevert.PAGES);
        try {
          revert.row(version.tree(), version.key(), id, /* mayBeGone= */ false);
        } finally {
          storage.space().release(RowRevert.CREDIT, RowRevert.PAGES);
        }
      } else {
        restore(version, value, id, snapshot);
      }
      overwritten.removeLast();
    }
  }

  private void restore(Overwritten.Version version, byte[] value, long id, long snapshot) {
    int kind = version.flags();
    isRestoring = true;
    adopted = kind == LeafCell.OVERFLOW ? ValueReference.of(value) : null;
    try {
      Outcome outcome = write(version.tree(), id, snapshot, version.key(), kind, value);
      if (outcome == Outcome.CONFLICT) {
        throw new IllegalStateException("a row of transaction " + id + " has become another's");
      }
    } finally {
      isRestoring = false;
      adopted = null;
    }
  }

  /**
   * A record of its transaction that is not about pages, to be begun; good until the next write.
   */
  public RecordBuilder bareRecord() {
    return mini.record();
  }

  /** What its transaction holds; here because writers are used again. */
  public Holds holds() {
    return holds;
  }

  /** The writer of overflow values that shares this one's mini-transaction. */
  public OverflowWriter overflow() {
    return overflow;
  }

  /** After {@link Outcome#CONFLICT}: who was there first. */
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
    return write(tree, id, snapshot, key, 0, value);
  }

  /** A writer of overflow values of its own, for a value that is written in several calls. */
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

  /** Stores a value of this transaction's that is in overflow pages. */
  Outcome putOverflow(Tree tree, long id, long snapshot, byte[] key, ValueReference written) {
    adopted = written;
    try {
      return write(tree, id, snapshot, key, LeafCell.OVERFLOW, written.bytes());
    } finally {
      adopted = null;
    }
  }

  /** Deletes a row. Whether there was one depends on {@link #metLsn}. */
  public Outcome delete(Tree tree, long id, long snapshot, byte[] key) {
    return write(tree, id, snapshot, key, LeafCell.DELETED, NO_BYTES);
  }

  private Outcome write(Tree tree, long id, long snapshot, byte[] key, int flags, byte[] value) {
    int need = 0;
    boolean makesRoom = false;
    overwritten.discard(); // of a write that came to nothing
    if (isHalfDone) {
      written.giveUp(); // one was written, and threw before it was remembered
    }
    if (!isRestoring) {
      storage.versions().awaitRoom(); // both with nothing latched
      overwritten.makeRoom();
    }
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
            remember(tree, key);
            metLsn = 0;
            return Outcome.DONE;
          }
        }
        try {
          Outcome outcome = writeTo(tree, leaf, id, snapshot, key, flags, value);
          if (outcome == null) {
            int half = descent.isAtRightEdge() ? -1 : splitHere(tree, leaf, key);
            if (half >= 0) {
              leaf = half;
              outcome = writeTo(tree, leaf, id, snapshot, key, flags, value);
            }
          }
          if (outcome != null) {
            return outcome;
          }
          need = newLength + Slotted.LEAF_SLOT + reserved;
        } finally {
          pool.unfixExclusive(leaf);
        }
      } finally {
        storage.space().release(credit, pages);
      }
      // Who has the page above latched may be splitting this very leaf.
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
  private @Nullable Outcome writeTo(
      Tree tree, int leaf, long id, long snapshot, byte[] key, int flags, byte[] value) {
    MemorySegment page = pool.page(leaf);
    tree.wrote(pool.stayOf(leaf), descent);
    int slot = SlottedSearch.search(page, key);
    if (slot < 0) {
      tree.demandCovers(page, key); // before anything is in the log
    }
    plan(page, slot, id, snapshot, key, flags, value);
    if (planned != Outcome.DONE) {
      if (planned == Outcome.CONFLICT) {
        conflictTree = tree.table();
        conflictKey = key.clone(); // the caller may use its array again
      }
      return planned;
    }
    if (!hasRoom(page, slot) && settle(leaf, page)) {
      plan(page, slot, id, snapshot, key, flags, value); // its predecessor may be gone
    }
    if (!hasRoom(page, slot)) {
      return null;
    }
    if (keepsPredecessor) {
      keepForSnapshots(tree, page, Slotted.cell(page, slot), key);
    }
    prepareToRemember(tree, page, slot, key);
    isHalfDone = true;
    apply(leaf, slot, id);
    remember(tree, key);
    return Outcome.DONE;
  }

  /** Before the row is changed: what fails now has changed nothing. */
  private void prepareToRemember(Tree tree, MemorySegment page, int slot, byte[] key) {
    if (isFirstTouch) {
      written.prepare(key);
    }
    if (overwritten.keeps() && !isRestoring) {
      boolean own = !isFirstTouch;
      int cell = own ? Slotted.cell(page, slot) : 0;
      overwritten.prepare(
          tree,
          key,
          own ? LeafCell.currentFlags(page, cell) : 0,
          own ? LeafCell.value(page, cell) : null);
    }
  }

  private void remember(Tree tree, byte[] key) {
    if (isFirstTouch) {
      written.add(tree, key);
    }
    overwritten.add();
    isHalfDone = false;
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
   * The key's leaf, latched exclusively; -1 if the row was inserted: by who had the leaf latched,
   * or at once, as it was to be appended.
   */
  private int leafUnlessInserted(Tree tree, byte[] key, long id, long snapshot, byte[] newValue) {
    isFirstTouch = true;
    written.prepare(key);
    if (!isRestoring) {
      overwritten.prepare(tree, key, 0, null);
    }
    isHalfDone = true;
    int leaf;
    try {
      leaf = tryToInsert(tree, key, id, snapshot, newValue);
    } finally {
      request.forget();
    }
    if (leaf != INSERTED) {
      isHalfDone = false;
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
      // So those who append rows do not wake each other for each of them.
      pool.runExclusive(stay, request);
      if (request.isInserted()) {
        return INSERTED;
      }
      if (!request.hasMissed() || appends) {
        break;
      }
    }
    return NOT_TRIED;
  }

  /** Carries out the request oneself; if it could not be, the leaf is still latched. */
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

  private boolean hasRoom(MemorySegment page, int slot) {
    reserved = reserve(page, slot, newLength);
    return room + reserved <= Slotted.free(page);
  }

  /**
   * What the right-most leaf keeps for new versions of the rows that are appended to it: without
   * any, the first update of each full leaf would split it.
   *
   * @param slot of the row, or where it goes, as from a search
   * @param length of its cell
   */
  static int reserve(MemorySegment page, int slot, int length) {
    boolean appends = slot < -1 && -slot - 1 == Slotted.count(page) && !Slotted.hasUpperFence(page);
    return appends && length <= RESERVE ? RESERVE : 0;
  }

  /**
   * Takes away the predecessors on a leaf that no snapshot needs; in a record of its own, so what
   * comes after may fail. That their successors are durable is not asked for: they stay, and this
   * record is behind their commits in the log (R9).
   *
   * @return false if that is not worth it: nothing was changed
   */
  private boolean settle(int leaf, MemorySegment page) {
    if (!Page.hasVersions(page) || gainAtMost(page) < MIN_GAIN) {
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

  /** What the predecessors on a leaf take, needed or not. */
  private static int gainAtMost(MemorySegment page) {
    int gain = 0;
    int count = Slotted.count(page);
    for (int slot = 0; slot < count; slot++) {
      gain += LeafCell.versionBytes(page, Slotted.cell(page, slot));
    }
    return gain;
  }

  private void plan(
      MemorySegment page,
      int slot,
      long id,
      long snapshot,
      byte[] key,
      int newFlags,
      byte[] newValue) {
    flags = newFlags;
    value = newValue;
    superseded = null;
    isFirstTouch = true;
    keepsPredecessor = false;
    planned = Outcome.DONE;
    metLsn = 0;
    boolean delete = flags == LeafCell.DELETED;
    if (slot < 0) {
      if (isRefusedAsGone(page, key, snapshot)) {
        return;
      }
      insert(delete, key, id);
      room -= Slotted.prefix(page);
      return;
    }
    int cell = Slotted.cell(page, slot);
    long writer = LeafCell.writer(page, cell);
    boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR);
    if (writer == id) {
      isFirstTouch = false;
      if (delete && LeafCell.is(page, cell, LeafCell.DELETED)) {
        planned = Outcome.NOTHING;
        return;
      }
      if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
        supersede(page, LeafCell.valueOffset(page, cell), writer);
      }
      replace(page, cell, PageOps.REPLACE);
      return;
    }
    long status = storage.transactions().outcome(writer);
    met(status);
    if (status == TransactionTable.ACTIVE) {
      conflict(writer, 0);
    } else if (status == TransactionTable.ABORTED) {
      planOverAborted(page, cell, predecessor, snapshot, key);
    } else if (status > snapshot) {
      conflict(writer, status);
    } else if (delete && LeafCell.is(page, cell, LeafCell.DELETED)) {
      planned = Outcome.NOTHING;
    } else {
      keepsPredecessor = predecessor;
      if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
        supersede(page, LeafCell.valueOffset(page, cell), writer);
      }
      // An id that nobody needs any more takes no room; a large value is known by it.
      boolean forAll = status == TransactionTable.COMMITTED_FOR_ALL && superseded == null;
      replace(page, cell, forAll ? PageOps.KEEP_FOR_ALL : PageOps.KEEP);
    }
  }

  /** Whether a row of which nothing is there may have been deleted above the snapshot: conflict. */
  private boolean isRefusedAsGone(MemorySegment page, byte[] key, long snapshot) {
    long deletedAt = storage.versions().unseenDeletes().after(Slotted.table(page), key, snapshot);
    if (deletedAt != 0) {
      conflict(0, deletedAt);
    }
    return deletedAt != 0;
  }

  private void planOverAborted(
      MemorySegment page, int cell, boolean predecessor, long snapshot, byte[] key) {
    boolean delete = flags == LeafCell.DELETED;
    if (!predecessor) {
      if (isRefusedAsGone(page, key, snapshot)) {
        return;
      }
      if (delete) {
        planned = Outcome.NOTHING;
      } else {
        replace(page, cell, PageOps.REPLACE);
      }
      return;
    }
    long before = LeafCell.predecessorWriter(page, cell);
    long status = storage.transactions().outcome(before);
    met(status);
    if (status > snapshot) {
      conflict(before, status);
    } else if (delete && LeafCell.is(page, cell, LeafCell.PREDECESSOR_DELETED)) {
      planned = Outcome.NOTHING;
    } else {
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW)) {
        supersede(page, LeafCell.predecessorOffset(page, cell), before);
      }
      replace(page, cell, PageOps.REPLACE);
    }
  }

  private void supersede(MemorySegment page, int reference, long writer) {
    superseded = ValueReference.of(page, reference);
    supersededWriter = writer;
  }

  private void insert(boolean delete, byte[] key, long id) {
    if (delete) {
      planned = Outcome.NOTHING;
      return;
    }
    newCell = LeafCell.build(key, flags, id, value);
    newLength = newCell.length;
    room = newLength + Slotted.LEAF_SLOT; // less where the page has a prefix
  }

  private void replace(MemorySegment page, int cell, int keep) {
    this.keep = keep;
    diff = LeafCell.diff(page, cell, flags, value);
    newLength = LeafCell.updatedLength(page, cell, keep, flags, value, diff, scratch);
    room = newLength - LeafCell.length(page, cell);
  }

  private void met(long status) {
    if (TransactionTable.isCommitted(status)) {
      metLsn = status;
    }
  }

  private void conflict(long writer, long lsn) {
    planned = Outcome.CONFLICT;
    conflictingWriter = writer;
    conflictLsn = lsn;
  }

  /**
   * The predecessor is about to leave the page: a snapshot that needs it finds it in the volatile
   * store.
   */
  private void keepForSnapshots(Tree tree, MemorySegment page, int cell, byte[] key) {
    long supersededAt = storage.transactions().outcome(LeafCell.writer(page, cell));
    long committedAt = storage.transactions().outcome(LeafCell.predecessorWriter(page, cell));
    if (supersededAt != TransactionTable.COMMITTED_FOR_ALL
        && storage.versions().keeps(committedAt, supersededAt)) {
      storage
          .versions()
          .push(
              tree.table(),
              key.clone(), // it is kept, and the caller may use its array again
              committedAt,
              supersededAt,
              LeafCell.predecessorFlags(page, cell),
              LeafCell.predecessor(page, cell));
    }
  }

  private void apply(int leaf, int slot, long id) {
    int leafId = pool.pageIdOf(leaf);
    valuePages.clear();
    if (superseded != null) {
      valuePages.add(superseded, supersededWriter, id);
    }
    if (adopted != null) {
      valuePages.add(adopted, id, 0);
    }
    try {
      valuePages.latch();
      maps.clear();
      mini.begin(id);
      RecordBuilder record = mini.change(leaf);
      boolean ghost = !valuePages.isEmpty() || flags == LeafCell.DELETED;
      boolean markLeaf = setBits(record, leaf, ghost);
      if (slot < 0) {
        PageOps.insert(record, -slot - 1, newCell);
      } else if (diff == ValueDiff.NONE) {
        PageOps.update(record, slot, flags, keep, id, value);
      } else {
        PageOps.change(record, slot, keep, id, value, diff);
      }
      mini.end();
      valuePages.write();
      maps.latchAndWrite(mini);
      mini.commit();
      if (ghost) {
        storage.marks().mark(leafId);
      } else if (markLeaf) {
        storage.marks().markForLater(leafId);
      }
      valuePages.mark();
    } finally {
      maps.unlatch();
      valuePages.unlatch();
    }
  }

  /** Sets the version bit of the leaf, or the ghost bit as well; whether that was news. */
  private boolean setBits(RecordBuilder record, int leaf, boolean ghost) {
    MemorySegment page = pool.page(leaf);
    int before = Page.flags(page);
    int after = before | Page.FLAG_VERSIONS | (ghost ? Page.FLAG_GHOST : 0);
    if (after == before) {
      return false;
    }
    maps.setFlags(record, page, pool.pageIdOf(leaf), after);
    return true;
  }
}
