package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.EmptyExtents;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.space.PageVisits;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.DroppedTables.DroppedTable;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.file.Errand;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Takes back what aborted transactions left, drops versions that no snapshot needs, gives space
 * back.
 *
 * <p>One platform thread of the engine makes passes, in which just the pages are visited whose
 * version bit is set, by it and, where there are many, by others that help it. Callers only {@link
 * #poke}.
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
   *             none is older than the drop (TableRemoval); then visit each page of P and each that is handed over
   *             meanwhile (CleaningPass, PageVisit)
   *             4 FORGET A is published, then A leaves the ATM
   *
   * Invariants  I1 only the threads of the cleaner free pages: heads and pages of values who visits them, pages of trees
   *             any by a merge (PageVisits), all others this one, while nobody visits pages.
   *             I2 nothing is forgotten in a pass that has left out a page (CleaningPass): rows of an aborted transaction
   *             may be there.
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

  /** Somebody waits until this work has been done. */
  private static final class Request extends Errand {
    /** Whether all is to be cleaned before. */
    final boolean cleanFirst;

    final LongSupplier work;

    /** Written before the caller is told that it is over. */
    long result;

    Request(boolean cleanFirst, LongSupplier work) {
      this.cleanFirst = cleanFirst;
      this.work = work;
    }
  }

  /** Passes for one request at the most; a database at rest needs two or three. */
  private static final int MAX_PASSES = 64;

  /** Pages that can wait of a pass that is not whole. */
  private static final int FEW = 32;

  private static final int IDS_PER_RECORD = 8_000;

  /** For each so many pages of a pass another thread helps. */
  private static final int PAGES_PER_HELPER = 8;

  /** Steps of the removal of a dropped table in a pass that others wait for. */
  private static final int REMOVAL_STEPS = 4_096;

  /** Trees whose lists of extents are read in a pass that nobody waits for. */
  private static final int TREES = 256;

  /** Who opened the database has processors and disk for himself first, if he asks for nothing. */
  private static final long FIRST_PAUSE = 100_000_000L;

  private static final long SHORTEST_PAUSE = 20_000_000L;
  private static final long LONGEST_PAUSE = 2_000_000_000L;

  private final Storage storage;
  private final BufferPool pool;
  private final Inside inside;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final PageVisits visits;
  private final PageVisit own;
  private final List<PageVisit> helpers;
  private final String threadName;
  private final CleaningBudget budget;
  private final RecordBuilder forget = new RecordBuilder();
  private final Compactor compactor;
  private final DroppedTables dropped;
  private final Tables tables;
  private final TableRemoval tableRemoval;
  private final EmptyExtents emptyExtents;
  private final ConcurrentLinkedQueue<Request> requests = new ConcurrentLinkedQueue<>();
  private final FileThread thread;

  private boolean mapsRead;

  /** Space maps that have not been read yet after a restart. */
  private volatile int mapsToRead;

  private final ActiveWriters active;
  private int pagesPerHelper = PAGES_PER_HELPER;
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

  private final Tally passesWithoutMemory = new Tally();
  private volatile boolean poked;
  private volatile boolean closed;

  /**
   * A cleaner that is not yet running.
   *
   * @param trees the tree of a table id, or null if there is none
   * @param dropped tables whose pages have to be given back
   * @param tables what the catalogue knows of them
   * @param inside what each step runs in
   * @param mapsRead whether there can be no marks of a former life, as in a new database
   * @param threads how many visit pages, with the one that makes the passes
   */
  public Cleaner(
      Storage storage,
      IntFunction<@Nullable Tree> trees,
      DroppedTables dropped,
      Tables tables,
      Inside inside,
      boolean mapsRead,
      int threads,
      String threadName) {
    this.storage = storage;
    this.dropped = dropped;
    this.tables = tables;
    this.inside = inside;
    this.pool = storage.pool();
    this.mapsRead = mapsRead;
    this.mapsToRead = mapsRead ? 0 : storage.allocator().pages() / SpaceMapPage.GROUP + 1;
    this.active = new ActiveWriters(storage.transactions(), storage.marks());
    this.mini = new MiniTransaction(pool, storage.log());
    this.maps = storage.mapChanges();
    this.visits = new PageVisits(storage.allocator(), storage.log()::fail);
    this.emptyExtents = new EmptyExtents(pool, storage.allocator());
    this.own = new PageVisit(storage, trees, active, visits);
    this.helpers =
        Stream.generate(() -> new PageVisit(storage, trees, active, visits))
            .limit(threads - 1L)
            .toList();
    this.threadName = threadName;
    this.budget =
        new CleaningBudget(
            storage.log()::tail, () -> closed || !requests.isEmpty(), System::nanoTime);
    this.tableRemoval = new TableRemoval(storage, dropped.catalogue(), mini, maps);
    this.compactor =
        new Compactor(
            storage,
            trees,
            inside,
            () -> closed,
            (tree, fence) -> own.merge(tree, fence, /* closely= */ true),
            this::visitLeft,
            tables::moveRoot,
            mini,
            maps);
    this.thread =
        FileThread.of(
            threadName,
            this::run,
            cause -> storage.log().fail(cause), // the first cause counts
            this::ended);
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
    perform(/* cleanFirst= */ true, () -> 0);
  }

  /**
   * Frees the values that their writers have given up, and nothing else; returns when that is done.
   * The caller is not inside the gate.
   */
  public void freeGivenUp() {
    if (!storage.marks().givenUp().isEmpty()) {
      perform(/* cleanFirst= */ false, this::freeGivenUpHere);
    }
  }

  private long freeGivenUpHere() {
    for (int head : storage.marks().givenUp().toArray(new Integer[0])) {
      if (storage.marks().isGivenUp(head)) { // else another page may be there by now
        visitLeft(head);
      }
    }
    giveBackExtents();
    return 0;
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
    return perform(/* cleanFirst= */ true, () -> compactHere(all.get()));
  }

  /** For tests: does something between two passes, by its own thread. */
  long between(LongSupplier work) {
    return perform(/* cleanFirst= */ false, work);
  }

  private long perform(boolean cleanFirst, LongSupplier work) {
    Request request = new Request(cleanFirst, work);
    requests.add(request);
    thread.unpark();
    if (closed) {
      finishRequests(); // the thread may have looked before
    }
    Throwable failure = request.await();
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    return request.result;
  }

  /**
   * Tells all who wait that nothing is done any more; allocates nothing in an engine that works.
   */
  private void finishRequests() {
    Throwable stopped = storage.log().failure();
    LogStoppedException told = null;
    for (Request request; (request = requests.poll()) != null; ) {
      try {
        if (stopped != null && told == null) {
          told = new LogStoppedException(stopped);
        }
      } catch (OutOfMemoryError noMemory) {
        // The cause does as well.
      }
      request.finish(told == null ? stopped : told);
    }
  }

  /** Moves pages, in the calling thread: for those that have no thread of the cleaner's. */
  long compactHere(List<Tree> all) {
    long moved = compactor.compact(all);
    compactor.giveBackRetired(storage.horizon().refresh());
    giveBackExtents();
    return moved;
  }

  /** What the catalogue knows of tables, and of what transactions have done to them. */
  public interface Tables {
    /** Whether a transaction has left something that is decided by its outcome: no FORGET yet. */
    boolean holds(long transaction);

    /** Whether one that has ended has. */
    boolean hasUnfinished();

    /** The extents of all trees of the catalogue but those of dropped tables. Inside the gate. */
    List<Unit> units();

    /**
     * Moves the root of a tree to a free page below a limit, if there is one, and no transaction is
     * changing the table. Inside the gate, nothing latched.
     *
     * @return whether it was moved
     */
    boolean moveRoot(Tree tree, int limit);

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
    pauseUntilTold(FIRST_PAUSE);
    long pause = SHORTEST_PAUSE;
    while (!closed) {
      try {
        pause = cleanAndRest(pause);
      } catch (OutOfMemoryError notNow) {
        surviveWithoutMemory(notNow);
      }
    }
  }

  private void ended() {
    closed = true;
    finishRequests();
  }

  /**
   * A pass came to nothing. Its pages are still marked, so the next one visits them; what is in the
   * log is applied, or the log has stopped.
   */
  private void surviveWithoutMemory(OutOfMemoryError notNow) {
    if (storage.log().failure() != null) {
      throw notNow;
    }
    skippedBefore = true;
    passesWithoutMemory.increment();
    pauseUntilTold(LONGEST_PAUSE);
  }

  /** How many passes have ended early because there was no memory. */
  long passesWithoutMemory() {
    return passesWithoutMemory.sum();
  }

  /** Serves a request, or waits until a pass is needed and makes it; the next pause. */
  private long cleanAndRest(long pause) {
    if (!requests.isEmpty()) {
      serveRequest();
      return pause;
    }
    if (idle()) {
      awaitPoke();
      pauseUntilTold(SHORTEST_PAUSE);
      return pause;
    }
    boolean atRest = !poked;
    poked = false;
    boolean changed = pass(/* everything= */ false, /* wanted= */ atRest) > 0;
    long next = changed ? SHORTEST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
    if (!atRest && storage.marks().hasLater()) {
      pauseUntilTold(SHORTEST_PAUSE);
    } else if (changed || skippedBefore) {
      pauseUntilTold(next);
    } else {
      awaitNews();
      next = SHORTEST_PAUSE;
    }
    return next;
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
          request.cleanFirst
              && passes < MAX_PASSES
              && !closed
              && pass(/* everything= */ true, /* wanted= */ true) > 0; ) {
        passes++;
      }
      request.result = work(request);
      request.finish(null);
    } catch (StorageException unreadable) {
      request.finish(unreadable);
      if (storage.log().failure() != null) {
        throw unreadable;
      }
      // Else nothing was logged of the step that met it; all other tables can be cleaned.
    } catch (Throwable failure) {
      request.finish(failure);
      throw failure;
    }
  }

  /** Moving pages is not tried again: what fails there stops the engine. */
  private long work(Request request) {
    try {
      return request.work.getAsLong();
    } catch (StorageException unreadable) {
      throw unreadable;
    } catch (Throwable failure) {
      storage.log().fail(failure);
      throw failure;
    }
  }

  private boolean idle() {
    return mapsRead
        && !storage.marks().areIncomplete()
        && !storage.transactions().mayForget()
        && storage.marks().isEmpty()
        && !active.holdPages()
        && storage.transactions().aborted().size() == 0
        && storage.versions().isEmpty()
        && dropped.isEmpty()
        && !tables.hasUnfinished()
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
      SnapshotSet snapshots = storage.horizon().refresh();
      if (storage.versions().wantsPrune(snapshots)) {
        storage.versions().prune(snapshots); // for that no page has to be visited
      }
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

  /** What a pass does in its end, while one is long. */
  private void tidy() {
    long now = System.nanoTime();
    if (now - tidiedAt > LONGEST_PAUSE) {
      tidiedAt = now;
      SnapshotSet snapshots = storage.horizon().refresh();
      storage.transactions().forget(snapshots, storage.horizon().durable());
      storage.versions().prune(snapshots);
    }
  }

  /** Whom it has met that is active. */
  ActiveWriters active() {
    return active;
  }

  /** Who is on his way to which page. */
  PageVisits visits() {
    return visits;
  }

  /** The visits of its own thread. */
  PageVisit own() {
    return own;
  }

  /** For tests: another thread helps for each so many pages. */
  void pagesPerHelper(int pages) {
    pagesPerHelper = pages;
  }

  /**
   * One pass; returns how many things it changed.
   *
   * @param everything that can be done now, without rests
   * @param wanted whether a whole pass is wanted though there may be nothing to forget
   */
  long pass(boolean everything, boolean wanted) {
    TransactionTable transactions = storage.transactions();
    boolean toFinish = tables.hasUnfinished();
    boolean finished = !toFinish || inside.run(() -> tables.finish() ? 1 : 0) == 1;
    long[] aborted =
        Arrays.stream(transactions.aborted().snapshot())
            .filter(id -> transactions.status(id) == TransactionTable.ABORTED)
            .filter(id -> !tables.holds(id))
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
    try {
      SnapshotSet snapshots = storage.horizon().refresh();
      long settled = storage.horizon().settled(snapshots);
      settledBefore = settled;
      horizonBefore = snapshots.horizon();
      changes += removeDropped(settled, everything);
      boolean throttled = aborted.length > 0 && !everything;
      CleaningPass pass =
          new CleaningPass(
              storage, pages, visits, inside, settled, () -> closed, throttled ? budget : null);
      if (!pass.run(own, helpers, threadName, pagesPerHelper, this::tidy)) {
        return 0;
      }
      changes += pass.changes();
      leftMoved = takeLeftMoved();
      if (pass.hasSkipped()) {
        active.metSomebody(); // nobody tells when what was skipped can be read
        skipped = true;
      }
      if (aborted.length > 0 && !skipped && !storage.marks().areIncomplete()) {
        forget(aborted);
        changes += aborted.length;
      }
      transactions.forget(snapshots, storage.horizon().durable());
      SnapshotSet now = storage.horizon().refresh(); // the pass may have been long
      storage.versions().prune(now);
      if (everything && storage.versions().wantsPrune(now)) {
        storage.versions().prune(now); // if none have come since, it looks at the last ones
      }
      compactor.giveBackRetired(snapshots);
      findOwners(everything);
      giveBackExtents();
    } finally {
      skippedBefore = skipped || leftForLater;
      storage.marks().end();
    }
    storage.counters().cleanerPasses.increment();
    return changes;
  }

  private boolean takeLeftMoved() {
    boolean left = own.takeLeftMoved();
    for (PageVisit helper : helpers) {
      left |= helper.takeLeftMoved();
    }
    return left;
  }

  /**
   * After a restart: finds what the former life has left, unless that has been done; false if it
   * cannot be read for now. Before a pass begins, so that a whole one has all of it.
   */
  private boolean haveReadMaps() {
    if (storage.marks().takeIncomplete()) {
      mapsRead = false; // the bits of the space maps are in the log, so none is lost
    }
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

  /** Looks for the trees that have extents which a former life has left empty. */
  private void findOwners(boolean everything) {
    for (int trees = everything ? Integer.MAX_VALUE : TREES;
        trees > 0 && !closed && emptyExtents.hasWork();
        trees--) {
      try {
        inside.run(() -> {
          if (emptyExtents.wantsOwners()) {
            emptyExtents.owners(tables.units());
          }
          emptyExtents.adopt();
          return 0;
        });
      } catch (StorageException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
        if (emptyExtents.wantsOwners()) {
          emptyExtents.owners(List.of()); // they stay with their trees in this life
        }
      }
    }
    leftForLater |= emptyExtents.hasWork();
  }

  /** Gives extents back whose last page was freed. */
  private void giveBackExtents() {
    Map<Integer, Unit> loosened = storage.allocator().loosened();
    for (int extent : loosened.keySet().toArray(new Integer[0])) {
      if (closed) {
        return;
      }
      // Nobody else frees pages meanwhile.
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
        own.merge(
            dropped.catalogue(), DroppedTableRow.key(table.trees().id(0)), /* closely= */ false);
    return name == null
        ? merged
        : merged + own.merge(dropped.catalogue(), name, /* closely= */ false);
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
      emptyExtents.note(SpaceMapPage.group(map));
      mapsToRead = (limit - map) / SpaceMapPage.GROUP;
    }
    mapsToRead = 0;
  }

  /**
   * How many space maps have yet to be read after a restart, for the pages that a former life has
   * left to be cleaned; until then nothing is forgotten.
   */
  public int mapsToRead() {
    return mapsToRead;
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

  /** Visits a page that values share, and some have just left. */
  void visitLeft(int pageId) {
    try {
      long horizon = storage.horizon().settled(storage.horizon().refresh());
      visits.begin(pageId);
      try {
        inside.run(() -> own.visit(pageId, horizon));
      } finally {
        visits.end(pageId);
        leftMoved |= own.takeLeftMoved();
      }
    } catch (StorageException unreadable) {
      if (storage.log().failure() != null) {
        throw unreadable;
      }
    }
  }
}
