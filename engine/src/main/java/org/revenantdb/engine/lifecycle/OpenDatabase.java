package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CompactReport;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.NotCleanlyClosedException;
import org.revenantdb.engine.OldestSnapshot;
import org.revenantdb.engine.PageClassStatistics;
import org.revenantdb.engine.PoolTooLargeException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.buffer.BufferStatistics;
import org.revenantdb.engine.buffer.PageClassCounts;
import org.revenantdb.engine.buffer.PageReadCheck;
import org.revenantdb.engine.buffer.PoolSizeException;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.change.FlushRecords;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.ForgottenTransactions;
import org.revenantdb.engine.session.OpenTransactions;
import org.revenantdb.engine.session.TableSteps;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.spill.SpillFiles;
import org.revenantdb.engine.txn.Horizon;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.GarbageStrategy;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.VolatileStore;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.checkpoint.CheckpointSource;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.DirectoryLock;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.OutcomeUnknownException;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.restart.AnalysisResult;
import org.revenantdb.recovery.restart.PreparedTransaction;
import org.revenantdb.recovery.restart.Restart;

/**
 * Opens a database step by step, holds what has to be closed, and closes it in the opposite order.
 *
 * <p>Opening and closing run on a thread of the engine.
 */
public final class OpenDatabase {
  /*
   * Steps       protocols.md §10. Whatever was opened is closed in the opposite order, also when a later step fails;
   *             a step that fails changes nothing that the next try would miss.
   */
  /**
   * A baseline, to be measured against: what was not committed is taken back before the database is
   * open, as others do it.
   */
  private static final boolean EAGER_REVERT = Boolean.getBoolean("org.revenantdb.eagerRevert");

  private final Deque<AutoCloseable> resources = new ArrayDeque<>();
  private final ReentrantLock closing = new ReentrantLock();
  private final ReentrantLock compacting = new ReentrantLock();
  private final IoStatistics io = new IoStatistics();
  private final EngineWaits waits = new EngineWaits();
  private final Engine engine;
  private final Catalog catalog;
  private final Journal log;
  private final BufferPool pool;
  private final PageSpace restartPages;
  private final @Nullable Checkpointer checkpointer;
  private final @Nullable Cleaner cleaner;
  private final @Nullable DoubleWriteFile doubleWrite;
  private final @Nullable CountersFile countersFile;
  private final RecoveryReport recovery;

  public static OpenDatabase open(Path directory, DatabaseOptions options) {
    try {
      return new OpenDatabase(directory, options);
    } catch (OutcomeUnknownException | LogStoppedException stopped) {
      // Nothing of a caller's is in doubt yet: what stopped the log names the file and the cure.
      for (Throwable cause = stopped.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof StorageException file) {
          for (Throwable close : stopped.getSuppressed()) {
            file.addSuppressed(close);
          }
          throw file;
        }
      }
      throw stopped;
    }
  }

  private OpenDatabase(Path directory, DatabaseOptions options) {
    long start = System.nanoTime();
    DirectoryLock lock = null;
    try {
      BufferPoolOptions poolOptions = poolOptions(options);
      DatabaseFiles files = new DatabaseFiles(directory, io);
      boolean mayCreate = options.create() && !options.readOnly();
      if (!files.exists() && !mayCreate) {
        throw new NotADatabaseException(
            directory,
            StorageException.NO_OFFSET,
            "there is no database here",
            "name the directory of a database, or open with create and without readOnly",
            null);
      }
      if (mayCreate) {
        files.createDirectory();
      }
      files.refuseOtherKinds();
      lock = opened(DirectoryLock.acquire(directory, options.readOnly()));
      Ownership ownership = lock.ownership();
      boolean created = !files.exists();
      if (created) {
        files.create(options);
      }
      // Up to the beginning of the life nothing is changed.
      FileSurvey survey = new FileSurvey(files, options.readOnly(), io, this::opened);
      StorageFile data = survey.data().ownedBy(ownership);
      DataFileHeader header = survey.header();
      ControlFile control = survey.control();
      ownership.watch(files.data(), () -> control.state().highWaterPages() * Page.SIZE);
      if (options.readOnly() && !control.state().clean()) {
        throw new NotCleanlyClosedException(
            directory
                + " was not closed cleanly and needs recovery, which writes; open it once without readOnly, then"
                + " again");
      }
      CountersFile counted =
          !options.readOnly() && options.countersFile()
              ? new CountersFile(
                      directory,
                      header.databaseId(),
                      control.state().life(),
                      InstantSource.system())
                  .ownedBy(ownership)
              : null;
      // What does not fit into the pool would be read again and again by redo.
      long mostPages = Math.min(options.maxRecoveryPages(), poolOptions.frames() * 7L / 8);
      RestartWatch watch =
          new RestartWatch(
              options.restartListener(),
              status -> writeRestart(counted, status),
              mostPages,
              System::nanoTime);
      long analysisStart = System.nanoTime();
      long bytesBefore = io.bytesRead();
      watch.begin(RestartPhase.ANALYSIS, /* total= */ 0);
      Restart restart = survey.analyse(watch);
      AnalysisResult analysis = restart.result();
      watch.end(RestartPhase.ANALYSIS, analysis.logBytesRead());
      long knownPages = control.state().highWaterPages();
      FirstChanges changes =
          opened(new FirstChanges(files, options, survey, restart, io, waits.log(), ownership));
      OpeningLog opening =
          opened(
              new OpeningLog(
                  analysis.endOfLog(),
                  () -> {
                    Log log = changes.make();
                    if (counted != null) {
                      counted.life(log.life());
                    }
                    return log;
                  }));
      boolean redoes = !options.readOnly() && !analysis.cleanShutdown();
      // The checkpointer needs the room and the other way round; credit is taken by threads that
      // start later.
      AtomicReference<@Nullable Checkpointer> hurried = new AtomicReference<>();
      Runnable hurry =
          () -> {
            Checkpointer started = hurried.get();
            if (started != null) {
              started.hurry();
            }
          };
      restartPages =
          new PageSpace(
              opening::durableLsn,
              mostPages,
              mostPages / 8,
              hurry,
              waits.of(WaitClass.PAGE_CREDIT));
      FlushRecords flushRecords = new FlushRecords(opening, restartPages);
      pool =
          opened(
              new BufferPool(
                  poolOptions,
                  data,
                  options.readOnly() || !options.doubleWrite() ? null : changes.guard(),
                  opening,
                  flushRecords,
                  pageCheck(opening, analysis.endOfLog()),
                  waits));
      restart.flushedPages((page, lsn) -> {
        // Behind the size in the slot the file may have been cut, and have grown again, since.
        if (Integer.toUnsignedLong(page) < knownPages) {
          pool.wasFlushed(page, lsn);
        }
      });
      long redoStart = System.nanoTime();
      if (redoes) {
        watch.pagesRead(() -> pool.statisticsOfWork().pagesRead());
        watch.begin(RestartPhase.REDO, analysis.logBytesRead());
        restart.redo(
            Restart.usualWorkers(),
            () -> new PageRedo(pool, opening, analysis.redoPoint()),
            "revenant");
        watch.end(RestartPhase.REDO, analysis.logBytesRead());
      }
      long redoEnd = System.nanoTime();
      Log running = options.readOnly() ? null : opening.begin();
      log = running == null ? Journal.readOnly(analysis.endOfLog()) : Journal.of(running);
      doubleWrite = changes.doubleWrite();
      long pagesRead = pool.statistics().pagesRead();
      long logBytesRead = io.bytesRead() - bytesBefore - pagesRead * Page.SIZE;
      AbortedTransactions aborted = new AbortedTransactions();
      for (long id : analysis.aborted()) {
        aborted.add(id);
      }
      ActiveSnapshots snapshots = new ActiveSnapshots();
      Allocator allocator = new Allocator(pool, log, pool.sizeInPages());
      long limit = options.maxRecoveryLog();
      LogSpace logSpace =
          running == null
              ? new LogSpace(log::tail, limit, limit / 8, hurry)
              : new LogSpace(running, limit, limit / 8, hurry, waits.of(WaitClass.LOG_CREDIT));
      RecoverySpace space = new RecoverySpace(logSpace, restartPages);
      SpillFiles spill =
          opened(
              new SpillFiles(
                      directory, header.databaseId(), running == null ? 0 : running.life(), io)
                  .ownedBy(ownership));
      Horizon horizon = new Horizon(snapshots, log::tail, log::durableLsn);
      Storage storage =
          new Storage(
              pool,
              log,
              space,
              allocator,
              new RoomyPages(pool, log, allocator),
              new VersionMarks(),
              new TransactionTable(
                  aborted,
                  analysis.highestTransactionId(),
                  analysis.prepared().stream().mapToLong(PreparedTransaction::id).toArray(),
                  waits.of(WaitClass.ROW)),
              horizon,
              opened(
                  new VolatileStore(
                      spill,
                      options.versionMemory(),
                      horizon::refresh,
                      GarbageStrategy.of(horizon),
                      waits.of(WaitClass.VERSION_MEMORY),
                      log::fail)),
              spill,
              new Storage.Counters());
      engine =
          new Engine(
              storage,
              snapshots,
              options,
              header.segmentSize(),
              analysis.prepared(),
              waits.of(WaitClass.RETRY_PAUSE));
      catalog = new Catalog(engine);
      try {
        catalog.load();
      } catch (StorageException unreadable) {
        // Who asks for a table is told. What can be read, and checked, is to be.
      }
      engine.tables(new TableSteps(engine, catalog));
      countersFile = counted == null ? null : opened(counted);
      if (running == null) {
        checkpointer = null;
        cleaner = null;
      } else {
        checkpointer =
            opened(
                new Checkpointer(
                    running,
                    space,
                    control,
                    checkpointSource(storage, ownership),
                    limit,
                    "revenant"));
        hurried.set(checkpointer);
        flushRecords.begin(log, logSpace);
        allocator.formatMissingMap(knownPages);
        cleaner =
            opened(
                new Cleaner(
                    storage,
                    catalog::tree,
                    catalog.dropped(),
                    catalog,
                    this::insideGate,
                    /* mapsRead= */ created,
                    options.cleanerThreads(),
                    "revenant-cleaner"));
        cleaner.start();
        engine.cleaner(cleaner, this::cutBack);
        if (!analysis.cleanShutdown()) {
          checkpointer.hurry();
        }
        if (EAGER_REVERT && analysis.aborted().length > 0) {
          cleaner.cleanNow();
        }
      }
      recovery =
          new RecoveryReport(
              created,
              analysis.cleanShutdown(),
              System.nanoTime() - start,
              redoStart - analysisStart,
              redoEnd - redoStart,
              logBytesRead,
              pagesRead,
              changes.restored(),
              analysis.undecided().length);
      ownership.checkFiles();
    } catch (Throwable failure) {
      if (lock != null) {
        lock.putBack();
      }
      closeResources(failure);
      throw failure;
    }
  }

  /** A file that comes into being goes, if the open fails, or with the close. */
  private void writeRestart(@Nullable CountersFile file, RestartStatus status) {
    if (file != null) {
      if (!resources.contains(file)) {
        opened(file);
      }
      file.writeRestart(
          ApiAccess.api().code(status.phase()),
          status.logBytes(),
          status.logBytesTotal(),
          status.pagesRead(),
          status.mostPages());
    }
  }

  private static BufferPoolOptions poolOptions(DatabaseOptions options) {
    try {
      return BufferPoolOptions.ofBytes(options.poolBytes());
    } catch (PoolSizeException e) {
      throw new PoolTooLargeException(Engine.why(e), e);
    }
  }

  private <T extends AutoCloseable> T opened(T resource) {
    resources.push(resource);
    return resource;
  }

  /**
   * A page cannot be ahead of the log, nor carry an LSN from between two lives (R7); and it has to
   * have the structure of its type.
   */
  private static PageReadCheck pageCheck(OpeningLog log, long endOfFormerLife) {
    return new PageReadCheck() {
      @Override
      public @Nullable String problemOf(int pageId, MemorySegment page) {
        long lsn = Page.lsn(page);
        if (lsn <= endOfFormerLife || (lsn >= log.firstTail() && lsn <= log.durableLsn())) {
          return PageStructure.problemOf(pageId, page);
        }
        return "its LSN " + lsn + " is not one that the log has: log that was durable is missing";
      }

      @Override
      public @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
        return PageStructure.problemBeforeChange(pageId, page);
      }
    };
  }

  private CheckpointSource checkpointSource(Storage storage, Ownership ownership) {
    return new CheckpointSource() {
      @Override
      public void flushDirtyBefore(long lsn) {
        pool.flushDirtyBefore(lsn);
      }

      @Override
      public long oldestDirtyLsn() {
        return pool.oldestDirtyLsn();
      }

      @Override
      public TransactionImage transactions() {
        storage.counters().checkpoints.increment();
        return engine.prepared().image();
      }

      @Override
      public long highWaterPages() {
        return storage.allocator().pages();
      }

      @Override
      @SuppressWarnings("EmptyCatch")
      public void everySecond() {
        try {
          ownership.check(); // so that an engine that writes nothing finds out, too
          writeCounters();
        } catch (RuntimeException | Error notNow) {
          // No memory for the numbers, say. They are not worth a checkpoint; the next second is.
        }
      }
    };
  }

  private long insideGate(LongSupplier step) {
    int stripe = engine.gate().enter();
    try {
      return step.getAsLong();
    } finally {
      engine.gate().exit(stripe);
    }
  }

  public Engine engine() {
    return engine;
  }

  public Catalog catalog() {
    return catalog;
  }

  public RecoveryReport recovery() {
    return recovery;
  }

  public void checkpoint() {
    if (checkpointer != null) {
      checkpointer.checkpointNow(/* everything= */ true);
    }
  }

  public void cleanNow() {
    if (cleaner != null) {
      cleaner.cleanNow();
    }
  }

  /** Not inside the gate: moving pages passes through it step by step. */
  public CompactReport compact() {
    Cleaner mover = cleaner;
    Checkpointer writer = checkpointer;
    if (mover == null || writer == null) {
      throw new ReadOnlyDatabaseException(
          "the database was opened read-only; open it for writing to compact it");
    }
    compacting.lock();
    try {
      long moved = mover.compact(this::trees);
      int before = pool.sizeInPages();
      insideGate(() -> {
        cut(writer, before, 0);
        return 0;
      });
      int after = pool.sizeInPages();
      return new CompactReport(
          moved, Math.max(0, before - after) * (long) Page.SIZE, after * (long) Page.SIZE);
    } finally {
      compacting.unlock();
    }
  }

  /**
   * Cuts off what the file has grown by for a value that was refused, unless that is no more than a
   * file grows by in one step, or others use it by now. Not inside the gate.
   *
   * @param least how many pages the file had before
   */
  private void cutBack(int least) {
    Checkpointer writer = checkpointer;
    int before = pool.sizeInPages();
    if (writer == null || before - least <= Allocator.growth(least) || !compacting.tryLock()) {
      return; // who compacts cuts the file himself
    }
    try {
      insideGate(() -> {
        cut(writer, before, least);
        return 0;
      });
    } finally {
      compacting.unlock();
    }
  }

  private List<Tree> trees() {
    List<Tree> trees = new ArrayList<>();
    insideGate(() -> {
      trees.addAll(catalog.trees());
      return 0;
    });
    return trees;
  }

  /** protocols.md §18: the slot has the new size before the file has it. */
  private void cut(Checkpointer writer, int before, int least) {
    Allocator allocator = engine.storage().allocator();
    int end = allocator.fence(least);
    if (end < before) {
      writer.checkpointNow(/* everything= */ true);
      allocator.cut(end);
    }
  }

  public Waits waits() {
    return waits.snapshot();
  }

  /** On a thread that may touch files. */
  public void writeCounters() {
    CountersFile file = countersFile;
    if (file != null) {
      DatabaseStatistics counts = statistics(pool.statisticsOfWork());
      OldestSnapshot oldest = counts.oldestSnapshot();
      file.write(
          CounterValues.of(counts),
          CounterValues.of(waits.snapshot()),
          oldest == null ? null : oldest.name());
    }
  }

  public DatabaseStatistics statistics() {
    return statistics(pool.statistics());
  }

  private DatabaseStatistics statistics(BufferStatistics pages) {
    Storage storage = engine.storage();
    Storage.Counters counters = storage.counters();
    ActiveSnapshots snapshots = engine.snapshots();
    return new DatabaseStatistics(
        counters.splits.sum(),
        counters.merges.sum(),
        counters.overflowValues.sum(),
        counters.overflowPagesFreed.sum(),
        counters.rowsReverted.sum(),
        counters.versionsDropped.sum(),
        counters.cleanerPasses.sum(),
        counters.pagesCleaned.sum(),
        storage.transactions().aborted().size(),
        counters.forgotten.sum(),
        counters.durableCommits.sum(),
        counters.lazyCommits.sum(),
        counters.durableReadWaits.sum(),
        counters.durableReadWaitNanos.sum(),
        counters.checkpoints.sum(),
        pages.hits(),
        pages.misses(),
        pages.evictions(),
        pages.pagesRead(),
        pages.pagesWritten(),
        io.bytesRead(),
        io.bytesWritten(),
        io.forces(),
        log.tail(),
        log.durableLsn(),
        checkpointer == null ? log.durableLsn() : checkpointer.redoPoint(),
        restartPages.inUse(),
        log.bytesInDirectory(),
        storage.allocator().pages(),
        pages.pagesAhead(),
        pages.frameWaits(),
        published(pages.leaf()),
        published(pages.inner()),
        published(pages.overflow()),
        published(pages.map()),
        storage.versions().memoryBytes(),
        storage.versions().runBytes(),
        storage.versions().runs(),
        storage.versions().spilled(),
        storage.marks().leftInPass(),
        storage.marks().fresh(),
        storage.marks().later(),
        storage.marks().postponed(),
        storage.marks().postponedLong(),
        catalog.dropped().count(),
        cleaner == null ? 0 : cleaner.mapsToRead(),
        snapshots.active(),
        oldestSnapshot(),
        storage.versions().added(),
        storage.versions().pruned(),
        storage.versions().swept(),
        storage.versions().longestChain(),
        storage.versions().chainExcess(),
        storage.horizon().refreshes(),
        engine.retries().statistics(engine.backoff().ceiling()));
  }

  private @Nullable OldestSnapshot oldestSnapshot() {
    ActiveSnapshots.Open oldest = engine.snapshots().oldest(System.currentTimeMillis());
    if (oldest == null) {
      return null;
    }
    OpenTransactions.Holder holder = engine.open().holderIn(oldest.slot());
    if (!engine.snapshots().isOpen(oldest)) {
      holder = OpenTransactions.Holder.NOBODY; // it may be another's slot by now
    }
    return new OldestSnapshot(
        oldest.snapshot(),
        oldest.since(),
        holder.id(),
        engine.storage().versions().keptFor(oldest.snapshot()),
        holder.name());
  }

  private static PageClassStatistics published(PageClassCounts counts) {
    return new PageClassStatistics(
        counts.hits(), counts.misses(), counts.evictions(), counts.resident(), counts.dirty());
  }

  /** Closes cleanly, or as well as it can after a failure. */
  public void close() {
    closing.lock(); // a second caller returns when the first has ended
    try {
      closeOnce();
    } finally {
      closing.unlock();
    }
  }

  private void closeOnce() {
    if (engine.gate().isClosed()) {
      return;
    }
    if (cleaner != null) {
      cleaner.close();
    }
    if (!engine.gate().close()) {
      return;
    }
    Throwable failure = null;
    try {
      ForgottenTransactions.leave(engine.open());
      // Behind the gate: who comes later does not sleep.
      engine.storage().transactions().rowWaiters().close();
      engine.open().databaseCloses();
      if (checkpointer != null && log.failure() == null) {
        checkpointer.closeCleanly();
        if (doubleWrite != null) {
          doubleWrite.clear();
        }
      }
    } catch (Throwable e) {
      failure = e;
    }
    failure = closeResources(failure);
    Throwable stopped = log.failure();
    if (failure instanceof LogStoppedException || failure instanceof OutcomeUnknownException) {
      throw Engine.stopped((RuntimeException) failure);
    }
    if (failure instanceof Error && stopped != null) {
      throw Engine.stopped(new LogStoppedException(stopped)); // what else failed is a consequence
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
  }

  /** Closes what is open, whatever happens on the way; returns the first failure. */
  private @Nullable Throwable closeResources(@Nullable Throwable before) {
    Throwable failure = before;
    while (!resources.isEmpty()) {
      try {
        resources.pop().close();
      } catch (Throwable e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    return failure;
  }
}
