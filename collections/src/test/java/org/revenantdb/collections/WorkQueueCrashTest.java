package org.revenantdb.collections;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.testing.Drawn;

/**
 * A queue after power cuts and kills, beside consumers: an item that was offered durably is in the
 * queue or done, never both and never neither; an item that was done durably stays done; nothing is
 * done twice. Deliveries are lazy, so a crash undoes some of them.
 */
@Tag("slow")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 40,
    kills = 1,
    seed = 20_261_127)
@Drawn(oneIn = 2)
class WorkQueueCrashTest implements CrashSubject<WorkQueueCrashTest.Shop> {
  private static final int ITEMS = 60;
  private static final int CONSUMERS = 3;

  /** A database with a queue, and what was done. */
  record Shop(Database db, WorkQueue<String> jobs, TypedTable<String, String> done)
      implements AutoCloseable {
    @Override
    public void close() {
      jobs.close();
      db.close();
    }
  }

  @Override
  public Shop open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    WorkQueueOptions options =
        WorkQueueOptions.defaults()
            .withMaxAttempts(Integer.MAX_VALUE)
            .withRetryDelay(Duration.ZERO);
    return new Shop(
        db,
        WorkQueue.open(db, "jobs", Codecs.strings(), options),
        TypedTable.open(db, "done", Keys.strings(), Codecs.strings()));
  }

  @Override
  public void work(Shop shop, Promises promises) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CONSUMERS; i++) {
      threads.add(Thread.ofPlatform().start(() -> consume(shop, promises)));
    }
    for (int i = 0; i < ITEMS; i++) {
      String item = promises.seed() + "/" + i;
      Duration delay = Duration.ofMillis(i % 5 == 0 ? 2 : 0);
      promises.attempt("offer " + item, item);
      shop.db.run(tx -> shop.jobs.offer(tx, item, delay));
      promises.durable("offer " + item, item);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** Does its share of what a life has offered; some attempts fail after the work. */
  private static void consume(Shop shop, Promises promises) {
    try {
      for (int i = 0; i < ITEMS / CONSUMERS; i++) {
        Delivery<String> delivery = shop.jobs.take();
        if (delivery == null) {
          return;
        }
        String item = delivery.item();
        if (item.hashCode() % 4 == 0 && delivery.attempt() == 1) {
          try (Transaction tx = shop.db.begin()) {
            perform(shop, tx, delivery);
          }
          delivery.retry("the first attempt fails");
          i--;
          continue;
        }
        promises.attempt("done " + item, "1 times " + item);
        shop.db.run(tx -> perform(shop, tx, delivery));
        promises.durable("done " + item, "1 times " + item);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void perform(Shop shop, Transaction tx, Delivery<String> delivery) {
    String item = delivery.item();
    String before = shop.done.get(tx, item);
    shop.done.put(tx, item, before == null ? "1 times " + item : "again: " + before);
    delivery.acknowledge(tx);
  }

  @Override
  public void check(Shop shop, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    shop.db.read(tx -> {
      TypedTable<Long, String> items =
          TypedTable.open(shop.db, "jobs", Keys.longs(), Codecs.strings());
      items.scan(tx).stream()
          .forEach(row -> {
            String item = row.value();
            recovered.demand(
                content.put("offer " + item, item) == null, item + " is in the queue twice");
            recovered.demand(
                !shop.done.contains(tx, item), item + " is done and still in the queue");
          });
      long rows = items.scan(tx).count();
      recovered.demand(
          rows == shop.jobs.size(tx),
          rows + " items, of which " + shop.jobs.size(tx) + " can be delivered");
      shop.done.scan(tx).stream()
          .forEach(row -> {
            content.put("offer " + row.key(), row.key());
            content.put("done " + row.key(), row.value()); // "again" was attempted by nobody
          });
      return null;
    });
    recovered.verifyAll(content);
  }
}
