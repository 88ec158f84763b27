package org.revenantdb.engine.lifecycle;

import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.backup.BackupNotes;
import org.revenantdb.engine.backup.BackupSource;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogCopy;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.restart.AnalysisResult;

/**
 * An open database as a backup sees it. A database that is open read-only can be copied if it was
 * closed cleanly: then there is nothing to redo, and no thread writes.
 *
 * <p>Threads: that of the backup.
 */
final class CopiedDatabase implements BackupSource {
  private final Opening.Files files;
  private final AnalysisResult found;
  private final BufferPool pool;
  private final @Nullable Log log;
  private final IoStatistics io;
  private final Runnable checkpoint;
  private final Allocator allocator;
  private final LongSupplier commits;

  /**
   * Nothing is copied yet.
   *
   * @param log null if the database is open read-only
   * @param checkpoint redoes what is pending, and writes all dirty pages
   * @param allocator lets the data file grow, and cuts it
   * @param commits how many transactions have committed that have written
   */
  CopiedDatabase(
      Opening.Files files,
      AnalysisResult found,
      BufferPool pool,
      @Nullable Log log,
      IoStatistics io,
      Runnable checkpoint,
      Allocator allocator,
      LongSupplier commits) {
    this.files = files;
    this.found = found;
    this.pool = pool;
    this.log = log;
    this.io = io;
    this.checkpoint = checkpoint;
    this.allocator = allocator;
    this.commits = commits;
  }

  @Override
  public Path directory() {
    return files.files().directory();
  }

  @Override
  public Names names() {
    return DatabaseFiles.NAMES;
  }

  @Override
  public StorageFile data() {
    return files.survey().data();
  }

  @Override
  public DataFileHeader header() {
    return files.survey().header();
  }

  @Override
  public BufferPool pool() {
    return pool;
  }

  @Override
  public BackupNotes notes() {
    return new BackupNotes(directory(), header().databaseId(), files.ownership(), io);
  }

  @Override
  public boolean isReadOnly() {
    return log == null;
  }

  @Override
  public LogCopy holdLog() {
    if (log != null) {
      return LogCopy.of(log);
    }
    if (!found.cleanShutdown()) {
      throw new ReadOnlyDatabaseException(
          "the database "
              + directory()
              + " was not closed cleanly, and is open read-only: open it for writing, which recovers it, and make the backup then");
    }
    return LogCopy.ofClosed(
        files.files().log(),
        header().databaseId(),
        header().segmentSize(),
        files.survey().control().state().life(),
        io);
  }

  @Override
  public ControlState checkpoint() {
    ControlState last = files.survey().control().state();
    if (log == null) {
      return last;
    }
    if (isRecent(last, log)) {
      demandRunning(log);
      return last;
    }
    checkpoint.run();
    ControlState state = files.survey().control().state();
    if (state.life() != log.life()) {
      throw new IllegalStateException("a checkpoint of life " + state.life());
    }
    return state;
  }

  /** Whether the log behind it is less than what a new one would write, and all of this life. */
  private boolean isRecent(ControlState last, Log running) {
    return last.life() == running.life()
        && last.redoPoint() > running.lifeBegin()
        && running.tail() - last.redoPoint() <= (long) pool.dirtyPages() * Page.SIZE;
  }

  @Override
  public long commits() {
    return commits.getAsLong();
  }

  @Override
  public int life() {
    return log == null ? files.survey().control().state().life() : log.life();
  }

  @Override
  public long durableLsn() {
    return log == null ? found.endOfLog() : log.durableLsn();
  }

  @Override
  public End end() {
    if (log == null) {
      return new End(found.endOfLog(), files.survey().control().state().highWaterPages());
    }
    Log running = log;
    End end = allocator.whileUnchanged(pages -> new End(running.tail(), pages));
    try {
      log.awaitDurable(end.endOfLog());
    } catch (DurabilityUnknownException stopped) {
      throw new LogStoppedException(log.failure());
    }
    demandRunning(log);
    return end;
  }

  /** Pages may be those of another engine, or of a log that goes on without them. */
  private void demandRunning(Log running) {
    files.ownership().check();
    Throwable failure = running.failure();
    if (failure != null) {
      throw new LogStoppedException(failure);
    }
  }
}
