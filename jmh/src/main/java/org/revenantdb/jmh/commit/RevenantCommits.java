package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;

/** RevenantDB with the options it has by itself, but 128 MiB for pages, as for the others. */
public final class RevenantCommits implements OneRowCommits {
  private final Database database;
  private final Table table;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   */
  public RevenantCommits(Path directory) {
    database = Database.open(directory, DatabaseOptions.defaults().withPoolBytes(128L << 20));
    table = database.getOrCreateTable("rows");
  }

  @Override
  public void commit(byte[] key, byte[] value) {
    database.run(transaction -> transaction.put(table, key, value));
  }

  /** The same, lazily: to have the code compiled without waiting for the disk. */
  void commitLazily(byte[] key, byte[] value) {
    database.run(TransactionOptions.lazy(), transaction -> transaction.put(table, key, value));
  }

  /** Forces of files so far. */
  long forces() {
    return database.statistics().files().forces();
  }

  @Override
  public void close() {
    database.close();
  }
}
