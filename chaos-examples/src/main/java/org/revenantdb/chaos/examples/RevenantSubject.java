package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;

/** RevenantDB with default options, like any other store. */
final class RevenantSubject extends PairSubject<Database> {
  @Override
  public Database open(Path dir) {
    return Database.open(dir);
  }

  @Override
  void commit(Database store, SortedMap<String, String> changes) {
    Table table = store.getOrCreateTable("pairs");
    store.run(transaction ->
        changes.forEach((key, value) -> transaction.put(table, bytes(key), bytes(value))));
  }

  @Override
  @Nullable String get(Database store, String key) {
    Table table = store.getOrCreateTable("pairs");
    byte[] value = store.call(transaction -> transaction.get(table, bytes(key)));
    return text(value);
  }
}
