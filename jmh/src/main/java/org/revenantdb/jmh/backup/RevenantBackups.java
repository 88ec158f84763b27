package org.revenantdb.jmh.backup;

import java.nio.file.Path;
import org.revenantdb.engine.Table;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.recovery.RevenantRestart;

/** RevenantDB, default options: {@code Database.backup}, which forces what it has written. */
public final class RevenantBackups extends RevenantRestart implements CopiedStore {
  private long bytes;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   */
  public RevenantBackups(Path directory) {
    super(directory);
  }

  @Override
  public AutoCloseable copyTo(Path target) {
    bytes = database().backup(target).bytes();
    return () -> {};
  }

  @Override
  public double bytes(Path target) {
    return bytes;
  }

  @Override
  public byte[] readCopy(Path target, long key) {
    try (RevenantBackups copy = new RevenantBackups(target)) {
      return copy.read(key);
    }
  }

  /** How many pages are not redone yet. */
  long pendingPages() {
    return database().statistics().files().pendingPages();
  }

  /** Whether there is a row. */
  boolean has(long key) {
    Table rows = database().table("rows");
    return database().read(tx -> tx.get(rows, RowNumbers.key(key))) != null;
  }
}
