package org.revenantdb.chaos.examples;

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
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Berkeley DB Java Edition. {@code COMMIT_SYNC}: "Write and synchronously flush the log on
 * transaction commit."
 */
final class BerkeleyDbSubject extends PairSubject<BerkeleyDbSubject.Opened> {
  record Opened(Environment env, Database map) implements AutoCloseable {
    @Override
    public void close() {
      map.close();
      env.close();
    }
  }

  @Override
  public Opened open(Path dir) {
    EnvironmentConfig settings =
        new EnvironmentConfig().setAllowCreate(true).setTransactional(true);
    settings.setDurability(Durability.COMMIT_SYNC);
    Environment env = new Environment(dir.toFile(), settings);
    DatabaseConfig config = new DatabaseConfig().setAllowCreate(true).setTransactional(true);
    return new Opened(env, env.openDatabase(null, "map", config));
  }

  @Override
  void commit(Opened store, SortedMap<String, String> changes) {
    Transaction transaction = store.env.beginTransaction(null, null);
    changes.forEach((key, value) -> store.map.put(transaction, entry(key), entry(value)));
    transaction.commit();
  }

  @Override
  @Nullable String get(Opened store, String key) {
    DatabaseEntry value = new DatabaseEntry();
    return store.map.get(null, entry(key), value, LockMode.DEFAULT) == OperationStatus.SUCCESS
        ? text(value.getData())
        : null;
  }

  private static DatabaseEntry entry(String text) {
    return new DatabaseEntry(bytes(text));
  }
}
