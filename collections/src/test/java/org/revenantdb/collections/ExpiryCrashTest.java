package org.revenantdb.collections;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;

/**
 * Rows that expire after power cuts and kills, beside a thread that removes them: a row is there
 * with its entry in the expiry index or neither is, rows that do not expire are never removed, and
 * the next life removes what has expired.
 */
@Tag("slow")
@CrashTest(crash = Crash.POWER_CUT, states = 12, seed = 20_261_128)
class ExpiryCrashTest implements CrashSubject<ExpiryCrashTest.Cache> {
  private static final int ROWS = 80;

  record Entry(String text, long end) {
    @Nullable Instant until() {
      return end == 0 ? null : Instant.ofEpochMilli(end);
    }
  }

  /** A database with a table whose rows expire, at a time that the work sets. */
  record Cache(Database db, TypedTable<String, Entry> rows, AtomicLong millis)
      implements AutoCloseable {
    @Override
    public void close() {
      db.close();
    }
  }

  @Override
  public Cache open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    AtomicLong millis = new AtomicLong();
    TypedTable<String, Entry> rows =
        TypedTable.open(db, "cache", Keys.strings(), Codecs.records(Entry.class))
            .expire(
                Expiry.at(Entry::until)
                    .withClock(() -> Instant.ofEpochMilli(millis.get()))
                    .withRemover(false));
    return new Cache(db, rows, millis);
  }

  @Override
  public void work(Cache cache, Promises promises) throws Exception {
    Thread remover =
        Thread.ofPlatform()
            .start(() -> {
              for (int pass = 0; pass < 20; pass++) {
                long _ = cache.rows.removeExpired();
              }
            });
    for (int i = 0; i < ROWS; i++) {
      cache.millis.set(i);
      String key = promises.seed() + "/" + i;
      boolean isForever = i % 3 == 0;
      Entry entry = new Entry(key, isForever ? 0 : i + 1 + i % 7);
      if (isForever) {
        promises.attempt(key, key);
      }
      cache.db.run(tx -> cache.rows.put(tx, key, entry));
      if (isForever) {
        promises.durable(key, key);
      }
    }
    remover.join();
  }

  @Override
  public void check(Cache cache, Recovered recovered) {
    Table entries = cache.db.table("revenant.indexes/cache/revenant.expiry");
    Map<String, String> content = new HashMap<>();
    cache.db.read(tx -> {
      Map<String, Long> expected = new HashMap<>();
      cache.rows.scan(tx).stream() // it is the beginning of time, so all are seen
          .forEach(row -> {
            if (row.value().end() == 0) {
              content.put(row.key(), row.value().text());
            } else {
              expected.put(row.key(), row.value().end());
            }
          });
      Map<String, Long> found = new HashMap<>();
      try (Cursor cursor = tx.scan(entries, null, null)) {
        while (cursor.next()) {
          ByteReader in = new ByteReader(cursor.key());
          long end = Keys.longs().decode(in);
          found.put(Keys.strings().decode(in), end);
        }
      }
      recovered.demand(found.equals(expected), "entries " + found + ", rows " + expected);
      return null;
    });
    recovered.verifyAll(content);
    cache.millis.set(Long.MAX_VALUE - 1);
    long _ = cache.rows.removeExpired();
    cache.db.read(tx -> {
      long left = tx.count(cache.rows.table(), null, null);
      recovered.demand(left == content.size(), left + " rows are left of " + content.size());
      recovered.demand(tx.count(entries, null, null) == 0, "entries are left");
      return null;
    });
  }
}
