package org.revenantdb.collections;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.testing.Drawn;

/**
 * A change feed after power cuts and kills, with a consumer that stores its position with what it
 * makes of each commit, and goes on there in the next life: no change is lost, none comes twice,
 * and none is of a transaction that was not committed.
 */
@Tag("slow")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 12,
    kills = 1,
    seed = 20_261_129)
@Drawn(oneIn = 2)
class ChangeFeedCrashTest implements CrashSubject<ChangeFeedCrashTest.Shop> {
  private static final int COMMITS = 60;
  private static final TransactionOptions LAZY =
      TransactionOptions.defaults().withDurability(Durability.LAZY);

  /** A watched table, and what a consumer has made of its changes. */
  record Shop(
      Database db,
      TypedTable<String, String> orders,
      TypedTable<String, String> seen,
      TypedTable<String, Long> positions,
      ChangeFeed feed,
      FeedSubscription consumer)
      implements AutoCloseable {
    @Override
    public void close() {
      consumer.close();
      db.close();
    }
  }

  @Override
  public Shop open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    TypedTable<String, String> orders =
        TypedTable.open(db, "orders", Keys.strings(), Codecs.strings());
    TypedTable<String, String> seen = TypedTable.open(db, "seen", Keys.strings(), Codecs.strings());
    TypedTable<String, Long> positions =
        TypedTable.open(db, "positions", Keys.strings(), Codecs.longs());
    ChangeFeed feed = ChangeFeed.open(db, "feed");
    long _ = feed.watch(orders);
    Long stored = db.read(tx -> positions.get(tx, "seen"));
    FeedSubscription consumer =
        feed.follow(
            stored == null ? 0 : stored,
            commit ->
                db.run(
                    LAZY,
                    tx -> {
                      commit.forEach(
                          orders,
                          (key, value) -> {
                            String before = seen.get(tx, key);
                            seen.put(tx, key, before == null ? value : before + " and " + value);
                          });
                      positions.put(tx, "seen", commit.position());
                    }));
    return new Shop(db, orders, seen, positions, feed, consumer);
  }

  @Override
  public void work(Shop shop, Promises promises) throws Exception {
    Thread other =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; i < COMMITS; i++) {
                write(shop, promises, "b" + i);
              }
            });
    for (int i = 0; i < COMMITS; i++) {
      write(shop, promises, "a" + i);
    }
    other.join();
  }

  private static void write(Shop shop, Promises promises, String name) {
    String key = promises.seed() + "/" + name;
    if (name.hashCode() % 5 == 0) {
      try (var tx = shop.db.begin()) {
        shop.orders.put(tx, key, "rolled back");
      }
      return;
    }
    promises.attempt(key, key);
    shop.db.run(tx -> {
      shop.orders.put(tx, key, key);
      Savepoint savepoint = tx.savepoint();
      shop.orders.put(tx, key + " of a statement that is taken back", "taken back");
      tx.rollbackTo(savepoint);
    });
    promises.durable(key, key);
  }

  @Override
  public void check(Shop shop, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    Map<String, String> inTable = new HashMap<>();
    shop.db.read(tx -> {
      shop.orders.scan(tx).stream().forEach(row -> inTable.put(row.key(), row.value()));
      return null;
    });
    try {
      long _ =
          shop.feed.read(
              0,
              Long.MAX_VALUE,
              commit ->
                  commit.forEach(change -> {
                    String key = Keys.strings().fromBytes(change.key());
                    String value = new String(change.value(), StandardCharsets.UTF_8);
                    recovered.demand(
                        content.put(key, value) == null, key + " is in the feed twice");
                  }));
    } catch (Exception failure) {
      recovered.demand(false, "the feed cannot be read: " + failure);
    }
    recovered.demand(
        content.equals(inTable), "the feed gives " + content + ", the table has " + inTable);
    recovered.verifyAll(content);
    while (shop.consumer.position() < shop.feed.position()) { // it ends only by a failure
      recovered.demand(shop.consumer.isAlive(), "the consumer: " + shop.consumer.failure());
      Thread.yield();
    }
    shop.consumer.close();
    Map<String, String> seen = new HashMap<>();
    shop.db.read(tx -> {
      shop.seen.scan(tx).stream().forEach(row -> seen.put(row.key(), row.value()));
      return null;
    });
    recovered.demand(
        seen.equals(content), "the consumer has " + seen + ", the feed gives " + content);
  }
}
