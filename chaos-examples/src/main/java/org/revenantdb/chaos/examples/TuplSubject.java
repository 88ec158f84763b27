package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import org.cojen.tupl.Database;
import org.cojen.tupl.DatabaseConfig;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.cojen.tupl.Transaction;
import org.jspecify.annotations.Nullable;

/**
 * TuplDB. {@link DurabilityMode}, {@code SYNC}: "Strongest durability mode, which ensures all
 * modifications are persisted to non-volatile storage".
 */
final class TuplSubject extends PairSubject<Database> {
  @Override
  public Database open(Path dir) throws IOException {
    return Database.open(
        new DatabaseConfig()
            .baseFilePath(dir.resolve("db").toString())
            .durabilityMode(DurabilityMode.SYNC));
  }

  @Override
  void commit(Database store, SortedMap<String, String> changes) throws IOException {
    Index map = store.openIndex("map");
    Transaction transaction = store.newTransaction();
    try {
      for (Map.Entry<String, String> change : changes.entrySet()) {
        map.store(transaction, bytes(change.getKey()), bytes(change.getValue()));
      }
      transaction.commit();
    } finally {
      transaction.reset();
    }
  }

  @Override
  @Nullable String get(Database store, String key) throws IOException {
    byte[] value = store.openIndex("map").load(null, bytes(key));
    return text(value);
  }
}
