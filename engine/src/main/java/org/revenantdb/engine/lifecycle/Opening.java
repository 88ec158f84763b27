package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.buffer.PageReadCheck;
import org.revenantdb.engine.buffer.PoolSizeException;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.change.FlushRecords;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.TableSteps;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.GarbageStrategy;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.DirectoryLock;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.restart.AnalysisResult;
import org.revenantdb.recovery.restart.PreparedTransaction;
import org.revenantdb.recovery.restart.Restart;

/**
 * The steps by which a database is opened, each of which returns what the later ones need.
 *
 * <p>Threads: one of the engine. Failure: the caller calls {@link #putBack}, and closes what is on
 * the stack.
 */
final class Opening {
  /*
   * Protocol    docs/protocols.md §10, with the crash table.
   *
   * Steps       1  files       the directory is locked; files are made, if there is no database; all are compared with
   *                            each other (FileSurvey)
   *             2  analyse     the log is read: where it ends, and what has become of its transactions
   *             3  startLife   the new life is prepared. It begins with the first change to any file (OpeningLog,
   *                            FirstChanges): at the end of step 4, or when the first page has to be written
   *             4  redo        the pool is opened, and the log is carried out on its pages
   *             5  run         the life has begun; log, storage, engine and catalogue are those of the running database
   *             6  start       checkpointer, then cleaner (OpenDatabase)
   *
   * A failure   what is opened is pushed on a stack at once, which is closed from the top (OpenResources). Up to the
   *             beginning of the life nothing is changed, but for a creation, and no later step changes anything that
   *             the next try would miss. So an open can be repeated when its cause is removed.
   *
   * A crash     before the life begins: the directory is as it was. Behind that, the same steps give the same database.
   */
  private final Path directory;
  private final DatabaseOptions options;
  private final BufferPoolOptions poolOptions;
  private final IoStatistics io;
  private final EngineWaits waits;
  private final OpenResources resources;
  private final long start = System.nanoTime();

  /** Is put back as it was, if the open fails; null before it is taken. */
  private @Nullable DirectoryLock lock;

  /**
   * Changes nothing yet.
   *
   * @param resources where each step pushes what it opens
   */
  Opening(
      Path directory,
      DatabaseOptions options,
      IoStatistics io,
      EngineWaits waits,
      OpenResources resources) {
    this.directory = directory;
    this.options = options;
    this.poolOptions = poolOptions(options);
    this.io = io;
    this.waits = waits;
    this.resources = resources;
  }

  /** The open has failed: the lock is as it was before. */
  void putBack() {
    DirectoryLock taken = lock;
    if (taken != null) {
      taken.putBack();
    }
  }

  /**
   * What step 1 leaves.
   *
   * @param created whether there was no database
   * @param counted the counters file, which comes into being later; null if there is to be none
   */
  record Files(
      DatabaseFiles files,
      Ownership ownership,
      FileSurvey survey,
      boolean created,
      @Nullable CountersFile counted) {}

  Files openFiles() {
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
    DirectoryLock taken = resources.opened(DirectoryLock.acquire(directory, options.readOnly()));
    lock = taken;
    Ownership ownership = taken.ownership();
    boolean created = !files.exists();
    if (created) {
      files.create(options);
    }
    FileSurvey survey = new FileSurvey(files, options.readOnly(), io, resources::opened);
    survey.data().ownedBy(ownership);
    ControlFile control = survey.control();
    ownership.watch(files.data(), () -> control.state().highWaterPages() * Page.SIZE);
    if (options.readOnly() && !control.state().clean()) {
      throw new org.revenantdb.engine.StorageException(
          org.revenantdb.engine.StorageException.Reason.NOT_CLEANLY_CLOSED,
          directory,
          StorageException.NO_OFFSET,
          "the database was not closed cleanly and needs recovery, which writes",
          "open it once without readOnly, then again",
          /* cause= */ null);
    }
    CountersFile counted =
        !options.readOnly() && options.countersFile()
            ? new CountersFile(
                    directory,
                    survey.header().databaseId(),
                    control.state().life(),
                    InstantSource.system())
                .ownedBy(ownership)
            : null;
    return new Files(files, ownership, survey, created, counted);
  }

  /**
   * What step 2 leaves.
   *
   * @param begun when it began, by {@link System#nanoTime}
   * @param bytesBefore how much had been read then
   * @param knownPages how many pages the control slot knows of
   * @param mostPages how many pages may be changed and not written
   */
  record Analysed(
      Restart restart,
      RestartWatch watch,
      long begun,
      long bytesBefore,
      long knownPages,
      long mostPages) {
    AnalysisResult result() {
      return restart.result();
    }
  }

  Analysed analyse(Files files) {
    // What does not fit into the pool would be read again and again by redo.
    long mostPages = Math.min(options.maxRecoveryPages(), poolOptions.frames() * 7L / 8);
    RestartWatch watch =
        new RestartWatch(
            options.restartListener(),
            status -> writeRestart(files.counted(), status),
            mostPages,
            System::nanoTime);
    long begun = System.nanoTime();
    long bytesBefore = io.bytesRead();
    watch.begin(RestartPhase.ANALYSIS, /* total= */ 0);
    Restart restart = files.survey().analyse(watch);
    watch.end(RestartPhase.ANALYSIS, restart.result().logBytesRead());
    long knownPages = files.survey().control().state().highWaterPages();
    return new Analysed(restart, watch, begun, bytesBefore, knownPages, mostPages);
  }

  /** What step 3 leaves: a life that begins with the first change to any file. */
  record Life(FirstChanges changes, OpeningLog log) {}

  Life prepareLife(Files files, Analysed analysed) {
    FirstChanges changes =
        resources.opened(
            new FirstChanges(
                files.files(),
                options,
                files.survey(),
                analysed.restart(),
                io,
                waits.log(),
                files.ownership()));
    CountersFile counted = files.counted();
    OpeningLog opening =
        resources.opened(
            new OpeningLog(
                analysed.result().endOfLog(),
                () -> {
                  Log made = changes.make();
                  if (counted != null) {
                    counted.life(made.life());
                  }
                  return made;
                }));
    return new Life(changes, opening);
  }

  /**
   * The credit for pages that are changed and not written. The checkpointer needs it, and the other
   * way round; credit is taken by threads that start later.
   *
   * @param hurried the checkpointer, once there is one
   * @param hurry asks it for a checkpoint
   */
  record Credit(
      PageSpace pages,
      FlushRecords flushed,
      AtomicReference<@Nullable Checkpointer> hurried,
      Runnable hurry) {}

  Credit credit(Analysed analysed, Life life) {
    AtomicReference<@Nullable Checkpointer> hurried = new AtomicReference<>();
    Runnable hurry =
        () -> {
          Checkpointer started = hurried.get();
          if (started != null) {
            started.hurry();
          }
        };
    PageSpace pages =
        new PageSpace(
            life.log()::durableLsn,
            analysed.mostPages(),
            analysed.mostPages() / 8,
            hurry,
            waits.of(WaitClass.PAGE_CREDIT));
    return new Credit(pages, new FlushRecords(life.log(), pages), hurried, hurry);
  }

  BufferPool openPool(Files files, Analysed analysed, Life life, Credit credit) {
    BufferPool made =
        resources.opened(
            new BufferPool(
                poolOptions,
                files.survey().data(),
                options.readOnly() || !options.doubleWrite() ? null : life.changes().guard(),
                life.log(),
                credit.flushed(),
                pageCheck(life.log(), analysed.restart(), credit.hurry()),
                waits));
    analysed.restart().flushedPages(made::wasFlushed);
    analysed.restart().refusedPages(made::wasRefused); // not before: see there
    return made;
  }

  /** What step 4 leaves beside the pages: when it began and ended, by {@link System#nanoTime}. */
  record Redone(long begun, long ended) {}

  Redone redo(Analysed analysed, Life life, BufferPool pool) {
    AnalysisResult result = analysed.result();
    RestartWatch watch = analysed.watch();
    long begun = System.nanoTime();
    if (!options.readOnly() && !result.cleanShutdown()) {
      watch.pagesRead(() -> pool.statisticsOfWork().pagesRead());
      watch.begin(RestartPhase.REDO, result.logBytesRead());
      analysed
          .restart()
          .redo(
              Restart.usualWorkers(),
              () -> new PageRedo(pool, life.log(), result.redoPoint()),
              "revenant");
      watch.end(RestartPhase.REDO, result.logBytesRead());
    }
    return new Redone(begun, System.nanoTime());
  }

  /**
   * What step 5 begins with.
   *
   * @param log null if the database is opened read-only
   * @param pagesRead how many pages the restart has read
   * @param logBytesRead how much of the log
   */
  record Running(@Nullable Log log, Journal journal, long pagesRead, long logBytesRead) {}

  Running begin(Analysed analysed, Life life, BufferPool pool) {
    Log running = options.readOnly() ? null : life.log().begin();
    Journal journal =
        running == null ? Journal.readOnly(analysed.result().endOfLog()) : Journal.of(running);
    long pagesRead = pool.statistics().pagesRead();
    long logBytesRead = io.bytesRead() - analysed.bytesBefore() - pagesRead * Page.SIZE;
    return new Running(running, journal, pagesRead, logBytesRead);
  }

  LogSpace logSpace(Running running, Credit credit) {
    long limit = options.maxRecoveryLog();
    Log written = running.log();
    return written == null
        ? new LogSpace(running.journal()::tail, limit, limit / 8, credit.hurry())
        : new LogSpace(written, limit, limit / 8, credit.hurry(), waits.of(WaitClass.LOG_CREDIT));
  }

  Engine makeEngine(
      Files files, Analysed analysed, Running running, RecoverySpace space, BufferPool pool) {
    AnalysisResult result = analysed.result();
    DataFileHeader header = files.survey().header();
    Journal journal = running.journal();
    Log written = running.log();
    ActiveSnapshots snapshots = new ActiveSnapshots();
    Allocator allocator = new Allocator(pool, journal, pool.sizeInPages());
    SpillFiles spill =
        resources.opened(
            new SpillFiles(
                    files.files().directory(),
                    header.databaseId(),
                    written == null ? 0 : written.life(),
                    io)
                .ownedBy(files.ownership()));
    Horizon horizon = new Horizon(snapshots, journal::tail, journal::durableLsn);
    Storage storage =
        new Storage(
            pool,
            journal,
            space,
            allocator,
            new RoomyPages(pool, journal, allocator),
            new VersionMarks(),
            transactions(result),
            horizon,
            resources.opened(
                new VolatileStore(
                    spill,
                    options.versionMemory(),
                    horizon::refresh,
                    GarbageStrategy.of(horizon),
                    waits.of(WaitClass.VERSION_MEMORY),
                    journal::fail)),
            spill,
            new Storage.Counters());
    return new Engine(
        storage,
        snapshots,
        options,
        header.segmentSize(),
        result.prepared(),
        waits.of(WaitClass.RETRY_PAUSE));
  }

  /** Those of former lives that are aborted or prepared. */
  private TransactionTable transactions(AnalysisResult result) {
    AbortedTransactions aborted = new AbortedTransactions();
    for (long id : result.aborted()) {
      aborted.add(id);
    }
    return new TransactionTable(
        aborted,
        result.highestTransactionId(),
        result.prepared().stream().mapToLong(PreparedTransaction::id).toArray(),
        waits.of(WaitClass.ROW));
  }

  static Catalog loadCatalog(Engine engine) {
    Catalog loaded = new Catalog(engine);
    try {
      loaded.load();
    } catch (StorageException unreadable) {
      // Who asks for a table is told. What can be read, and checked, is to be.
    }
    engine.tables(new TableSteps(engine, loaded));
    return loaded;
  }

  RecoveryReport report(Files files, Analysed analysed, Life life, Redone redone, Running running) {
    AnalysisResult result = analysed.result();
    return new RecoveryReport(
        files.created(),
        result.cleanShutdown(),
        System.nanoTime() - start,
        redone.begun() - analysed.begun(),
        redone.ended() - redone.begun(),
        running.logBytesRead(),
        running.pagesRead(),
        life.changes().restored(),
        result.undecided().length);
  }

  /** A file that comes into being goes, if the open fails, or with the close. */
  private void writeRestart(@Nullable CountersFile file, RestartStatus status) {
    if (file != null) {
      if (!resources.contains(file)) {
        resources.opened(file);
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
      throw new LimitException(LimitException.Reason.POOL_TOO_LARGE, Engine.why(e), e);
    }
  }

  /**
   * A page cannot be ahead of the log, nor carry an LSN from between two lives (R7); and it has to
   * have the structure of its type.
   */
  private static PageReadCheck pageCheck(OpeningLog log, Restart restart, Runnable hurry) {
    long endOfFormerLife = restart.result().endOfLog();
    return new PageReadCheck() {
      @Override
      public @Nullable String problemOf(int pageId, MemorySegment page) {
        long lsn = Page.lsn(page);
        boolean isOfALife =
            lsn <= endOfFormerLife
                ? !restart.isBetweenLives(lsn)
                : lsn >= log.firstTail() && lsn <= log.durableLsn();
        if (isOfALife) {
          return PageStructure.problemOf(pageId, page);
        }
        return "its LSN " + lsn + " is not one that the log has: log that was durable is missing";
      }

      @Override
      public boolean isBetweenLives(MemorySegment page) {
        long lsn = Page.lsn(page);
        return restart.isBetweenLives(lsn) || (lsn > endOfFormerLife && lsn < log.firstTail());
      }

      @Override
      public void refused() {
        hurry.run();
      }

      @Override
      public @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
        return PageStructure.problemBeforeChange(pageId, page);
      }
    };
  }
}
