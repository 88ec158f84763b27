package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Merge;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowRemoval;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.PageVisits;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The cleaner's visit of one page. It reverts rows of aborted transactions, drops unneeded
 * versions, frees large values, and merges a page that is too small.
 *
 * <p>Each thread of the cleaner has its own object; a visit is inside the gate.
 */
final class PageVisit {
  /*
   * Protocol    docs/protocols.md §8, §35; rules R2, R4, R9, R15.
   *
   * Invariants  I1 a page leaves the marks under its exclusive latch, in the step in which its bit is cleared.
   *             I2 nothing is dropped but by a logged change (R9), and only when its successor committed at or below
   *             a horizon that was computed before the page was latched (R4); a deleted row also as §41 and §48 say. A slot
   *             that was moved asks for no more than that all snapshots of now are above the page's LSN.
   *             I3 of a page that another thread has freed nothing is believed: the visit ends.
   *             I4 one credit at a time, taken with nothing latched (R17).
   */
  private static final int CREDIT = 24 * 1024;

  /** Credit for pages: the one visited, and its space map. */
  private static final int PAGES = 2;

  private final Storage storage;
  private final BufferPool pool;
  private final IntFunction<@Nullable Tree> trees;
  private final ActiveWriters active;
  private final PageVisits visits;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final OverflowRemoval removal;
  private final Merge merge;

  /** Whether a slot was left whose value has moved: it can be taken when a snapshot has ended. */
  private boolean leftMoved;

  /** Whether a deleted row was left because versions take too much memory. */
  private boolean leftForRoom;

  /**
   * Makes an object for the visits of one thread.
   *
   * @param trees the tree of a table id, or null if there is none
   * @param active the active writers that all threads have met
   * @param visits the visits of all threads
   */
  PageVisit(
      Storage storage, IntFunction<@Nullable Tree> trees, ActiveWriters active, PageVisits visits) {
    this.storage = storage;
    this.pool = storage.pool();
    this.trees = trees;
    this.active = active;
    this.visits = visits;
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.removal =
        new OverflowRemoval(
            pool, storage.allocator(), storage.marks(), storage.space(), mini, maps);
    this.merge = new Merge(pool, visits, storage.marks(), mini, maps, storage.counters().merges);
  }

  /** Whether a slot whose value has moved was left since the last call. */
  boolean takeLeftMoved() {
    boolean left = leftMoved;
    leftMoved = false;
    return left;
  }

  /** Whether a deleted row was left for lack of memory for versions since the last call. */
  boolean takeLeftForRoom() {
    boolean left = leftForRoom;
    leftForRoom = false;
    return left;
  }

  /**
   * Visits a page that the caller has {@linkplain PageVisits#begin begun} to visit; returns how
   * many things it changed.
   *
   * @param horizon every snapshot is at or above it, and the log is durable up to it
   */
  long visit(int pageId, long horizon) {
    storage.counters().pagesCleaned.increment();
    boolean remove = false;
    long changes = 0;
    int table = -1;
    byte[] fence = null;
    storage.space().acquireToClean(CREDIT, PAGES);
    try {
      int frame = pool.fixExclusive(pageId);
      try {
        MemorySegment page = pool.page(frame);
        if (visits.isFreed(pageId)) {
          return 0;
        }
        if (!Page.hasVersions(page)) {
          storage.marks().clear(pageId);
        } else if (Page.type(page) == Page.LEAF) {
          changes = cleanLeaf(frame, page, pageId, horizon);
          if (Merge.isSmall(page)) {
            table = Slotted.table(page);
            fence = Slotted.lowerFence(page);
          }
        } else if (Page.type(page) == Page.SHARED_VALUES) {
          changes = cleanShared(frame, page, pageId, horizon);
        } else if (Page.type(page) == Page.OVERFLOW_HEAD) {
          remove = cleanHead(frame, page, pageId, horizon);
        } else {
          throw pool.damage(
              pageId,
              "page "
                  + pageId
                  + " has a version bit, but is of type "
                  + Page.type(page)
                  + ", which has nothing to clean");
        }
      } finally {
        pool.unfixExclusive(frame);
      }
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
    storage.versions().spillIfNeeded();
    if (remove) {
      int freed = removal.remove(pageId);
      storage.counters().overflowPagesFreed.add(freed);
      changes += freed;
    }
    if (fence != null) {
      changes += merge(table, fence);
    }
    return changes;
  }

  private long merge(int table, byte[] fence) {
    Tree tree = trees.apply(table);
    if (tree == null) {
      return 0;
    }
    return merge(tree, fence, /* closely= */ false);
  }

  /**
   * Merges the leaf that begins at a fence, and pages above that become small; returns how many
   * pages were freed.
   */
  long merge(Tree tree, byte[] fence, boolean closely) {
    long merged = 0;
    for (int level = 0; ; level++) {
      long before = merged;
      // The neighbour on the other side may have waited for this merge, and is not visited again.
      while (mergeOnce(tree, fence, level, closely)) {
        merged++;
      }
      if (merged == before) {
        return merged;
      }
    }
  }

  private boolean mergeOnce(Tree tree, byte[] fence, int level, boolean closely) {
    storage.space().acquireToClean(Merge.CREDIT, Merge.PAGES);
    try {
      return merge.around(tree, fence, level, closely);
    } finally {
      storage.space().release(Merge.CREDIT, Merge.PAGES);
    }
  }

  private long cleanLeaf(int frame, MemorySegment page, int pageId, long horizon) {
    TransactionTable transactions = storage.transactions();
    boolean undecided = false;
    boolean isActive = false;
    boolean longActive = false;
    long changes = 0;
    mini.begin(0);
    maps.clear();
    RecordBuilder record = mini.change(frame);
    for (int slot = Slotted.count(page) - 1; slot >= 0; slot--) {
      int cell = Slotted.cell(page, slot);
      boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR);
      long writer = LeafCell.writer(page, cell);
      long status = transactions.outcome(writer);
      if (status == TransactionTable.ACTIVE) {
        boolean waits = active.takesLong(writer); // called once, because the answer may change
        longActive |= waits;
        isActive |= !waits;
      } else if (status == TransactionTable.ABORTED) {
        changes++;
        storage.counters().rowsReverted.increment();
        if (!predecessor) {
          PageOps.remove(record, slot);
          continue;
        }
        long before = LeafCell.predecessorWriter(page, cell);
        int flags = LeafCell.predecessorFlags(page, cell);
        if ((flags & LeafCell.DELETED) == 0) {
          PageOps.revert(record, slot);
        } else if (transactions.outcome(before) <= horizon) {
          PageOps.remove(record, slot);
        } else {
          undecided = true;
          PageOps.revert(record, slot);
        }
      } else if (status > horizon && mayLeave(page, cell, predecessor, status)) {
        changes++;
        storage.counters().versionsDropped.increment();
        PageOps.remove(record, slot);
      } else if (status > horizon) {
        undecided |= predecessor || LeafCell.is(page, cell, LeafCell.DELETED);
      } else if (LeafCell.is(page, cell, LeafCell.DELETED)) {
        changes++;
        storage.counters().versionsDropped.increment();
        PageOps.remove(record, slot);
      } else if (predecessor) {
        changes++;
        storage.counters().versionsDropped.increment();
        PageOps.settle(record, slot);
      }
    }
    Fate fate = worst(undecided, isActive, longActive);
    if (fate == Fate.SETTLED) {
      changes++;
      maps.setFlags(record, page, pageId, 0);
    }
    mini.end();
    commit(changes > 0);
    note(pageId, page, fate);
    return changes;
  }

  /**
   * Whether a row is deleted and leaves, although some snapshots are from before the delete: either
   * none of them sees it, or they find it in memory from now on.
   */
  private boolean mayLeave(MemorySegment page, int cell, boolean predecessor, long deletedAt) {
    if (!LeafCell.is(page, cell, LeafCell.DELETED) || deletedAt > storage.horizon().durable()) {
      return false;
    }
    long committedAt =
        deletedAt; // it was never committed if the deleting transaction itself has inserted it
    if (predecessor) {
      committedAt = storage.transactions().outcome(LeafCell.predecessorWriter(page, cell));
      if (!TransactionTable.isCommitted(committedAt)) {
        return false;
      }
    }
    byte[] key = Slotted.keyOf(page, cell);
    return isUnseen(page, key, committedAt, deletedAt)
        || mayDepart(page, cell, predecessor, key, committedAt, deletedAt);
  }

  private boolean isUnseen(MemorySegment page, byte[] key, long committedAt, long deletedAt) {
    return storage.versions().mayTakeUnseen(Slotted.table(page), key, committedAt, deletedAt);
  }

  private boolean mayDepart(
      MemorySegment page,
      int cell,
      boolean predecessor,
      byte[] key,
      long committedAt,
      long deletedAt) {
    int flags = predecessor ? LeafCell.predecessorFlags(page, cell) : LeafCell.DELETED;
    byte[] value = (flags & LeafCell.DELETED) != 0 ? null : LeafCell.predecessor(page, cell);
    boolean departs =
        storage
            .versions()
            .mayDepart(Slotted.table(page), key, committedAt, deletedAt, flags, value);
    leftForRoom |= !departs;
    return departs;
  }

  /** The decision about a large value. */
  private enum Fate {
    /** It is no longer needed. */
    GONE,
    /** It stays, and is not superseded. */
    SETTLED,
    /** It may still be needed. */
    UNDECIDED,
    /** A transaction that has not ended decides. */
    ACTIVE,
    /** A transaction that is prepared, or takes long, decides. */
    LONG_ACTIVE
  }

  /** The decision for a page, from those for its values. */
  private static Fate worst(boolean undecided, boolean active, boolean longActive) {
    return active
        ? Fate.ACTIVE
        : undecided ? Fate.UNDECIDED : longActive ? Fate.LONG_ACTIVE : Fate.SETTLED;
  }

  private Fate fate(long writer, long superseder, long horizon) {
    TransactionTable transactions = storage.transactions();
    long written = transactions.outcome(writer);
    if (written == TransactionTable.ABORTED) {
      return Fate.GONE;
    }
    long superseded = transactions.outcome(superseder);
    if (written == TransactionTable.ACTIVE || superseded == TransactionTable.ACTIVE) {
      long decides = written == TransactionTable.ACTIVE ? writer : superseder;
      return active.takesLong(decides) ? Fate.LONG_ACTIVE : Fate.ACTIVE;
    }
    if (superseder == 0 || superseded == TransactionTable.ABORTED) {
      return Fate.SETTLED;
    }
    return superseded <= horizon ? Fate.GONE : Fate.UNDECIDED;
  }

  /** Decides about a large value; returns whether it has to be freed. */
  private boolean cleanHead(int frame, MemorySegment page, int pageId, long horizon) {
    long superseder = OverflowPage.superseder(page);
    Fate fate =
        storage.marks().isGivenUp(pageId)
            ? Fate.GONE
            : fate(OverflowPage.writer(page), superseder, horizon);
    if (fate == Fate.SETTLED) {
      mini.begin(0);
      maps.clear();
      RecordBuilder record = mini.change(frame);
      if (superseder != 0) {
        PageOps.setLong(record, OverflowPage.SUPERSEDER, 0);
      }
      maps.setFlags(record, page, pageId, 0);
      mini.end();
      commit(true);
    }
    if (fate != Fate.GONE) {
      note(pageId, page, fate);
    }
    return fate == Fate.GONE;
  }

  /** Decides about the values of a shared page, which is freed if none is left. */
  private long cleanShared(int frame, MemorySegment page, int pageId, long horizon) {
    boolean undecided = false;
    boolean isActive = false;
    boolean longActive = false;
    boolean tookMoved = false;
    Fate ofMoved = SharedValues.hasMoved(page) ? fateOfMoved(page) : Fate.UNDECIDED;
    int left = 0;
    long changes = 0;
    int free = SharedValues.free(page);
    mini.begin(0);
    maps.clear();
    RecordBuilder record = mini.change(frame);
    for (int slot = SharedValues.count(page) - 1; slot >= 0; slot--) {
      if (!SharedValues.isTaken(page, slot)) {
        continue;
      }
      long superseder = SharedValues.superseder(page, slot);
      boolean moved = superseder == SharedValues.MOVED;
      Fate fate = moved ? ofMoved : fate(SharedValues.writer(page, slot), superseder, horizon);
      if (fate == Fate.GONE) {
        changes++;
        free += SharedValues.length(page, slot);
        PageOps.takeValue(record, slot);
        tookMoved |= moved;
        continue;
      }
      left++;
      isActive |= fate == Fate.ACTIVE;
      longActive |= fate == Fate.LONG_ACTIVE;
      undecided |= fate == Fate.UNDECIDED;
      if (fate == Fate.SETTLED && superseder != 0) {
        changes++;
        PageOps.setLong(record, SharedValues.supersederOffset(slot), 0);
      }
    }
    if (left == 0) {
      freePage(pageId);
      return 1;
    }
    Fate worst = worst(undecided, isActive, longActive);
    boolean settled = worst == Fate.SETTLED;
    int before = SharedValues.fullness(page);
    int after = SharedValues.fullness(free);
    if (settled) {
      changes++;
      PageOps.setByte(record, Page.FLAGS, 0);
    }
    if (settled || after != before) {
      maps.set(pageId, SpaceMapPage.inUse(settled ? 0 : Page.flags(page)) | after);
    }
    mini.end();
    commit(changes > 0);
    if (after != before || tookMoved) {
      storage.roomy().hasRoom(pageId, after);
    }
    note(pageId, page, worst);
    return changes;
  }

  /**
   * The decision about a moved value: a reader that has read its former place may come back there
   * as long as its snapshot is open.
   */
  private Fate fateOfMoved(MemorySegment page) {
    boolean isForgotten = Page.lsn(page) <= storage.horizon().refresh().horizon();
    leftMoved |= !isForgotten;
    return isForgotten ? Fate.GONE : Fate.UNDECIDED;
  }

  /** Frees the latched page, which has nothing that is still needed. */
  private void freePage(int pageId) {
    mini.begin(0);
    maps.clear();
    mini.free(pageId);
    maps.set(pageId, 0);
    commit(true);
    storage.marks().clear(pageId);
    storage.counters().overflowPagesFreed.increment();
    storage.allocator().release(pageId);
  }

  private void commit(boolean changed) {
    if (!changed) {
      return;
    }
    try {
      maps.latchAndWrite(mini);
      mini.commit();
    } finally {
      maps.unlatch();
    }
  }

  private void note(int pageId, MemorySegment page, Fate fate) {
    switch (fate) {
      case SETTLED -> storage.marks().clear(pageId);
      case ACTIVE -> storage.marks().postpone(pageId);
      case LONG_ACTIVE -> storage.marks().postponeLong(pageId);
      case UNDECIDED ->
          storage.marks().undecided(pageId, (Page.flags(page) & Page.FLAG_GHOST) != 0);
      case GONE -> {}
    }
  }
}
