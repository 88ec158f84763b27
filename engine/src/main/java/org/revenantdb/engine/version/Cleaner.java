package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Merge;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowRemoval;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.txn.Horizon;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.DroppedTables.DroppedTable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Takes back what aborted transactions left, drops versions that no snapshot needs, gives space
 * back.
 *
 * <p>One platform thread of the engine; it visits just the pages whose version bit is set. Callers
 * only {@link #poke}.
 */
public final class Cleaner implements AutoCloseable {
  /*
   * Source      "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.7; rules R2, R4, R9, R15.
   *
   * Two kinds    While there are writers, a pass visits the pages where only it can give something back, and a few of the
   *             others, whose next writer drops what he needs the room of (RowWriter.settle): to visit each page that
   *             was written since the last pass costs as much again as writing it. A pass with something to forget, on
   *             request, or while nobody writes, is a whole one:
   *
   * Pass        1 A := ids in the ATM that the table does not call active
   *             2 after a restart, once: marks every page whose bit a space map shows. P := marked pages
   *             3 horizon: below every snapshot, and durable (R10); then free what dropped tables have left, where
   *             none is older than the drop (TableRemoval); then visit each page of P and each that is handed over meanwhile
   *             4 FORGET A is published, then A leaves the ATM
   *
   * Invariants  I1 only this thread frees pages, so a marked page is allocated when it is visited.
   *             I2 a page leaves the marks under its exclusive latch, in the step in which its bit is cleared.
   *             I3 nothing is dropped but by a logged change (R9), and only when its successor committed at or below
   *             a horizon that was computed before the page was latched (R4). A slot that was moved asks for no
   *             more than that all snapshots of now are above the page's LSN.
   *
   *             I4 a page that cannot be read, or be cleaned for want of room, stays marked, and nothing is forgotten in
   *             that pass: rows of an aborted transaction may be there. Others are not kept from their work by it.
   *
   * Crash       between any two records: the bits still stand for what is not done; FORGET lost: the next life's first
   *             pass finds nothing of A and says it again.
   */
  /** Runs a step while nobody has stopped the database to look at it. */
  @FunctionalInterface
  public interface Inside {
    /** Runs it. */
    long run(LongSupplier step);
  }

  /** Somebody waits until all has been cleaned and this work has been done. */
  private record Request(LongSupplier work, CompletableFuture<Long> done) {}

  private static final int CREDIT = 24 * 1024;

  /** Credit for pages: the one visited, and its space map. */
  private static final int PAGES = 2;

  /** Passes for one request at the most; a database at rest needs two or three. */
  private static final int MAX_PASSES = 64;

  /** Pages that can wait of a pass that is not whole. */
  private static final int FEW = 32;

  private static final int IDS_PER_RECORD = 8_000;

  /** Steps of the removal of a dropped table in a pass that others wait for. */
  private static final int REMOVAL_STEPS = 4_096;

  /** Who opened the database has processors and disk for himself first, if he asks for nothing. */
  private static final long FIRST_PAUSE = 100_000_000L;

  /** Work between two rests, beside those who write. */
  private static final long SLICE = 500_000L;

  /** A rest is so many times as long as the work before it. */
  private static final int RESTS = 9;

  /** While it rests it looks so often whether others still write. */
  private static final long LOOK = 200_000L;

  private static final long SHORTEST_PAUSE = 20_000_000L;
  private static final long LONGEST_PAUSE = 2_000_000_000L;

  private final Storage storage;
  private final BufferPool pool;
  private final IntFunction<@Nullable Tree> trees;
  private final Inside inside;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final OverflowRemoval removal;
  private final Merge merge;
  private final RecordBuilder forget = new RecordBuilder();
  private final Compactor compactor;
  private final DroppedTables dropped;
  private final Unfinished unfinished;
  private final TableRemoval tableRemoval;
  private final ConcurrentLinkedQueue<Request> requests = new ConcurrentLinkedQueue<>();
  private final FileThread thread;

  private boolean mapsRead;

  private final ActiveWriters active;
  private long restedAt;
  private long tidiedAt;

  /** Up to where the last pass could drop versions. */
  private long settledBefore;

  private long horizonBefore;

  /**
   * Whether something of a dropped table, or an extent, was left in this pass: it is tried again.
   */
  private boolean leftForLater;

  /** Whether a slot was left whose value has moved: it can be taken when a snapshot has ended. */
  private boolean leftMoved;

  /** Whether the last pass has left something that only another try can do. */
  private boolean skippedBefore;

  private volatile boolean poked;
  private volatile boolean closed;

  /**
   * A cleaner that is not yet running.
   *
   * @param trees the tree of a table id, or null if there is none
   * @param dropped tables whose pages have to be given back
   * @param unfinished what transactions have done to tables
   * @param inside what each step runs in
   * @param mapsRead whether there can be no marks of a former life, as in a new database
   */
  public Cleaner(
      Storage storage,
      IntFunction<@Nullable Tree> trees,
      DroppedTables dropped,
      Unfinished unfinished,
      Inside inside,
      boolean mapsRead,
      String threadName) {
    this.storage = storage;
    this.dropped = dropped;
    this.unfinished = unfinished;
    this.inside = inside;
    this.pool = storage.pool();
    this.trees = trees;
    this.mapsRead = mapsRead;
    this.active = new ActiveWriters(storage.transactions(), storage.marks());
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.removal =
        new OverflowRemoval(
            pool, storage.allocator(), storage.marks(), storage.space(), mini, maps);
    this.merge =
        new Merge(
            pool, storage.allocator(), storage.marks(), mini, maps, storage.counters().merges);
    this.tableRemoval = new TableRemoval(storage, dropped.catalogue(), mini, maps);
    this.compactor =
        new Compactor(
            storage,
            trees,
            inside,
            () -> closed,
            (tree, fence) -> merge(tree, fence, /* closely= */ true),
            this::visitLeft,
            mini,
            maps);
    this.thread = FileThread.of(threadName, this::run);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  /** A transaction that wrote something has ended, or a table was dropped. */
  public void poke() {
    if (!poked) {
      poked = true;
      thread.unpark();
    }
  }

  /** Cleans whatever can be cleaned now; returns when that is done. */
  public void cleanNow() {
    perform(() -> 0);
  }

  /**
   * Cleans, then moves pages from the end of the file to free ones further front; returns when that
   * is done (protocols.md §18).
   *
   * @param all the trees of the database; asked for when all is clean, since no tree of a dropped
   *     table goes from then on until the end
   * @return how many pages were moved
   */
  public long compact(Supplier<List<Tree>> all) {
    return perform(() -> compactHere(all.get()));
  }

  private long perform(LongSupplier work) {
    Request request = new Request(work, new CompletableFuture<>());
    requests.add(request);
    thread.unpark();
    if (closed) {
      request.done().complete(0L);
    }
    try {
      return request.done().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LogStoppedException stopped) {
        throw stopped;
      }
      throw e;
    }
  }

  /** Moves pages, in the calling thread: for those that have no thread of the cleaner's. */
  long compactHere(List<Tree> all) {
    long moved = compactor.compact(all);
    compactor.giveBackRetired(storage.horizon().refresh());
    giveBackExtents();
    return moved;
  }

  /** What transactions have done to tables, and what is left of it when they have ended. */
  public interface Unfinished {
    /** Whether a transaction has left something that is decided by its outcome: no FORGET yet. */
    boolean holds(long transaction);

    /** Whether one that has ended has. */
    boolean hasUnfinished();

    /** Finishes what ended ones have left; false if not all of it could be. Inside the gate. */
    boolean finish();
  }

  /** Stops after the page that is being visited, and waits for that. */
  @Override
  public void close() {
    closed = true;
    thread.unpark();
    thread.join();
  }

  private void run() {
    Throwable failure = null;
    try {
      pauseUntilTold(FIRST_PAUSE);
      long pause = SHORTEST_PAUSE;
      while (!closed) {
        if (!requests.isEmpty()) {
          serveRequest();
          continue;
        }
        if (idle()) {
          awaitPoke();
          pauseUntilTold(SHORTEST_PAUSE);
          continue;
        }
        boolean atRest = !poked;
        poked = false;
        boolean changed = pass(/* everything= */ false, /* wanted= */ atRest) > 0;
        pause = changed ? SHORTEST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
        if (!atRest && storage.marks().hasLater()) {
          pauseUntilTold(SHORTEST_PAUSE);
        } else if (changed || skippedBefore) {
          pauseUntilTold(pause);
        } else {
          awaitNews();
          pause = SHORTEST_PAUSE;
        }
      }
    } catch (Throwable e) {
      failure = e;
      if (storage.log().failure() == null) {
        storage.log().fail(e);
      }
    } finally {
      closed = true;
      for (Request request; (request = requests.poll()) != null; ) {
        if (failure == null) {
          request.done().complete(0L);
        } else {
          request.done().completeExceptionally(failure);
        }
      }
    }
  }

  private void serveRequest() {
    Request request = requests.poll();
    if (request == null) {
      return;
    }
    try {
      // Again, as merging and forgetting may have made more possible; but not for ever beside those
      // who write.
      for (int passes = 0;
          passes < MAX_PASSES
              && !closed
              && pass(/* everything= */ true, /* wanted= */ true) > 0; ) {
        passes++;
      }
      long result = request.work().getAsLong();
      request.done().complete(result);
    } catch (Throwable failure) {
      request.done().completeExceptionally(failure);
      throw failure;
    }
  }

  private boolean idle() {
    return mapsRead
        && !storage.transactions().mayForget()
        && storage.marks().isEmpty()
        && !active.holdPages()
        && storage.transactions().aborted().size() == 0
        && storage.versions().isEmpty()
        && dropped.isEmpty()
        && !unfinished.hasUnfinished()
        && storage.allocator().loosened().isEmpty()
        && !compactor.hasRetired();
  }

  /**
   * Waits, after a pass that changed nothing, until another one may. Nobody tells when a snapshot
   * is given back or the log becomes durable, so it looks, now and then, at two numbers: whoever
   * keeps an idle database with versions that cannot go yet has its pages left alone.
   */
  private void awaitNews() {
    long pause = SHORTEST_PAUSE;
    while (isNothingNew()) {
      LockSupport.parkNanos(this, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    pauseUntilTold(SHORTEST_PAUSE);
  }

  /** Whether a pass could do nothing that the last one could not. */
  boolean isNothingNew() {
    Horizon horizon = storage.horizon();
    SnapshotSet snapshots = horizon.refresh();
    return !poked
        && !closed
        && requests.isEmpty()
        && horizon.settled(snapshots) <= settledBefore
        && ((storage.versions().isEmpty() && !compactor.hasRetired() && !leftMoved)
            || snapshots.horizon() <= horizonBefore);
  }

  private void awaitPoke() {
    while (!poked && !closed && requests.isEmpty()) {
      LockSupport.park(this);
    }
    poked = false;
  }

  /** A pause that only a request or the end cuts short, so that work gathers. */
  private void pauseUntilTold(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos;
        left > 0 && !closed && requests.isEmpty();
        left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  /**
   * After some work a rest, nine times as long, if others write: what aborted transactions have
   * left is in nobody's way, and there may be much of it. Who wants it away now is not kept
   * waiting.
   */
  private void letOthersGoFirst() {
    long now = System.nanoTime();
    if (now - restedAt < SLICE) {
      return;
    }
    long end = now + RESTS * Math.min(now - restedAt, 2 * SLICE);
    long tail = storage.log().tail();
    boolean othersWrite = true;
    while (othersWrite && !closed && requests.isEmpty() && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(this, LOOK);
      long moved = storage.log().tail();
      othersWrite = moved != tail;
      tail = moved;
    }
    restedAt = System.nanoTime();
    if (restedAt - tidiedAt > LONGEST_PAUSE) {
      tidiedAt = restedAt; // what a pass does in its end, and this one may take long
      SnapshotSet snapshots = storage.horizon().refresh();
      storage.transactions().forget(storage.horizon().settled(snapshots));
      storage.versions().prune(snapshots);
    }
  }

  /** Whom it has met that is active. */
  ActiveWriters active() {
    return active;
  }

  /**
   * One pass; returns how many things it changed.
   *
   * @param everything that can be done now, without rests
   * @param wanted whether a whole pass is wanted though there may be nothing to forget
   */
  long pass(boolean everything, boolean wanted) {
    TransactionTable transactions = storage.transactions();
    boolean toFinish = unfinished.hasUnfinished();
    boolean finished = !toFinish || inside.run(() -> unfinished.finish() ? 1 : 0) == 1;
    long[] aborted =
        Arrays.stream(transactions.aborted().snapshot())
            .filter(id -> transactions.status(id) == TransactionTable.ABORTED)
            .filter(id -> !unfinished.holds(id))
            .toArray();
    boolean all = everything || aborted.length > 0;
    boolean mayHaveEnded = active.hasAnyEnded() || all;
    boolean skipped = !haveReadMaps();
    boolean whole = wanted || aborted.length > 0;
    PageBitmap pages =
        whole
            ? storage.marks().begin(all, mayHaveEnded)
            : storage.marks().beginUrgent(mayHaveEnded, FEW);
    long changes = 0;
    leftForLater = !finished;
    changes += toFinish && finished ? 1 : 0;
    leftMoved = false;
    try {
      SnapshotSet snapshots = storage.horizon().refresh();
      long settled = storage.horizon().settled(snapshots);
      settledBefore = settled;
      horizonBefore = snapshots.horizon();
      changes += removeDropped(settled, everything);
      for (int page = pages.next(0); page >= 0; page = pages.next(0)) {
        while (page >= 0) {
          if (closed) {
            return 0;
          }
          pages.clear(page);
          if (aborted.length > 0 && !everything) {
            letOthersGoFirst();
          }
          try {
            changes += visit(page, settled);
          } catch (StorageException unreadable) {
            if (storage.log().failure() != null) {
              throw unreadable;
            }
            storage.marks().postpone(page);
            active.metSomebody(); // nobody tells when it can be read
            skipped = true;
          }
          page = pages.next(page + 1);
        }
      }
      if (aborted.length > 0 && !skipped) {
        forget(aborted);
        changes += aborted.length;
      }
      transactions.forget(settled);
      storage.versions().prune(snapshots);
      compactor.giveBackRetired(snapshots);
      giveBackExtents();
    } finally {
      skippedBefore = skipped || leftForLater;
      storage.marks().end();
    }
    storage.counters().cleanerPasses.increment();
    return changes;
  }

  /**
   * After a restart: finds what the former life has left, unless that has been done; false if it
   * cannot be read for now. Before a pass begins, so that a whole one has all of it.
   */
  private boolean haveReadMaps() {
    if (!mapsRead) {
      try {
        inside.run(() -> {
          dropped.load();
          return 0;
        });
        readMaps();
        mapsRead = true;
      } catch (StorageException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
      }
    }
    return mapsRead;
  }

  /** Gives extents back whose last page was freed. */
  private void giveBackExtents() {
    Map<Integer, Unit> loosened = storage.allocator().loosened();
    for (int extent : loosened.keySet().toArray(new Integer[0])) {
      if (closed) {
        return;
      }
      // Pages are freed by this thread alone.
      Unit unit = Objects.requireNonNull(loosened.remove(extent));
      try {
        inside.run(() -> {
          if (storage.giveBack(extent, unit) == Allocator.Emptied.BUSY) {
            loosened.put(extent, unit);
            leftForLater |= storage.allocator().isHoldingBack();
          }
          return 0;
        });
      } catch (StorageException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
      }
    }
  }

  /** Frees what dropped tables have left; how many pages, and values given to later passes. */
  private long removeDropped(long settled, boolean everything) {
    long changes = 0;
    int steps = everything ? Integer.MAX_VALUE : REMOVAL_STEPS;
    for (DroppedTable table = dropped.next(0, settled);
        table != null && steps > 0;
        table = dropped.next(table.trees().id(0) + 1, settled)) {
      DroppedTable now = table;
      tableRemoval.begin();
      try {
        for (; steps > 0 && !now.isGone(); steps--) {
          if (closed) {
            return changes;
          }
          if (storage.allocator().isHoldingBack()) {
            leftForLater = true; // else all would have to wait for the check that looks at them
            return changes;
          }
          long done = inside.run(() -> tableRemoval.step(now));
          if (done < 0) {
            leftForLater = true;
            break;
          }
          changes += done;
        }
        if (now.isGone()) {
          dropped.remove(now);
          changes += inside.run(() -> mergeCatalogue(now));
        }
      } catch (StorageException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
        leftForLater = true;
      }
    }
    return changes;
  }

  /** Where row and entry were nothing may be left: nobody else merges leaves of the catalogue. */
  private long mergeCatalogue(DroppedTable table) {
    byte[] name = table.name();
    long merged =
        merge(dropped.catalogue(), DroppedTableRow.key(table.trees().id(0)), /* closely= */ false);
    return name == null ? merged : merged + merge(dropped.catalogue(), name, /* closely= */ false);
  }

  /** After a restart: the pages whose version bit is set, from the space maps and nothing else. */
  private void readMaps() {
    int limit = storage.allocator().pages();
    for (int map = SpaceMapPage.POSITION; map < limit; map += SpaceMapPage.GROUP) {
      int frame = pool.fixShared(map);
      try {
        MemorySegment page = pool.page(frame);
        int first = map - SpaceMapPage.POSITION;
        for (int i = 0; i < SpaceMapPage.GROUP; i++) {
          int bits = Page.getByte(page, SpaceMapPage.offset(first + i));
          storage.marks().carry(first + i, SpaceMapPage.flags(bits));
        }
      } finally {
        pool.unfixShared(frame);
      }
    }
  }

  private void forget(long[] ids) {
    for (int from = 0; from < ids.length; from += IDS_PER_RECORD) {
      int to = Math.min(ids.length, from + IDS_PER_RECORD);
      storage.log().publish(ForgottenIds.build(forget, Arrays.copyOfRange(ids, from, to)));
    }
    for (long id : ids) {
      storage.transactions().aborted().remove(id);
    }
    storage.counters().forgotten.add(ids.length);
  }

  private long visit(int pageId, long horizon) {
    return inside.run(() -> visitInside(pageId, horizon));
  }

  /** Visits a page that values share, and some have just left. */
  void visitLeft(int pageId) {
    try {
      visit(pageId, storage.horizon().settled(storage.horizon().refresh()));
    } catch (StorageException unreadable) {
      if (storage.log().failure() != null) {
        throw unreadable;
      }
    }
  }

  private long visitInside(int pageId, long horizon) {
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
        } else {
          remove = cleanHead(frame, page, pageId, horizon);
        }
      } finally {
        pool.unfixExclusive(frame);
      }
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
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

  private long merge(Tree tree, byte[] fence, boolean closely) {
    long merged = 0;
    for (int level = 0; ; level++) {
      storage.space().acquireToClean(Merge.CREDIT, Merge.PAGES);
      try {
        boolean done = merge.around(tree, fence, level, closely);
        if (!done) {
          return merged;
        }
        merged++;
      } finally {
        storage.space().release(Merge.CREDIT, Merge.PAGES);
      }
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
        boolean waits = active.takesLong(writer); // once: it may become so
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

  /** What is to become of a large value. */
  private enum Fate {
    /** Nobody needs it any more. */
    GONE,
    /** It stays, and nobody has superseded it. */
    SETTLED,
    /** Somebody may need it yet. */
    UNDECIDED,
    /** A transaction that has not ended decides. */
    ACTIVE,
    /** A transaction does that is prepared, or takes long. */
    LONG_ACTIVE
  }

  /** When a page is to be visited again. */
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
    Fate fate = fate(OverflowPage.writer(page), superseder, horizon);
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

  /** Decides about values that share a page, which is freed if none is left. */
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

  /** Who read where the value was may come back there, as long as his snapshot lasts. */
  private Fate fateOfMoved(MemorySegment page) {
    boolean isForgotten = Page.lsn(page) <= storage.horizon().refresh().horizon();
    leftMoved |= !isForgotten;
    return isForgotten ? Fate.GONE : Fate.UNDECIDED;
  }

  /** Frees the page that is latched, with nothing on it that anybody needs. */
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
