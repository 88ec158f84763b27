package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.flight.FlightEvents;
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
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Reverts the rows of aborted transactions, drops versions that no snapshot needs, and frees space.
 *
 * <p>One platform thread of the engine makes passes. A pass visits only the pages whose version bit
 * is set; if there are many, other threads help. Callers only {@link #poke}.
 */
public final class Cleaner implements AutoCloseable {
  /*
   * Source      "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.7; rules R2, R4, R9, R15.
   *
   * Two kinds    While there are writers, a pass visits the pages on which only it can free something, and a few of
   *              the others. Their next writer drops versions when it needs the room (RowWriter.settle). Visiting
   *              each page that was written since the last pass would double the cost of writing it. A pass is a
   *              whole one if there is something to forget, on request, or while the writers rest (WritersRest):
   *
   * Pass        1 A := ids in the ATM that the table does not call active
   *             2 after a restart, once: marks every page whose bit a space map shows. P := marked pages
   *             3 horizon: below every snapshot, and durable (R10); then free what dropped tables have left, where
   *             none is older than the drop (TableRemoval); then visit each page of P and each that is handed over
   *             meanwhile (CleaningPass, PageVisit)
   *             4 FORGET A is published, then A leaves the ATM
   *
   * Invariants  I1 only the threads of the cleaner free pages: the visiting thread frees heads and pages of values,
   *             any thread frees pages of trees by a merge (PageVisits), and this thread frees all others, while no
   *             thread visits pages. I2 nothing is forgotten in a pass that has left out a page (CleaningPass): it
   *             may have rows of an aborted transaction.
   *
   * Crash       between any two records: the bits still mark the work that is not done. If FORGET is lost, the next
   *             life's first pass finds nothing of A and writes it again.
   */
  /** Runs a step while no thread has stopped the database to read it. */
  @FunctionalInterface
  public interface Inside {
    /** Runs it. */
    long run(LongSupplier step);
  }

  /** Work for a thread that waits until it has been done. */
  private static final class Request extends Errand {
    /** Whether everything has to be cleaned before. */
    final boolean cleanFirst;

    final LongSupplier work;

    /** Written before the end is reported to the caller. */
    long result;

    Request(boolean cleanFirst, LongSupplier work) {
      this.cleanFirst = cleanFirst;
      this.work = work;
    }
  }

  /** The greatest number of passes for one request; a database at rest needs two or three. */
  private static final int MAX_PASSES = 64;

  /** The number of pages that can wait in a pass that is not whole. */
  private static final int FEW = 32;

  private static final int IDS_PER_RECORD = 8_000;

  /** For each this many pages of a pass another thread helps. */
  private static final int PAGES_PER_HELPER = 8;

  /** The number of steps of the removal of a dropped table in a pass for which others wait. */
  private static final int REMOVAL_STEPS = 4_096;

  /** The number of trees whose lists of extents are read in a pass for which no thread waits. */
  private static final int TREES = 256;

  /**
   * For this time after the open the cleaner leaves processors and disk to the application, unless
   * it is requested.
   */
  private static final long FIRST_PAUSE = 100_000_000L;

  static final long SHORTEST_PAUSE = 20_000_000L;
  static final long LONGEST_PAUSE = 2_000_000_000L;

  private final Storage storage;
  private final BufferPool pool;
  private BooleanSupplier othersFirst = () -> false;
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

  /** The position up to which the last pass could drop versions. */
  private long settledBefore;

  private long horizonBefore;

  /** Whether this pass has left a part of a dropped table, or an extent: it is tried again. */
  private boolean leftForLater;

  /** Whether a slot was left whose value has moved: it can be freed when a snapshot has ended. */
  private boolean leftMoved;

  /** Whether a pass has left deleted rows for lack of memory for versions. */
  private boolean leftForRoom;

  /** Whether the last pass has left work that needs another try. */
  private boolean skippedBefore;

  private final Tally passesWithoutMemory = new Tally();
  private volatile boolean poked;

  /** Written before {@link #poked}. */
  private volatile long pokedAt;

  /** Whether the last pass has changed anything. */
  private boolean changedBefore;

  private final WritersRest writersRest = new WritersRest(SHORTEST_PAUSE, LONGEST_PAUSE);
  private volatile boolean closed;

  /**
   * Makes a cleaner that is not yet running.
   *
   * @param trees the tree of a table id, or null if there is none
   * @param dropped the tables whose pages must be freed
   * @param tables the catalogue's data about them
   * @param inside runs each step
   * @param mapsRead whether there can be no marks of a former life, as in a new database
   * @param threads the number of threads that visit pages, including the one that makes the passes
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
    List<PageVisit> others = new ArrayList<>();
    for (int i = 1; i < threads; i++) {
      others.add(new PageVisit(storage, trees, active, visits));
    }
    this.helpers = List.copyOf(others);
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

  /**
   * Starts the thread.
   *
   * @param first whether other work of the engine comes first: then only requests are served, and
   *     what takes no page is tidied
   */
  public void start(BooleanSupplier first) {
    othersFirst = first;
    thread.start();
  }

  /** Called when a transaction that wrote something has ended, or a table was dropped. */
  public void poke() {
    if (!poked) {
      poke(System.nanoTime());
    }
  }

  /** As {@link #poke()}, at a time. */
  void poke(long now) {
    pokedAt = now;
    poked = true;
    thread.unpark();
  }

  /** Cleans whatever can be cleaned now; returns when that is done. */
  public void cleanNow() {
    perform(/* cleanFirst= */ true, () -> 0);
  }

  /**
   * Frees only the values that their writers have abandoned; returns when that is done. The caller
   * is not inside the gate.
   */
  public void freeGivenUp() {
    if (!storage.marks().givenUp().isEmpty()) {
      perform(/* cleanFirst= */ false, this::freeGivenUpHere);
    }
  }

  private long freeGivenUpHere() {
    for (int head : storage.marks().givenUp().toArray(new Integer[0])) {
      if (storage.marks().isGivenUp(head)) { // else the page may have another content by now
        visitLeft(head);
      }
    }
    giveBackExtents();
    return 0;
  }

  /**
   * Cleans, then moves pages from the end of the file to free ones nearer to its beginning; returns
   * when that is done (protocols.md §18).
   *
   * @param all the trees of the database; called when everything is clean, since from then on until
   *     the end no tree of a dropped table is removed
   * @return how many pages were moved
   */
  public long compact(Supplier<List<Tree>> all) {
    return perform(/* cleanFirst= */ true, () -> compactHere(all.get()));
  }

  /** For tests: runs an action between two passes, on the cleaner's thread. */
  long between(LongSupplier work) {
    return perform(/* cleanFirst= */ false, work);
  }

  private long perform(boolean cleanFirst, LongSupplier work) {
    Request request = new Request(cleanFirst, work);
    requests.add(request);
    thread.unpark();
    if (closed) {
      finishRequests(); // the thread may have checked before
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
   * Reports to all waiting callers that no more work is done. Allocates nothing in an engine that
   * works.
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
        // The cause is sufficient.
      }
      request.finish(told == null ? stopped : told);
    }
  }

  /** Moves pages in the calling thread: for tests without a cleaner thread. */
  long compactHere(List<Tree> all) {
    long moved = compactor.compact(all);
    compactor.giveBackRetired(storage.horizon().refresh());
    giveBackExtents();
    return moved;
  }

  /** The catalogue's data about tables, and about the changes of transactions to them. */
  public interface Tables {
    /**
     * Whether a transaction has left a change of tables that depends on its outcome: then no FORGET
     * may be written yet.
     */
    boolean holds(long transaction);

    /** Whether an ended transaction has left one. */
    boolean hasUnfinished();

    /**
     * The extents of all trees of the catalogue, except those of dropped tables. Inside the gate.
     */
    List<Unit> units();

    /**
     * Moves the root of a tree to a free page below a limit, if there is one, and no transaction is
     * changing the table. Inside the gate, nothing latched.
     *
     * @return whether it was moved
     */
    boolean moveRoot(Tree tree, int limit);

    /**
     * Finishes what ended transactions have left; false if not everything could be finished. Inside
     * the gate.
     */
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
   * Called when a pass has failed. Its pages are still marked, so the next pass visits them. Its
   * records in the log are applied, or the log has stopped.
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

  /** Serves a request, or waits until a pass is needed and makes it. Returns the next pause. */
  private long cleanAndRest(long pause) {
    if (!requests.isEmpty()) {
      serveRequest();
      return pause;
    }
    if (othersFirst.getAsBoolean()) {
      tidy();
      pauseUntilTold(FIRST_PAUSE);
      return pause;
    }
    if (idle()) {
      awaitPoke();
      pauseUntilTold(SHORTEST_PAUSE);
      takePoke(System.nanoTime()); // else an engine that is idle again would not park
      return pause;
    }
    long now = System.nanoTime();
    boolean told = takePoke(now);
    boolean atRest = !told && writersRest.isOver(now);
    if (!told && !atRest && !changedBefore && !skippedBefore && isNothingNew()) {
      pauseUntilTold(SHORTEST_PAUSE);
      return pause;
    }
    boolean changed = pass(/* everything= */ false, /* wanted= */ atRest) > 0;
    changedBefore = changed;
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
      // Again, because merging and forgetting may have made more possible; but not for ever while
      // others write.
      for (int passes = 0;
          request.cleanFirst
              && passes < MAX_PASSES
              && !closed
              && pass(/* everything= */ true, /* wanted= */ true) > 0; ) {
        passes++;
      }
      request.result = work(request);
      request.finish(null);
    } catch (FileException unreadable) {
      request.finish(unreadable);
      if (storage.log().failure() != null) {
        throw unreadable;
      }
      // Else the step that met it has logged nothing; all other tables can be cleaned.
    } catch (Throwable failure) {
      request.finish(failure);
      throw failure;
    }
  }

  /** Moving pages is not tried again: a failure there stops the engine. */
  private long work(Request request) {
    try {
      return request.work.getAsLong();
    } catch (FileException unreadable) {
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
   * Waits, after a pass that changed nothing, until another pass may. The end of a snapshot and the
   * progress of durability are not reported, so it checks two numbers from time to time. So in an
   * idle database with versions that cannot be dropped yet, no page is accessed.
   */
  private void awaitNews() {
    long pause = SHORTEST_PAUSE;
    while (isNothingNew()) {
      LockSupport.parkNanos(this, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
      SnapshotSet snapshots = storage.horizon().refresh();
      if (storage.versions().wantsPrune(snapshots)) {
        storage.versions().prune(snapshots); // no page has to be visited for that
      }
    }
    pauseUntilTold(SHORTEST_PAUSE);
  }

  /** Whether a pass could do no more than the last one. */
  boolean isNothingNew() {
    Horizon horizon = storage.horizon();
    SnapshotSet snapshots = horizon.refresh();
    return !poked
        && !closed
        && requests.isEmpty()
        && horizon.settled(snapshots) <= settledBefore
        && ((storage.versions().isEmpty() && !compactor.hasRetired() && !leftMoved)
            || snapshots.horizon() <= horizonBefore)
        && !(leftForRoom && storage.versions().hasRoomForDeparted());
  }

  private void awaitPoke() {
    while (!poked && !closed && requests.isEmpty()) {
      LockSupport.park(this);
    }
  }

  /** Whether a transaction that wrote has ended since the last call. */
  private boolean takePoke(long now) {
    if (!poked) {
      return false;
    }
    poked = false;
    writersRest.wrote(pokedAt, now);
    return true;
  }

  /** For tests: whether a pass at this time would be a whole one, although none has to be. */
  boolean wouldPassWhole(long now) {
    return !takePoke(now) && writersRest.isOver(now);
  }

  /** A pause in which work accumulates. Only a request or the end shortens it. */
  private void pauseUntilTold(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos;
        left > 0 && !closed && requests.isEmpty();
        left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  /** The final work of a pass, which a long pass also does in between. */
  private void tidy() {
    long now = System.nanoTime();
    if (now - tidiedAt > LONGEST_PAUSE) {
      tidiedAt = now;
      SnapshotSet snapshots = storage.horizon().refresh();
      storage.transactions().forget(snapshots, storage.horizon().durable());
      storage.versions().prune(snapshots);
    }
  }

  /** The active writers that it has met. */
  ActiveWriters active() {
    return active;
  }

  /** The visits of all its threads. */
  PageVisits visits() {
    return visits;
  }

  /** The visits of its own thread. */
  PageVisit own() {
    return own;
  }

  /** For tests: another thread helps for each this many pages. */
  void pagesPerHelper(int pages) {
    pagesPerHelper = pages;
  }

  /**
   * One pass; returns how many things it changed.
   *
   * @param everything whether to do all that can be done now, without rests
   * @param wanted whether a whole pass is wanted even if there is nothing to forget
   */
  long pass(boolean everything, boolean wanted) {
    Object event = FlightEvents.beginCleanerPass();
    long pages = event == null ? 0 : storage.counters().pagesCleaned.sum();
    Passed passed = passNow(everything, wanted);
    FlightEvents.endCleanerPass(
        event,
        passed.changes,
        passed.aborted,
        event == null ? 0 : storage.counters().pagesCleaned.sum() - pages);
    return passed.changes;
  }

  /** What a pass has changed, and how many aborted transactions it looked for. */
  private record Passed(long changes, int aborted) {}

  private Passed passNow(boolean everything, boolean wanted) {
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
        return new Passed(0, aborted.length);
      }
      changes += pass.changes();
      leftMoved = ofVisits(PageVisit::takeLeftMoved);
      leftForRoom = ofVisits(PageVisit::takeLeftForRoom);
      if (pass.hasSkipped()) {
        active.metSomebody(); // it is not reported when the skipped page can be read
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
        storage.versions().prune(now); // if there are no new ones, the last ones are used
      }
      compactor.giveBackRetired(snapshots);
      findOwners(everything);
      giveBackExtents();
    } finally {
      skippedBefore = skipped || leftForLater;
      storage.marks().end();
    }
    storage.counters().cleanerPasses.increment();
    return new Passed(changes, aborted.length);
  }

  /** Takes a mark of the visits of all threads; returns whether one of them had it. */
  private boolean ofVisits(Predicate<PageVisit> mark) {
    boolean any = mark.test(own);
    for (PageVisit helper : helpers) {
      any |= mark.test(helper);
    }
    return any;
  }

  /**
   * After a restart: finds the pages that the former life has left, unless that has been done;
   * false if they cannot be read for now. Called before a pass begins, so that a whole pass has all
   * of them.
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
      } catch (FileException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
      }
    }
    return mapsRead;
  }

  /** Looks for the owners of extents that a former life has left empty. */
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
      } catch (FileException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
        if (emptyExtents.wantsOwners()) {
          emptyExtents.owners(List.of()); // the extents stay with their trees in this life
        }
      }
    }
    leftForLater |= emptyExtents.hasWork();
  }

  /** Frees extents whose last page was freed. */
  private void giveBackExtents() {
    Map<Integer, Unit> loosened = storage.allocator().loosened();
    for (int extent : loosened.keySet().toArray(new Integer[0])) {
      if (closed) {
        return;
      }
      // No other thread frees pages meanwhile.
      Unit unit = Objects.requireNonNull(loosened.remove(extent));
      try {
        inside.run(() -> {
          if (storage.giveBack(extent, unit) == Allocator.Emptied.BUSY) {
            loosened.put(extent, unit);
            leftForLater |= storage.allocator().isHoldingBack();
          }
          return 0;
        });
      } catch (FileException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
      }
    }
  }

  /**
   * Frees the remaining pages of dropped tables. Returns the number of pages, and of values left to
   * later passes.
   */
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
            leftForLater =
                true; // else all threads would have to wait for the check that reads them
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
      } catch (FileException unreadable) {
        if (storage.log().failure() != null) {
          throw unreadable;
        }
        leftForLater = true;
      }
    }
    return changes;
  }

  /**
   * The leaves of row and entry may be empty now, and no other code merges leaves of the catalogue.
   */
  private long mergeCatalogue(DroppedTable table) {
    byte[] name = table.name();
    long merged =
        own.merge(
            dropped.catalogue(), DroppedTableRow.key(table.trees().id(0)), /* closely= */ false);
    return name == null
        ? merged
        : merged + own.merge(dropped.catalogue(), name, /* closely= */ false);
  }

  /** After a restart: finds the pages whose version bit is set, using only the space maps. */
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
   * How many space maps have yet to be read after a restart, to find the pages that a former life
   * has left to clean. Until then nothing is forgotten.
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

  /** Visits a shared-values page that some values have just left. */
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
    } catch (FileException unreadable) {
      if (storage.log().failure() != null) {
        throw unreadable;
      }
    }
  }
}
