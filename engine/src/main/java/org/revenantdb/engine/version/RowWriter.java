package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Writes rows for one transaction. One thread at a time.
 *
 * <p>First updater wins: a row whose newest committed version is above the snapshot, or that
 * another transaction is writing, is a conflict, and nothing has changed.
 */
public final class RowWriter {
  /*
   * Source      "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.2, §3.3, Figure 6; design §8.
   *             We differ: the predecessor is kept in the row in full (diffs come later), and what is older goes to a
   *             store that is never logged.
   *
   * Decision    current version's writer W, leaf latched exclusively (protocols.md §7):
   *               me                          replace the current version, keep the predecessor
   *               aborted                     the predecessor's writer decides about conflict; replace, keep it
   *               committed <= snapshot       the current version becomes the predecessor; the former predecessor goes
   *                                           to the volatile store first, if a snapshot needs it
   *               committed > snapshot, else  conflict
   *
   * Record      one, with the transaction's id: the row; the version bit and its mirror if the page has none; heads of
   *             overflow values: the new one is adopted (superseder 0), the one replaced gets this transaction as
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

  /** Credit for pages: the leaf, the heads of two large values, and the space maps of all three. */
  private static final int PAGES = 6;

  /** Room for some versions of small rows. */
  private static final int RESERVE = 1024;

  /** What taking predecessors away has to bring: else the leaf is split. */
  private static final int MIN_GAIN = 256;

  /** How often a writer who finds the leaf full leaves it to others to split it. */
  private static final int LETS_OTHERS_SPLIT = 8;

  /** How often a request follows a leaf that is split while it waits. */
  private static final int REQUESTS = 4;

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
  private final int[] heads = new int[2];
  private final int[] headFrames = {-1, -1};

  private long conflictingWriter;
  private long conflictLsn;
  private long metLsn;

  // The plan for one row, made by plan() and carried out by apply().
  private byte[] newCell = NO_BYTES;
  private int flags;
  private byte[] value = NO_BYTES;

  /** Of a row that is there: whether its current version becomes the predecessor. */
  private boolean supersedes;

  /** Bytes of the new cell, and of a new slot. */
  private int newLength;

  private int room;

  /** Bytes that have to stay free beside. */
  private int reserved;

  private int adopted;
  private int superseded;
  private boolean keepsPredecessor;
  private Outcome planned = Outcome.DONE;

  /** A writer with its own mini-transaction. */
  public RowWriter(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.split = storage.splitter(mini, maps);
    this.overflow =
        new OverflowWriter(pool, storage.allocator(), storage.marks(), storage.space(), mini, maps);
    this.request = new InsertRequest(mini);
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
  public long conflictingWriter() {
    return conflictingWriter;
  }

  /** After {@link Outcome#CONFLICT}: the LSN of its commit, 0 if it has not ended. */
  public long conflictLsn() {
    return conflictLsn;
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
    return new OverflowWriter(
        pool,
        storage.allocator(),
        storage.marks(),
        storage.space(),
        new MiniTransaction(pool, storage.log()),
        storage.mapChanges());
  }

  /** Stores the value that this writer of overflow values has written. */
  public Outcome putOverflow(
      Tree tree, long id, long snapshot, byte[] key, OverflowWriter written) {
    Outcome outcome = putOverflow(tree, id, snapshot, key, written.head(), written.length());
    if (outcome == Outcome.DONE) {
      storage.counters().overflowValues.increment();
    }
    return outcome;
  }

  /** Stores a value of this transaction's that is in overflow pages from this head on. */
  Outcome putOverflow(Tree tree, long id, long snapshot, byte[] key, int head, long length) {
    adopted = head;
    return write(tree, id, snapshot, key, LeafCell.OVERFLOW, LeafCell.reference(head, length));
  }

  /** Deletes a row. Whether there was one depends on {@link #metLsn}. */
  public Outcome delete(Tree tree, long id, long snapshot, byte[] key) {
    return write(tree, id, snapshot, key, LeafCell.DELETED, NO_BYTES);
  }

  private Outcome write(Tree tree, long id, long snapshot, byte[] key, int flags, byte[] value) {
    int need = 0;
    boolean makesRoom = false;
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
          leaf = leafUnlessInserted(tree, key, id, value);
          if (leaf < 0) {
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
    int slot = Slotted.search(page, key);
    if (slot < 0) {
      tree.demandCovers(page, key); // before anything is in the log
    }
    plan(page, slot, id, snapshot, key, flags, value);
    if (planned != Outcome.DONE) {
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
    apply(leaf, slot, id, flags == LeafCell.OVERFLOW ? adopted : 0);
    return Outcome.DONE;
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
  private int leafUnlessInserted(Tree tree, byte[] key, long id, byte[] newValue) {
    try {
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
          request.prepare(tree, stay, key, id, newValue);
        }
        int leaf = pool.tryFixExclusive(stay, descent.stamp());
        if (leaf >= 0) {
          return appends && insertedAt(leaf) ? -1 : leaf;
        }
        if (!appends) {
          request.prepare(tree, stay, key, id, newValue);
        }
        // So those who append rows do not wake each other for each of them.
        pool.runExclusive(stay, request);
        if (request.isInserted()) {
          return -1;
        }
        if (!request.hasMissed() || appends) {
          break;
        }
      }
    } finally {
      request.forget();
    }
    return tree.leafExclusive(key, descent);
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
          gain += LeafCell.predecessorLength(page, cell) + Long.BYTES;
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
      int cell = Slotted.cell(page, slot);
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
        gain += LeafCell.predecessorLength(page, cell) + Long.BYTES;
      }
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
    superseded = 0;
    keepsPredecessor = false;
    planned = Outcome.DONE;
    metLsn = 0;
    boolean delete = flags == LeafCell.DELETED;
    if (slot < 0) {
      insert(delete, key, id);
      room -= Slotted.prefix(page);
      return;
    }
    int cell = Slotted.cell(page, slot);
    long writer = LeafCell.writer(page, cell);
    boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR);
    if (writer == id) {
      if (delete && LeafCell.is(page, cell, LeafCell.DELETED)) {
        planned = Outcome.NOTHING;
        return;
      }
      if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
        superseded = LeafCell.referenceHead(page, LeafCell.valueOffset(page, cell));
      }
      replace(page, cell, /* supersede= */ false);
      return;
    }
    long status = storage.transactions().outcome(writer);
    met(status);
    if (status == TransactionTable.ACTIVE) {
      conflict(writer, 0);
    } else if (status == TransactionTable.ABORTED) {
      planOverAborted(page, cell, predecessor, snapshot, delete);
    } else if (status > snapshot) {
      conflict(writer, status);
    } else if (delete && LeafCell.is(page, cell, LeafCell.DELETED)) {
      planned = Outcome.NOTHING;
    } else {
      keepsPredecessor = predecessor;
      if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
        superseded = LeafCell.referenceHead(page, LeafCell.valueOffset(page, cell));
      }
      replace(page, cell, /* supersede= */ true);
    }
  }

  private void planOverAborted(
      MemorySegment page, int cell, boolean predecessor, long snapshot, boolean delete) {
    if (!predecessor) {
      if (delete) {
        planned = Outcome.NOTHING;
      } else {
        replace(page, cell, /* supersede= */ false);
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
        superseded = LeafCell.referenceHead(page, LeafCell.predecessorOffset(page, cell));
      }
      replace(page, cell, /* supersede= */ false);
    }
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

  private void replace(MemorySegment page, int cell, boolean supersede) {
    supersedes = supersede;
    newLength = LeafCell.updatedLength(page, cell, supersede, value.length);
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
        && storage.horizon().needs(committedAt, supersededAt)) {
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

  private void apply(int leaf, int slot, long id, int newHead) {
    int count = 0;
    if (superseded != 0) {
      heads[count++] = superseded;
    }
    if (newHead != 0) {
      heads[count++] = newHead;
    }
    Arrays.sort(heads, 0, count);
    int leafId = pool.pageIdOf(leaf);
    try {
      for (int i = 0; i < count; i++) {
        headFrames[i] = pool.fixExclusive(heads[i]);
      }
      maps.clear();
      mini.begin(id);
      RecordBuilder record = mini.change(leaf);
      boolean ghost = count > 0 || flags == LeafCell.DELETED;
      boolean markLeaf = setBits(record, leaf, ghost);
      if (slot < 0) {
        PageOps.insert(record, -slot - 1, newCell);
      } else {
        PageOps.update(record, slot, flags, supersedes, id, value);
      }
      mini.end();
      int markHead = 0;
      for (int i = 0; i < count; i++) {
        record = mini.change(headFrames[i]);
        PageOps.setLong(record, OverflowPage.SUPERSEDER, heads[i] == superseded ? id : 0);
        if (setBits(record, headFrames[i], /* ghost= */ true)) {
          markHead = heads[i];
        }
        mini.end();
      }
      maps.latchAndWrite(mini);
      mini.commit();
      if (ghost) {
        storage.marks().mark(leafId);
      } else if (markLeaf) {
        storage.marks().markForLater(leafId);
      }
      if (markHead != 0) {
        storage.marks().mark(markHead);
      }
    } finally {
      maps.unlatch();
      for (int i = 0; i < count; i++) {
        if (headFrames[i] >= 0) {
          pool.unfixExclusive(headFrames[i]);
          headFrames[i] = -1;
        }
      }
    }
  }

  /** Sets the version bit of a page, or the ghost bit as well; whether that was news. */
  private boolean setBits(RecordBuilder record, int frame, boolean ghost) {
    int before = Page.flags(pool.page(frame));
    int after = before | Page.FLAG_VERSIONS | (ghost ? Page.FLAG_GHOST : 0);
    if (after == before) {
      return false;
    }
    PageOps.setByte(record, Page.FLAGS, after);
    maps.set(pool.pageIdOf(frame), SpaceMapPage.inUse(after));
    return true;
  }
}
