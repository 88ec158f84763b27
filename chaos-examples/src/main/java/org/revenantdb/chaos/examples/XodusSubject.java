package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.SortedMap;
import jetbrains.exodus.ByteIterable;
import jetbrains.exodus.bindings.StringBinding;
import jetbrains.exodus.env.Environment;
import jetbrains.exodus.env.EnvironmentConfig;
import jetbrains.exodus.env.Environments;
import jetbrains.exodus.env.Store;
import jetbrains.exodus.env.StoreConfig;
import org.jspecify.annotations.Nullable;

/** Xodus. {@code setLogDurableWrite}: each commit or flush forces the log. */
final class XodusSubject extends PairSubject<Environment> {
  @Override
  public Environment open(Path dir) {
    return Environments.newInstance(
        dir.toFile(), new EnvironmentConfig().setLogDurableWrite(true).setGcEnabled(false));
  }

  @Override
  void commit(Environment store, SortedMap<String, String> changes) {
    store.executeInTransaction(transaction -> {
      Store map = store.openStore("map", StoreConfig.WITHOUT_DUPLICATES, transaction);
      changes.forEach((key, value) ->
          map.put(
              transaction, StringBinding.stringToEntry(key), StringBinding.stringToEntry(value)));
    });
  }

  @Override
  @Nullable String get(Environment store, String key) {
    return store.computeInTransaction(transaction -> {
      Store map = store.openStore("map", StoreConfig.WITHOUT_DUPLICATES, transaction);
      ByteIterable value = map.get(transaction, StringBinding.stringToEntry(key));
      return value == null ? null : StringBinding.entryToString(value);
    });
  }
}
