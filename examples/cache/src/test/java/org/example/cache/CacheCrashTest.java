package org.example.cache;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/** After a power cut the cache has the first entries that were loaded, at least those before the last sync. */
@CrashTest(states = 40)
class CacheCrashTest implements CrashSubject<CacheCrashTest.Store> {
  record Store(Database db, Cache cache) implements AutoCloseable {
    @Override
    public void close() {
      db.close();
    }
  }

  @Override
  public Store open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    return new Store(db, new Cache(db, Duration.ofDays(1), () -> Instant.EPOCH));
  }

  @Override
  public void work(Store store, Promises promises) {
    for (int i = 0; i < 60; i++) {
      String key = promises.seed() + "/" + i;
      promises.attempt(key, key);
      String _ = store.cache.get(key, it -> it);
      promises.lazy(key, key);
      if (i % 20 == 19) {
        store.db.sync();
        promises.allDurable();
      }
    }
  }

  @Override
  public void check(Store store, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    store.db.read(tx -> {
      try (var rows = store.cache.entries().scan(tx).stream()) {
        rows.forEach(row -> content.put(row.key(), row.value().value()));
      }
      return null;
    });
    recovered.verifyAll(content);
    recovered.demand(
        store.cache.size() == content.size(),
        "the cache counts " + store.cache.size() + " entries and has " + content.size());
  }
}
