package org.revenantdb.jmh.peer;

import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Durability;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Transaction;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.recovery.BigRows;
import org.revenantdb.jmh.recovery.RestartStore;

/**
 * Berkeley DB Java Edition: rows are written to the log, which is its only storage, and a
 * transaction holds a lock for each. Opening reads the log since the last checkpoint (one each 20
 * MB) and undoes uncommitted work.
 *
 * <p>A commit is {@code COMMIT_SYNC}. The cache is the 60 % of the heap that are its default, for
 * the locks are in it.
 */
public final class BerkeleyRestart implements RestartStore {
  private final Environment environment;
  private final Database database;
  private @Nullable Transaction open;

  /**
   * Opens an environment.
   *
   * @param directory empty, or of an environment
   */
  public BerkeleyRestart(Path directory) {
    EnvironmentConfig config = new EnvironmentConfig();
    config.setAllowCreate(true);
    config.setTransactional(true);
    config.setDurability(Durability.COMMIT_SYNC);
    environment = new Environment(directory.toFile(), config);
    DatabaseConfig rows = new DatabaseConfig();
    rows.setAllowCreate(true);
    rows.setTransactional(true);
    database = environment.openDatabase(null, "rows", rows);
  }

  @Override
  public void insert(long first, long count) {
    Transaction transaction = environment.beginTransaction(null, null);
    put(transaction, first, count, 0);
    transaction.commit();
  }

  @Override
  public void updateAll(long rows) {
    Transaction transaction = environment.beginTransaction(null, null);
    open = transaction;
    put(transaction, 0, rows, 1);
  }

  private void put(Transaction transaction, long first, long count, int number) {
    for (long key = first; key < first + count; key++) {
      database.put(
          transaction,
          new DatabaseEntry(RowNumbers.key(key)),
          new DatabaseEntry(BigRows.row(key, number)));
    }
  }

  @Override
  public byte[] read(long key) {
    DatabaseEntry row = new DatabaseEntry();
    OperationStatus status =
        database.get(null, new DatabaseEntry(RowNumbers.key(key)), row, LockMode.DEFAULT);
    if (status != OperationStatus.SUCCESS) {
      throw new IllegalStateException("row " + key + " is missing");
    }
    return row.getData();
  }

  @Override
  public void close() {
    if (open != null) {
      open.abort();
    }
    database.close();
    environment.close();
  }
}
