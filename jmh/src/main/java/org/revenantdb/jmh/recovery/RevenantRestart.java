package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.insert.RowNumbers;

/** RevenantDB, with its default options. */
public class RevenantRestart implements RestartStore {
  private final Database database;
  private final Table rows;
  private @Nullable Transaction open;

  /**
   * Opens a database.
   *
   * @param directory empty, or of a database
   */
  public RevenantRestart(Path directory) {
    this(Database.open(directory, DatabaseOptions.defaults().withPoolBytes(128L << 20)));
  }

  /**
   * Uses a database that is open.
   *
   * @param database is closed with this
   */
  protected RevenantRestart(Database database) {
    this.database = database;
    this.rows = database.getOrCreateTable("rows");
  }

  /**
   * Returns the database.
   *
   * @return the open database
   */
  protected final Database database() {
    return database;
  }

  @Override
  public void insert(long first, long count) {
    database.run(tx -> {
      for (long key = first; key < first + count; key++) {
        tx.put(rows, RowNumbers.key(key), BigRows.row(key, 0));
      }
    });
  }

  @Override
  public void updateAll(long count) {
    Transaction tx = database.begin();
    open = tx;
    for (long key = 0; key < count; key++) {
      tx.put(rows, RowNumbers.key(key), BigRows.row(key, 1));
    }
  }

  @Override
  public byte[] read(long key) {
    try (Transaction tx = database.begin()) {
      byte[] row = tx.get(rows, RowNumbers.key(key));
      if (row == null) {
        throw new IllegalStateException("row " + key + " is missing");
      }
      return row;
    }
  }

  @Override
  public void close() {
    if (open != null) {
      open.close();
    }
    database.close();
  }
}
