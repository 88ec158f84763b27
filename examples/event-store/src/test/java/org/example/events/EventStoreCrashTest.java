package org.example.events;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/** After a power cut no event is lost, and the projection has each of them once. */
@CrashTest(states = 40)
class EventStoreCrashTest implements CrashSubject<EventStoreCrashTest.Bank> {
  record Bank(Database db, EventStore store, FeedSubscription projection)
      implements AutoCloseable {
    @Override
    public void close() {
      projection.close();
      db.close();
    }
  }

  @Override
  public Bank open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    EventStore store = new EventStore(db);
    return new Bank(db, store, store.startProjection());
  }

  @Override
  public void work(Bank bank, Promises promises) {
    for (int i = 1; i <= 40; i++) {
      String account = promises.seed() + "-" + i % 2;
      String key = account + "/" + (i + 1) / 2;
      promises.attempt(key, "paid in " + i);
      long _ = bank.store.append(account, new Event("paid in", i));
      promises.durable(key, "paid in " + i);
    }
  }

  @Override
  public void check(Bank bank, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    long[] total = {0};
    bank.db.read(tx -> {
      try (var rows = bank.store.events().scan(tx).stream()) {
        rows.forEach(row -> {
          Event event = row.value();
          content.put(
              row.key().first() + "/" + row.key().second(), event.kind() + " " + event.amount());
          total[0] += event.change();
        });
      }
      return null;
    });
    recovered.verifyAll(content);
    while (bank.projection.position() < bank.store.position()
        && bank.projection.failure() == null) {
      Thread.yield();
    }
    recovered.demand(
        bank.store.total() == total[0],
        "the projection has " + bank.store.total() + ", the events give " + total[0]);
  }
}
