package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.archive.Archiver;
import org.revenantdb.engine.archive.FollowerNote;
import org.revenantdb.engine.backup.BackupNotes;
import org.revenantdb.engine.backup.BackupTarget;
import org.revenantdb.engine.buffer.BatchGuard;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.buffer.PageReadCheck;
import org.revenantdb.engine.buffer.PoolShare;
import org.revenantdb.engine.buffer.PoolSizeException;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.change.FlushRecords;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.flight.FlightEvents;
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
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.restart.AnalysisResult;
import org.revenantdb.recovery.restart.PendingParts;
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
   *             2  analyse     the log is read: where it ends, and the outcomes of its transactions
   *             3  startLife   the new life begins, with the first change to any file (FirstChanges)
   *             4  openPool    from here on a page that lacks something is redone when it is read (LoggedChanges)
   *             5  run         log, storage, engine and catalogue are those of the running database
   *             6  start       checkpointer, cleaner, then the redo of what nobody asks for (OpenDatabase)
   *
   * A failure   what is opened is pushed on a stack at once, which is closed from the top (OpenResources). Up to the
   *             beginning of the life nothing is changed, but for a creation, and no later step changes anything that
   *             the next try would miss. So an open can be repeated when its cause is removed.
   *
   * A crash     before the life begins: the directory is as it was. Behind that, the same steps give the same database.
   */
  /** Reports spills to the flight recorder. */
  private static final VolatileStore.SpillWatch SPILLS =
      new VolatileStore.SpillWatch() {
        @Override
        public @Nullable Object begins() {
          return FlightEvents.beginSpill();
        }

        @Override
        public void ended(@Nullable Object begun, long versions) {
          FlightEvents.endSpill(begun, versions);
        }
      };

  private final Path directory;
  private final DatabaseOptions options;
  private final BufferPoolOptions poolOptions;
  private final IoStatistics io;
  private final EngineWaits waits;
  private final OpenResources resources;

  /** Whether it is a view of a follower, which has the lock and shares the directory. */
  private final boolean isView;

  private final long start = System.nanoTime();

  /** Is put back as it was, if the open fails; null before it is taken. */
  private @Nullable DirectoryLock lock;

  /**
   * Changes nothing yet.
   *
   * @param resources where each step pushes what it opens
   * @param isView whether a follower opens it, which has the directory locked
   */
  Opening(
      Path directory,
      DatabaseOptions options,
      IoStatistics io,
      EngineWaits waits,
      OpenResources resources,
      boolean isView) {
    if (options.poolBytes() != 0) {
      poolOptions(options); // refused before it counts
    }
    PoolShare share = resources.opened(PoolShare.take(options.poolBytes(), isView));
    this.directory = directory;
    this.options = options.withPoolBytes(share.bytes());
    this.poolOptions = poolOptions(this.options);
    this.io = io;
    this.waits = waits;
    this.resources = resources;
    this.isView = isView;
  }

  /** The open has failed: the lock is as it was before. */
  void putBack() {
    DirectoryLock taken = lock;
    if (taken != null) {
      taken.putBack();
    }
  }

  /** Whether the directory was copied while the original was in use. */
  boolean isOfCopy() {
    DirectoryLock taken = lock;
    return taken != null && taken.isOfCopy();
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

  private Ownership acquire() {
    DirectoryLock taken = resources.opened(DirectoryLock.acquire(directory, options.readOnly()));
    lock = taken;
    if (!options.readOnly()) {
      FollowerNote.refuse(directory); // under the lock: a promotion deletes the note
    }
    return taken.ownership();
  }

  Files openFiles() {
    DatabaseFiles files = new DatabaseFiles(directory, io);
    boolean mayCreate = options.create() && !options.readOnly();
    if (!files.exists()) {
      BackupTarget.refuseUnfinished(directory);
    }
    if (!files.exists() && !mayCreate) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "there is no database here",
          "name the directory of a database, or open with create and without readOnly",
          null);
    }
    if (mayCreate) {
      files.createDirectory();
    }
    if (!files.exists()) {
      files.refuseForeignFiles();
    }
    files.refuseOtherKinds();
    Ownership ownership = isView ? Ownership.none() : acquire();
    boolean created = !files.exists();
    if (created) {
      files.create(options);
    }
    FileSurvey survey = new FileSurvey(files, options.readOnly(), io, resources::opened);
    survey.data().ownedBy(ownership);
    ControlFile control = survey.control();
    ownership.watch(files.data(), () -> control.state().highWaterPages() * Page.SIZE);
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
   * @param nanos how long it took
   * @param pending how many pages may lack something
   * @param knownPages how many pages the control slot knows of
   * @param mostPages how many pages may be changed and not written
   */
  record Analysed(
      Restart restart,
      RestartWatch watch,
      long nanos,
      int pending,
      long knownPages,
      long mostPages) {
    AnalysisResult result() {
      return restart.result();
    }
  }

  Analysed analyse(Files files) {
    // Writers leave some frames to clean pages, so that a thread that needs a frame need not wait
    // for a write.
    long mostPages = Math.min(options.maxRecoveryPages(), poolOptions.frames() * 7L / 8);
    RestartWatch watch =
        new RestartWatch(
            options.restartListener(),
            status -> writeRestart(files.counted(), status),
            System::nanoTime);
    long begun = System.nanoTime();
    watch.begin(RestartPhase.ANALYSIS, /* total= */ 0);
    Restart restart = files.survey().analyse(watch);
    watch.end(RestartPhase.ANALYSIS, restart.result().logBytesRead());
    long knownPages = files.survey().control().state().highWaterPages();
    return new Analysed(
        restart, watch, System.nanoTime() - begun, restart.pending().left(), knownPages, mostPages);
  }

  /**
   * What step 3 leaves.
   *
   * @param made the log of the new life, and what else the first changes have left; null if the
   *     database is opened read-only
   * @param firstTail the lowest LSN of the life that a page can have
   */
  record Life(FirstChanges.@Nullable Made made, Journal journal, long firstTail) {
    @Nullable Log log() {
      return made == null ? null : made.log();
    }

    @Nullable DoubleWriteFile doubleWrite() {
      return made == null ? null : made.doubleWrite();
    }

    int restored() {
      return made == null ? 0 : made.restored();
    }
  }

  Life startLife(Files files, Analysed analysed) {
    if (options.readOnly()) {
      long end = analysed.result().endOfLog();
      return new Life(/* made= */ null, Journal.readOnly(end), /* firstTail= */ Long.MAX_VALUE);
    }
    ArchiveOptions archive = options.archive();
    if (archive != null) {
      analysed
          .restart()
          .keepLogFrom(
              Archiver.look(
                  archive,
                  files.survey().header(),
                  files.files().log(),
                  analysed.restart().formerLife(),
                  analysed.result().endOfLog(),
                  analysed.restart().nextLife()));
    }
    FirstChanges.Made made =
        new FirstChanges(
                files.files(),
                files.created(),
                options,
                files.survey(),
                analysed.restart(),
                io,
                waits.log(),
                files.ownership(),
                resources)
            .make();
    new BackupNotes(directory, files.survey().header().databaseId(), files.ownership(), io)
        .beginLife(
            analysed.result().endOfLog(), analysed.restart().formerLife(), made.log().life());
    CountersFile counted = files.counted();
    if (counted != null) {
      counted.life(made.log().life());
    }
    return new Life(made, Journal.of(made.log()), made.log().tail());
  }

  /** The log is held before the first checkpoint of the life; null without an archive. */
  @Nullable Archiver holdForArchive(Files files, Life life) {
    ArchiveOptions archive = options.archive();
    Log written = life.log();
    if (archive == null || written == null) {
      return null;
    }
    return resources.opened(
        new Archiver(
            directory, archive, files.survey().header(), written, System::currentTimeMillis));
  }

  /**
   * The credit for pages that are changed and not written, and for the log. The checkpointer needs
   * it, and the other way round; credit is taken by threads that start later.
   *
   * @param redo what brings pages up to date in the background, once there is one
   * @param checkpointer once there is one
   * @param hurry asks for room: by redo, while it is at work, and by a checkpoint
   * @param noted asks for a checkpoint, since a page was refused
   */
  record Credit(
      PageSpace pages,
      FlushRecords flushed,
      AtomicReference<@Nullable BackgroundRedo> redo,
      AtomicReference<@Nullable Checkpointer> checkpointer,
      Runnable hurry,
      Runnable noted) {}

  Credit credit(Analysed analysed, Life life) {
    AtomicReference<@Nullable BackgroundRedo> redo = new AtomicReference<>();
    AtomicReference<@Nullable Checkpointer> checkpointer = new AtomicReference<>();
    Runnable noted =
        () -> {
          Checkpointer started = checkpointer.get();
          if (started != null) {
            started.hurry();
          }
        };
    Runnable hurry =
        () -> {
          BackgroundRedo working = redo.get();
          if (working != null) {
            working.hurry();
          }
          noted.run(); // the redo point follows what is redone
        };
    PageSpace pages =
        new PageSpace(
            life.journal()::durableLsn,
            analysed.mostPages(),
            analysed.mostPages() / 8,
            hurry,
            waits.of(WaitClass.PAGE_CREDIT));
    FlushRecords flushed = new FlushRecords(life.journal(), pages);
    return new Credit(pages, flushed, redo, checkpointer, hurry, noted);
  }

  BufferPool openPool(Files files, Analysed analysed, Life life, Credit credit) {
    StorageFile data = files.survey().data();
    DoubleWriteFile doubleWrite = life.doubleWrite();
    PendingParts pending = resources.opened(analysed.restart().pending()); // closed after the pool
    BufferPool made =
        resources.opened(
            new BufferPool(
                poolOptions,
                data,
                doubleWrite == null || !options.doubleWrite() ? null : BatchGuard.of(doubleWrite),
                life.journal(),
                credit.flushed(),
                pageCheck(life, analysed.restart(), credit.noted()),
                waits));
    Restart restart = analysed.restart();
    restart.flushedPages(made::wasFlushed);
    restart.refusedPages(made::wasRefused); // not before: see there
    if (pending.left() > 0) {
      pending.map();
      made.redoOnDemand(new LoggedChanges(pending, data.path(), options.readOnly()));
    }
    return made;
  }

  /**
   * Room in the log. While pages have to be redone writers have room of their own, as much as the
   * directory of the log may have beside what redo needs: a restart in between reads both.
   */
  LogSpace logSpace(Analysed analysed, Life life, Credit credit) {
    long limit = options.maxRecoveryLog();
    Log written = life.log();
    if (written == null) {
      return new LogSpace(life.journal()::tail, limit, limit / 8, credit.hurry());
    }
    LogSpace space =
        new LogSpace(written, limit, limit / 8, credit.hurry(), waits.of(WaitClass.LOG_CREDIT));
    if (analysed.restart().pending().left() > 0) {
      long spare = 2L * written.segmentSize();
      long room =
          ApiAccess.api().logBytes(options, written.segmentSize())
              - analysed.restart().bytesKept()
              - spare;
      space.countFrom(life.firstTail() - (limit - Math.clamp(room, 0, limit)));
    }
    return space;
  }

  Engine makeEngine(
      Files files, Analysed analysed, Life life, RecoverySpace space, BufferPool pool) {
    AnalysisResult result = analysed.result();
    DataFileHeader header = files.survey().header();
    Journal journal = life.journal();
    Log written = life.log();
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
    VolatileStore versions =
        resources.opened(
            new VolatileStore(
                spill,
                options.versionMemory(),
                horizon::refresh,
                GarbageStrategy.of(horizon),
                waits.of(WaitClass.VERSION_MEMORY),
                journal::fail));
    versions.watchSpills(SPILLS);
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
            versions,
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
    } catch (FileException unreadable) {
      // A caller that asks for such a table gets the failure. The rest of the database can be read
      // and checked.
    }
    engine.tables(new TableSteps(engine, loaded));
    return loaded;
  }

  RecoveryReport report(Files files, Analysed analysed, Life life, BufferPool pool) {
    AnalysisResult result = analysed.result();
    return new RecoveryReport(
        files.created(),
        result.cleanShutdown(),
        System.nanoTime() - start,
        analysed.nanos(),
        result.logBytesRead(),
        analysed.pending(),
        pool.statisticsOfWork().pagesRead(),
        life.restored(),
        result.undecided().length);
  }

  /** A file that comes into being goes, if the open fails, or with the close. */
  private void writeRestart(@Nullable CountersFile file, RestartStatus status) {
    if (file != null) {
      if (!resources.contains(file)) {
        resources.opened(file);
      }
      file.writeRestart(ApiAccess.api().code(status.phase()), status.done(), status.total());
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
  private static PageReadCheck pageCheck(Life life, Restart restart, Runnable noted) {
    long endOfFormerLife = restart.result().endOfLog();
    return new PageReadCheck() {
      @Override
      public @Nullable String problemOf(int pageId, MemorySegment page) {
        long lsn = Page.lsn(page);
        boolean isOfALife =
            lsn <= endOfFormerLife
                ? !restart.isBetweenLives(lsn)
                : lsn >= life.firstTail() && lsn <= life.journal().durableLsn();
        if (isOfALife) {
          return PageStructure.problemOf(pageId, page);
        }
        return "its LSN " + lsn + " is not one that the log has: log that was durable is missing";
      }

      @Override
      public boolean isBetweenLives(MemorySegment page) {
        long lsn = Page.lsn(page);
        return restart.isBetweenLives(lsn) || (lsn > endOfFormerLife && lsn < life.firstTail());
      }

      @Override
      public void refused() {
        noted.run();
      }

      @Override
      public @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
        return PageStructure.problemBeforeChange(pageId, page);
      }
    };
  }
}
