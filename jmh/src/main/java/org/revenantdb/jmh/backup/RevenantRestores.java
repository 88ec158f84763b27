package org.revenantdb.jmh.backup;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RestoreReport;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.jmh.recovery.RevenantRestart;

/**
 * RevenantDB with an archive, whose only base has no rows. So the log has all of them. A copy is a
 * restore to a moment behind the last of them and before one row more, an open of the restored
 * database, and the wait until all pages are redone. The restored files are forced by the restore;
 * the redone pages may still be in memory.
 */
public final class RevenantRestores extends RevenantRestart implements CopiedStore {
  private static final long LOOK = TimeUnit.MICROSECONDS.toNanos(200);

  private final Path archive;
  private long rows;
  private long moment;
  private long logBytes;
  private double callSeconds;
  private double redoneSeconds;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   */
  public RevenantRestores(Path directory) {
    super(
        Database.open(
            directory.resolve("database"),
            DatabaseOptions.defaults().withPoolBytes(128L << 20).withArchive(options(directory))));
    archive = options(directory).directory();
    database().archiveNow();
  }

  private static ArchiveOptions options(Path directory) {
    return ArchiveOptions.to(directory.resolve("archive")).withBaseEvery(ArchiveOptions.NEVER);
  }

  @Override
  public void insert(long first, long count) {
    super.insert(first, count);
    rows = first + count;
  }

  @Override
  public void loaded() {
    database().sync();
    moment = database().statistics().files().logTail();
    super.insert(rows, 1);
    database().archiveNow();
  }

  @Override
  public AutoCloseable copyTo(Path target) {
    RestoreReport report = Database.restore(archive, target, RestoreRequest.atLsn(moment));
    logBytes = report.logBytes();
    RevenantBackups restored = new RevenantBackups(target);
    restored.read(rows - 1);
    long first = System.nanoTime();
    while (restored.pendingPages() > 0) {
      LockSupport.parkNanos(LOOK);
    }
    redoneSeconds = (System.nanoTime() - first) / 1e9;
    callSeconds = report.nanos() / 1e9;
    return restored;
  }

  @Override
  public Map<String, Double> more() {
    return Map.of(
        "restore_call_seconds", callSeconds, "redone_after_first_row_seconds", redoneSeconds);
  }

  @Override
  public double bytes(Path target) {
    return logBytes;
  }

  @Override
  public byte[] readCopy(Path target, long key) {
    try (RevenantBackups copy = new RevenantBackups(target)) {
      if (copy.has(rows)) {
        throw new IllegalStateException("the restored database has a row of a later moment");
      }
      return copy.read(key);
    }
  }
}
