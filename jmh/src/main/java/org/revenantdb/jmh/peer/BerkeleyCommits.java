package org.revenantdb.jmh.peer;

import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Durability;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.Transaction;
import java.nio.file.Path;
import org.revenantdb.jmh.commit.OneRowCommits;

/**
 * Berkeley DB Java Edition: a transaction for each row, committed with {@code COMMIT_SYNC}; commits
 * during a force share the next one.
 *
 * <p>Its best settings here are its own: {@code je.log.useODSYNC}, larger log files and a group
 * commit that waits for others were each slower or no faster.
 */
public final class BerkeleyCommits implements OneRowCommits {
  private final Environment environment;
  private final Database database;

  /**
   * Creates an environment.
   *
   * @param directory an empty one
   */
  public BerkeleyCommits(Path directory) {
    EnvironmentConfig config = new EnvironmentConfig();
    config.setAllowCreate(true);
    config.setTransactional(true);
    config.setDurability(Durability.COMMIT_SYNC);
    config.setCacheSize(128L << 20);
    environment = new Environment(directory.toFile(), config);
    DatabaseConfig rows = new DatabaseConfig();
    rows.setAllowCreate(true);
    rows.setTransactional(true);
    database = environment.openDatabase(null, "rows", rows);
  }

  @Override
  public void commit(byte[] key, byte[] value) {
    Transaction transaction = environment.beginTransaction(null, null);
    database.put(transaction, new DatabaseEntry(key), new DatabaseEntry(value));
    transaction.commit();
  }

  @Override
  public void close() {
    database.close();
    environment.close();
  }
}
