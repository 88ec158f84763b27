package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
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

  private static final byte[] NO_BYTES = new byte[0];

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final Split split;
  private final OverflowWriter overflow;
  private final Descent descent = new Descent();
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
  private int adopted;
  private int superseded;
  private boolean keepsPredecessor;
  private Outcome planned = Outcome.DONE;

  // A row to be inserted into a leaf that somebody else is writing now: a request, see
  // insertThere().
  private final Runnable insertThere = this::insertThere;
  private @Nullable Stay there;
  private @Nullable Tree treeThere;
  private byte[] keyThere = NO_BYTES;
  private long idThere;
  private boolean inserted;

  /** A writer with its own mini-transaction. */
  public RowWriter(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = new MapChanges(pool);
    this.split =
        new Split(
            pool, storage.allocator(), storage.marks(), mini, maps, storage.counters().splits);
    this.overflow =
        new OverflowWriter(pool, storage.allocator(), storage.marks(), storage.space(), mini, maps);
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
        new MapChanges(pool));
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
    while (true) {
      int credit = need > 0 ? CREDIT + Split.CREDIT : CREDIT;
      int pages = need > 0 ? PAGES + Split.PAGES : PAGES;
      storage.space().acquire(credit, pages);
      try {
        int leaf = -1;
        if (need > 0) {
          leaf = split.leafWithRoom(tree, key, need);
        } else {
          Stay stay = tree.leafToWrite(key, descent);
          if (stay != null) {
            leaf = pool.tryFixExclusive(stay, descent.stamp());
            if (leaf < 0 && flags == 0 && wasInserted(tree, stay, key, id, value)) {
              return Outcome.DONE;
            }
          }
          if (leaf < 0) {
            leaf = tree.leafExclusive(key, descent);
          }
        }
        try {
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
          if (hasRoom(page, slot)) {
            if (keepsPredecessor) {
              keepForSnapshots(tree, page, Slotted.cell(page, slot), key);
            }
            apply(leaf, slot, id, flags == LeafCell.OVERFLOW ? adopted : 0);
            return Outcome.DONE;
          }
          need = newLength + Slotted.LEAF_SLOT + reserve(page, slot);
        } finally {
          pool.unfixExclusive(leaf);
        }
      } finally {
        storage.space().release(credit, pages);
      }
    }
  }

  /**
   * Has a row inserted by whoever has the leaf latched now, if it is a new one and nothing else has
   * to be done: so those who append rows do not wake each other for each of them.
   *
   * @return false if it was not, for whatever reason
   */
  private boolean wasInserted(Tree tree, Stay leaf, byte[] key, long id, byte[] newValue) {
    flags = 0;
    value = newValue;
    metLsn = 0;
    insert(/* delete= */ false, key, id);
    there = leaf;
    treeThere = tree;
    keyThere = key;
    idThere = id;
    inserted = false;
    try {
      pool.runExclusive(leaf, insertThere);
    } finally {
      there = null;
      treeThere = null;
      keyThere = NO_BYTES;
    }
    return inserted;
  }

  /**
   * The request (R22): it runs under the leaf's exclusive latch, on this writer's thread or on that
   * of another, while this one waits; it latches nothing and waits for nothing but room in the log
   * buffer, which the log's own thread makes. The record names this writer's transaction, the
   * credit is its own; it returns only when the record is published and the row is on the page.
   */
  private void insertThere() {
    Stay leaf = Objects.requireNonNull(there);
    if (leaf.isObsolete()) {
      return;
    }
    MemorySegment page = leaf.page();
    // Without the version bit a space map would have to be latched.
    if (!Objects.requireNonNull(treeThere).isLeafOf(leaf, keyThere) || !Page.hasVersions(page)) {
      return;
    }
    int slot = Slotted.search(page, keyThere);
    if (slot >= 0 || !hasRoom(page, slot)) {
      return;
    }
    mini.begin(idThere);
    PageOps.insert(mini.change(leaf.frame()), -slot - 1, newCell);
    mini.end();
    mini.commit();
    inserted = true;
  }

  private boolean hasRoom(MemorySegment page, int slot) {
    return room + reserve(page, slot) <= Slotted.free(page);
  }

  /**
   * What the right-most leaf keeps for new versions of the rows that are appended to it: without
   * any, the first update of each full leaf would split it.
   */
  private int reserve(MemorySegment page, int slot) {
    boolean appends = slot < -1 && -slot - 1 == Slotted.count(page) && !Slotted.hasUpperFence(page);
    return appends && newLength <= RESERVE ? RESERVE : 0;
  }

  /**
   * Takes away the predecessors on a leaf that no snapshot needs; in a record of its own, so what
   * comes after may fail. That their successors are durable is not asked for: they stay, and this
   * record is behind their commits in the log (R9).
   *
   * @return false if that is not worth it: nothing was changed
   */
  private boolean settle(int leaf, MemorySegment page) {
    if (!Page.hasVersions(page)) {
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
      boolean markLeaf = !Page.hasVersions(pool.page(leaf));
      if (markLeaf) {
        setVersionBit(record, leafId);
      }
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
        if (!Page.hasVersions(pool.page(headFrames[i]))) {
          setVersionBit(record, heads[i]);
          markHead = heads[i];
        }
        mini.end();
      }
      maps.latchAndWrite(mini);
      mini.commit();
      if (count > 0 || flags == LeafCell.DELETED) {
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

  private void setVersionBit(RecordBuilder record, int pageId) {
    PageOps.setByte(record, Page.FLAGS, Page.FLAG_VERSIONS);
    maps.set(pageId, SpaceMapPage.ALLOCATED | SpaceMapPage.VERSION);
  }
}
