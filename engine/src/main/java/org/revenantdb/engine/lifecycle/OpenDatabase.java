package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CompactReport;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.OldestSnapshot;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.Waits;
import org.revenantdb.engine.archive.Archiver;
import org.revenantdb.engine.backup.Backups;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.check.LiveCheck;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.flight.FlightEvents;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.session.CopyInUse;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.ForgottenTransactions;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.checkpoint.CheckpointSource;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AnalysisResult;
import org.revenantdb.recovery.restart.PendingParts;

/**
 * Opens a database step by step, holds its resources, and closes them in the opposite order.
 *
 * <p>Opening and closing run on a thread of the engine.
 */
public final class OpenDatabase {
  /*
   * Opening     the steps of Opening, then checkpointer and cleaner. Their threads may use all
   *             results of the steps through this object, so it is complete except for these two.
   *
   * Close       1  a backup ends, the cleaner ends, then the gate closes: no thread is inside the database or can
   *                enter
   *             2  the search for forgotten transactions ends; threads that wait for rows are
   *                woken; open transactions are rolled back
   *             3  unless the log has stopped: if much of the end of the data file is free, a fence;
   *                the last checkpoint, the clean mark; the double-write file is emptied
   *             4  the stack of open resources is closed from the top (OpenResources)
   *                The archiver is on it, above the log: it ships what is durable
   *                The cut of the data file is on it, below log and pool: it is the last change of a file
   *             A crash before the clean mark leaves a database that was not closed cleanly, and
   *             the next open redoes the log. A crash after it leaves a clean one.
   */

  /** A close does not cut fewer pages off the data file: 512 KiB. */
  private static final int LEAST_CUT = 64;

  private final OpenResources resources = new OpenResources();
  private final PatientLock closing = new PatientLock();
  private final PatientLock compacting = new PatientLock();

  private final IoStatistics io = new IoStatistics();
  private final EngineWaits waits = new EngineWaits();
  private final Engine engine;
  private final LiveCheck liveCheck;
  private final Catalog catalog;
  private final Journal log;
  private final BufferPool pool;
  private final PageSpace restartPages;

  /** What the crash before this open has left; with a read-only open for as long as it is open. */
  private final PendingParts pending;

  private final CutAtClose cutAtClose;

  private final @Nullable Checkpointer checkpointer;
  private final @Nullable BackgroundRedo redo;
  private final @Nullable Cleaner cleaner;
  private final @Nullable DoubleWriteFile doubleWrite;
  private final @Nullable CountersFile countersFile;
  private final RecoveryReport recovery;
  private final AnalysisResult found;
  private final Backups backups;

  /** Null without an archive. */
  private final @Nullable Archiver archiver;

  public static OpenDatabase open(Path directory, DatabaseOptions options) {
    return open(directory, options, /* isView= */ false);
  }

  /** Opens a view of a follower, which has the directory locked (docs/protocols.md §50). */
  static OpenDatabase openView(Path directory, DatabaseOptions options) {
    return open(directory, options.withReadOnly(true), /* isView= */ true);
  }

  private static OpenDatabase open(Path directory, DatabaseOptions options, boolean isView) {
    try {
      return new OpenDatabase(directory, options, isView);
    } catch (DurabilityUnknownException | LogStoppedException stopped) {
      // No work of a caller is in doubt yet: the exception that stopped the log has
      // file and remedy.
      for (Throwable cause = stopped.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof FileException file) {
          for (Throwable close : stopped.getSuppressed()) {
            file.addSuppressed(close);
          }
          throw file;
        }
      }
      throw stopped;
    }
  }

  private OpenDatabase(Path directory, DatabaseOptions options, boolean isView) {
    Opening steps = new Opening(directory, options, io, waits, resources, isView);
    try {
      Opening.Files files = steps.openFiles(); // 1
      cutAtClose = resources.opened(new CutAtClose(files.survey().data()));
      Opening.Analysed analysed = steps.analyse(files); // 2
      Opening.Life life = steps.startLife(files, analysed); // 3
      archiver = steps.holdForArchive(files, life);
      Opening.Credit credit = steps.credit(analysed, life);
      restartPages = credit.pages();
      pending = analysed.restart().pending();
      pool = steps.openPool(files, analysed, life, credit); // 4
      log = life.journal(); // 5
      doubleWrite = life.doubleWrite();
      LogSpace logSpace = steps.logSpace(analysed, life, credit);
      RecoverySpace space = new RecoverySpace(logSpace, restartPages);
      engine = steps.makeEngine(files, analysed, life, space, pool);
      if (steps.isOfCopy()) {
        engine.isOfCopy();
      }
      liveCheck = new LiveCheck(engine);
      catalog = Opening.loadCatalog(engine);
      countersFile = files.counted() == null ? null : resources.opened(files.counted());
      if (life.log() == null) {
        checkpointer = null;
        cleaner = null;
        redo = null;
      } else {
        checkpointer = startCheckpointer(files, life.log(), space, options); // 6
        credit.checkpointer().set(checkpointer);
        credit.flushed().begin(logSpace, () -> pending.left() > 0);
        engine.storage().allocator().formatMissingMap(analysed.knownPages());
        cleaner = startCleaner(files, options, () -> isFirstRound(credit.redo().get()));
        redo = startRedo(analysed, life, space);
        credit.redo().set(redo);
        if (redo == null && !analysed.result().cleanShutdown()) {
          checkpointer.hurry();
        }
      }
      recovery = steps.report(files, analysed, life, pool);
      found = analysed.result();
      backups =
          new Backups(
              new CopiedDatabase(
                  files,
                  analysed.result(),
                  pool,
                  life.log(),
                  io,
                  this::checkpoint,
                  engine.storage().allocator(),
                  engine.storage().counters()::commits));
      files.ownership().checkFiles();
      if (archiver != null) {
        archiver.start(backups);
      }
    } catch (Throwable failure) {
      steps.putBack();
      resources.close(failure);
      if (steps.isOfCopy() && failure instanceof RuntimeException damage) {
        throw CopyInUse.told(damage);
      }
      throw failure;
    }
  }

  private Checkpointer startCheckpointer(
      Opening.Files files, Log running, RecoverySpace space, DatabaseOptions options) {
    return resources.opened(
        new Checkpointer(
            running,
            space,
            files.survey().control(),
            checkpointSource(engine.storage(), files.ownership()),
            options.maxRecoveryLog(),
            "revenant"));
  }

  private Cleaner startCleaner(
      Opening.Files files, DatabaseOptions options, BooleanSupplier first) {
    Cleaner made =
        resources.opened(
            new Cleaner(
                engine.storage(),
                catalog::tree,
                catalog.dropped(),
                catalog,
                this::insideGate,
                /* mapsRead= */ files.created(),
                options.cleanerThreads(),
                "revenant-cleaner"));
    made.start(first);
    engine.cleaner(made, this::cutBack);
    return made;
  }

  /**
   * Then the cleaner would bring in pages that have to be redone, beside those that callers need.
   */
  private static boolean isFirstRound(@Nullable BackgroundRedo working) {
    return working != null && working.isInFirstRound();
  }

  private CheckpointSource checkpointSource(Storage storage, Ownership ownership) {
    return new CheckpointSource() {
      private @Nullable Object event;

      @Override
      public void roundBegins() {
        event = FlightEvents.beginCheckpoint();
      }

      @Override
      public void roundEnded(long redoPointBefore, long redoPoint) {
        FlightEvents.endCheckpoint(event, redoPointBefore, redoPoint);
        event = null;
      }

      @Override
      public void flushDirtyBefore(long lsn) {
        pool.flushDirtyBefore(lsn);
      }

      @Override
      public long oldestDirtyLsn() {
        long oldest = pending.oldestLsn(); // first: a page is dirty before it ceases to be pending
        return Math.min(oldest, pool.oldestDirtyLsn());
      }

      @Override
      public boolean isRedoPending() {
        return pending.left() > 0;
      }

      @Override
      public TransactionImage transactions() {
        storage.counters().checkpoints.increment();
        return engine.prepared().image();
      }

      @Override
      public List<RefusedPage> refusedPages() {
        return pool.refusedPages();
      }

      @Override
      public long highWaterPages() {
        return storage.allocator().pages();
      }

      @Override
      @SuppressWarnings("EmptyCatch")
      public void everySecond() {
        try {
          ownership.check(); // so that an engine that writes nothing detects a loss, too
          writeCounters();
        } catch (RuntimeException | Error notNow) {
          // For instance no memory for the numbers. They are less important than a checkpoint, and
          // the next second repeats this.
        }
      }
    };
  }

  /** Null if nothing is pending. */
  private @Nullable BackgroundRedo startRedo(
      Opening.Analysed analysed, Opening.Life life, RecoverySpace space) {
    Checkpointer asked = checkpointer;
    if (pending.left() == 0 || asked == null) {
      return null;
    }
    int total = pending.left();
    RestartWatch watch = analysed.watch();
    watch.begin(RestartPhase.REDO, total);
    BackgroundRedo.Around around =
        new BackgroundRedo.Around() {
          @Override
          public void progress(int left) {
            watch.redone(total - left, total);
          }

          @Override
          public void written() {
            asked.hurry();
          }

          @Override
          public void over() {
            watch.end(RestartPhase.REDO, total);
          }

          @Override
          public boolean isAwaited() {
            return space.isAwaited();
          }

          @Override
          public void fail(Throwable cause) {
            log.fail(cause);
          }
        };
    return resources.opened(
        new BackgroundRedo(
            pool,
            pending,
            log,
            life.firstTail(),
            /* ofSeveralLives= */ analysed.restart().isAfterRestart(),
            around,
            "revenant-redo"));
  }

  /**
   * Waits until everything that a crash has left is redone; throws the failure that prevents this.
   */
  private void finishRedo() {
    BackgroundRedo working = redo;
    if (working != null && !working.finish() && log.failure() == null) {
      throw working.unfinished();
    }
  }

  private long insideGate(LongSupplier step) {
    int stripe = engine.gate().enter();
    try {
      return step.getAsLong();
    } finally {
      engine.gate().exit(stripe);
    }
  }

  /** What analysis has found. */
  AnalysisResult found() {
    return found;
  }

  /**
   * The pages that may lack something in the data file; of a read-only database always the same.
   */
  int[] pendingPages() {
    return pending.pages();
  }

  /** Copies a page with all that the log has for it. */
  void copyPage(int pageId, MemorySegment to) {
    int frame = pool.fixSharedForScan(pageId);
    try {
      to.copyFrom(pool.page(frame).asSlice(0, to.byteSize()));
    } finally {
      pool.unfixShared(frame);
    }
  }

  public Engine engine() {
    return engine;
  }

  /** One for all users of this engine, so that their checks come one after the other. */
  public LiveCheck liveCheck() {
    return liveCheck;
  }

  public Catalog catalog() {
    return catalog;
  }

  public RecoveryReport recovery() {
    return recovery;
  }

  public void checkpoint() {
    if (checkpointer != null) {
      finishRedo();
      checkpointer.checkpointNow(/* everything= */ true);
    }
  }

  /** Not inside the gate: a close ends it. */
  public Backups backups() {
    return backups;
  }

  /** Null without an archive. Not inside the gate: a close ends its waits. */
  public @Nullable Archiver archiver() {
    return archiver;
  }

  public void cleanNow() {
    if (cleaner != null) {
      cleaner.cleanNow();
    }
  }

  /** Not inside the gate: moving pages enters it step by step. */
  public CompactReport compact() {
    Cleaner mover = cleaner;
    Checkpointer writer = checkpointer;
    if (mover == null || writer == null) {
      throw new ReadOnlyDatabaseException(
          "the database was opened read-only; open it for writing to compact it");
    }
    finishRedo(); // the file is cut only if no restart needs its pages
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
   * Cuts off the growth of the file for a value that was refused, unless it is at most one step of
   * growth, or other values use it by now. Not inside the gate.
   *
   * @param least how many pages the file had before
   */
  private void cutBack(int least) {
    Checkpointer writer = checkpointer;
    int before = pool.sizeInPages();
    if (writer == null
        || pending.left() > 0
        || before - least <= Allocator.growth(least)
        || !compacting.tryLock()) {
      return; // a compaction cuts the file itself; with pages pending the redo point does not move
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
    boolean isRedone = pending.left() == 0; // before the checkpoint: its redo point has passed all
    if (end < before && isRedone) {
      writer.checkpointNow(/* everything= */ true);
      // Both control slots have to know of the shorter file: when it has grown again, the length
      // does not show that the former slot is of no use (decision 0081).
      writer.checkpointNow(/* everything= */ false);
      allocator.cut(end);
    }
  }

  public Waits waits() {
    return waits.snapshot();
  }

  /** On a thread that may access files. */
  public void writeCounters() {
    CountersFile file = countersFile;
    if (file != null) {
      DatabaseStatistics counts = sources().ofFile();
      OldestSnapshot oldest = counts.versions().oldestSnapshot();
      file.write(
          CounterValues.of(counts),
          CounterValues.of(waits.snapshot()),
          oldest == null ? null : oldest.name());
    }
  }

  public DatabaseStatistics statistics() {
    return sources().all();
  }

  /** Created for each call, because the checkpointer may call before there is a cleaner. */
  private StatisticSources sources() {
    return new StatisticSources(
        engine, catalog, log, pool, restartPages, pending, io, checkpointer, cleaner, archiver);
  }

  /**
   * Prepares the cut of the data file for a close: it grows ahead of its use, and what nobody has
   * used is given back. The last checkpoint of the close must follow: then both control slots have
   * the new size (protocols.md §18, §63).
   *
   * @return the number of pages to which the file is cut; 0 if too little would be gained, or if
   *     the used end cannot be found
   */
  private int fenceToClose() {
    if (pending.left() > 0) {
      return 0;
    }
    Allocator allocator = engine.storage().allocator();
    try {
      int size = pool.sizeSoon(); // a growth that was requested ahead comes before the cut
      int least = allocator.sizeAtRest();
      return size - least < Math.max(LEAST_CUT, size / 64) ? 0 : allocator.fence(least);
    } catch (RuntimeException | OutOfMemoryError notNow) {
      return 0; // a map cannot be read, for instance; that must not cost the clean close
    }
  }

  /** Closes cleanly, or as far as possible after a failure. */
  public void close() {
    closing.lock(); // a second caller returns when the first has finished
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
    backups.close();
    if (redo != null) {
      redo.finish(); // pages that cannot be redone now are still pending for the next open
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
      // After the gate is closed: later callers do not sleep.
      engine.storage().transactions().rowWaiters().close();
      engine.open().databaseCloses();
      if (checkpointer != null && log.failure() == null) {
        int end = fenceToClose();
        if (checkpointer.closeCleanly()) {
          cutAtClose.to(end);
        }
        if (doubleWrite != null) {
          doubleWrite.clear();
        }
      }
    } catch (Throwable e) {
      failure = e;
    }
    failure = resources.close(failure);
    Throwable stopped = log.failure();
    if (failure instanceof LogStoppedException || failure instanceof DurabilityUnknownException) {
      throw Engine.stopped((RuntimeException) failure);
    }
    if (failure instanceof Error && stopped != null) {
      throw Engine.stopped(new LogStoppedException(stopped)); // other failures are consequences
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
  }
}
