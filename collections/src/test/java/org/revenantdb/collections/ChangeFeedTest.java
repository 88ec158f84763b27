package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.collections.index.TableIndexes;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;

/** Committed changes in the order of the commits (§53). */
class ChangeFeedTest {
  private static final int THREADS = 3;
  private static final int COMMITS = Boolean.getBoolean("revenant.long") ? 20_000 : 250;

  private Path directory;
  private Database db;
  private TypedTable<Long, String> one;
  private TypedTable<Long, String> two;
  private ChangeFeed feed;

  @BeforeEach
  void open(@TempDir Path folder) {
    directory = folder.resolve("db");
    open();
    watch();
  }

  private void open() {
    db =
        Database.open(
            directory,
            DatabaseOptions.defaults()
                .withPoolBytes(8L << 20)
                .withDurability(Durability.LAZY)
                .withMaxAttempts(Integer.MAX_VALUE) // however busy the machine is
                .withRetryTimeout(Duration.ofDays(1)));
    one = TypedTable.open(db, "one", Keys.longs(), Codecs.strings());
    two = TypedTable.open(db, "two", Keys.longs(), Codecs.strings());
    feed = ChangeFeed.open(db, "feed");
  }

  private void watch() {
    long _ = feed.watch(one);
    long _ = feed.watch(two);
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** The commits behind a position, as text. */
  private List<String> commitsBehind(long position) {
    List<String> found = new ArrayList<>();
    try {
      long _ = feed.read(position, Long.MAX_VALUE, commit -> found.add(textOf(commit)));
    } catch (Exception failure) {
      throw failure instanceof RuntimeException unchecked
          ? unchecked
          : new IllegalStateException(failure);
    }
    return found;
  }

  private String textOf(FeedCommit commit) {
    StringBuilder text = new StringBuilder();
    commit.forEach(change ->
        text.append(text.isEmpty() ? "" : " ")
            .append(change.table())
            .append('/')
            .append(Keys.longs().fromBytes(change.key()))
            .append('=')
            .append(
                change.isDeleted() ? "gone" : new String(change.value(), StandardCharsets.UTF_8)));
    return text.toString();
  }

  @Test
  void what_a_transaction_has_changed_is_one_commit_in_the_order_of_its_statements() {
    db.run(tx -> {
      one.put(tx, 1L, "a");
      two.put(tx, 1L, "b");
      one.put(tx, 1L, "c");
      assertFalse(one.delete(tx, 9L)); // changes nothing
      assertTrue(two.delete(tx, 1L));
    });
    db.run(tx -> one.scan(tx).delete());
    assertEquals(List.of("one/1=a two/1=b one/1=c two/1=gone", "one/1=gone"), commitsBehind(0));
    assertEquals(List.of("one/1=gone"), commitsBehind(1));
    assertEquals(2, feed.position());
  }

  @Test
  void a_last_step_can_make_the_first_write_to_a_watched_table() {
    db.run(tx -> tx.beforeCommit(() -> one.put(tx, 1L, "a")));
    assertEquals(List.of("one/1=a"), commitsBehind(0));
  }

  @Test
  void what_was_rolled_back_is_not_there() {
    try (Transaction tx = db.begin()) {
      one.put(tx, 1L, "rolled back");
    }
    db.run(tx -> {
      one.put(tx, 1L, "a");
      Savepoint savepoint = tx.savepoint();
      one.put(tx, 2L, "b");
      tx.rollbackTo(savepoint);
      one.put(tx, 3L, "c");
    });
    db.run(tx -> {
      Savepoint savepoint = tx.savepoint();
      one.put(tx, 2L, "b");
      tx.rollbackTo(savepoint);
    });
    assertEquals(List.of("one/1=a one/3=c"), commitsBehind(0));
  }

  @Test
  void typed_changes_of_one_table() throws Exception {
    db.run(tx -> {
      one.put(tx, 1L, "a");
      two.put(tx, 2L, "b");
      assertTrue(one.delete(tx, 1L));
    });
    List<String> found = new ArrayList<>();
    long at =
        feed.read(
            0, 10, commit -> commit.forEach(one, (key, value) -> found.add(key + "=" + value)));
    assertEquals(List.of("1=a", "1=null"), found);
    assertEquals(1, at);
    assertEquals(1, feed.read(at, 10, commit -> found.add("another")));
    assertEquals(2, found.size());
  }

  @Test
  void a_reader_goes_on_behind_its_position_in_another_life() {
    db.run(tx -> one.put(tx, 1L, "a"));
    long at = feed.position();
    db.run(tx -> one.put(tx, 2L, "b"));
    db.close();
    open();
    String message =
        assertThrows(IllegalStateException.class, () -> db.run(tx -> one.put(tx, 3L, "c")))
            .getMessage();
    assertTrue(message.contains("revenant.feed/feed"), message);
    watch();
    db.run(tx -> one.put(tx, 3L, "c"));
    assertEquals(List.of("one/2=b", "one/3=c"), commitsBehind(at));
  }

  @Test
  void a_trimmed_position_and_one_of_another_database_are_refused() {
    for (long key = 1; key <= 200; key++) {
      long each = key;
      db.run(tx -> one.put(tx, each, "a"));
    }
    assertEquals(150, feed.trim(150));
    assertEquals(0, feed.trim(100));
    ChangesGoneException gone = assertThrows(ChangesGoneException.class, () -> commitsBehind(149));
    assertEquals(150, gone.first());
    assertEquals(50, commitsBehind(150).size());
    ChangesGoneException ahead =
        assertThrows(ChangesGoneException.class, () -> feed.follow(201, _ -> {}));
    assertEquals(200, ahead.last());
    assertEquals(50, feed.trim(Long.MAX_VALUE));
    assertEquals(List.of(), commitsBehind(200));
    long rows = db.read(tx -> tx.count(db.table("revenant.feeds/feed/changes"), null, null));
    assertEquals(0, rows);
    db.close();
    open();
    watch();
    db.run(tx -> one.put(tx, 1L, "b"));
    assertEquals(201, feed.position()); // positions go on though nothing was left
    assertEquals(List.of("one/1=b"), commitsBehind(200));
  }

  @Test
  void a_transaction_that_has_written_to_a_watched_table_is_not_prepared() {
    try (Transaction tx = db.begin()) {
      one.put(tx, 1L, "a");
      assertEquals(
          TransactionStateException.Reason.NOT_PREPARABLE,
          assertThrows(TransactionStateException.class, () -> tx.prepare(new byte[] {1})).reason());
    }
    assertEquals(List.of(), commitsBehind(0));
  }

  @Test
  void watching_waits_for_those_who_had_written_and_begins_with_whole_commits() throws Exception {
    TypedTable<Long, String> three = TypedTable.open(db, "three", Keys.longs(), Codecs.strings());
    Transaction before = db.begin();
    three.put(before, 1L, "before");
    AtomicLong from = new AtomicLong(-1);
    CountDownLatch begins = new CountDownLatch(1);
    Thread watcher =
        Thread.ofPlatform()
            .start(() -> {
              begins.countDown();
              from.set(feed.watch(three));
            });
    begins.await();
    three.put(before, 2L, "before");
    before.commit();
    watcher.join();
    assertTrue(from.get() >= 0);
    db.run(tx -> three.put(tx, 3L, "after"));
    assertEquals(List.of("three/3=after"), commitsBehind(from.get()));
    assertTrue(feed.unwatch(three));
    assertFalse(feed.unwatch(three));
    db.run(tx -> three.put(tx, 4L, "unwatched"));
    assertEquals(List.of("three/3=after"), commitsBehind(from.get()));
  }

  @Test
  void a_delete_records_itself_in_a_feed_that_was_declared_while_it_ran() throws Exception {
    assertEquals("gone/1=gone", deletedWhileDeclared("gone", (table, tx) -> table.delete(tx, 1L)));
    assertEquals(
        "range/1=gone range/2=gone",
        deletedWhileDeclared("range", (table, tx) -> table.scan(tx).delete()));
  }

  /**
   * A delete waits for a row, a feed is declared, and then the row is free.
   *
   * @return the last commit of the feed
   */
  private String deletedWhileDeclared(
      String name, BiConsumer<TypedTable<Long, String>, Transaction> delete) throws Exception {
    TypedTable<Long, String> table = TypedTable.open(db, name, Keys.longs(), Codecs.strings());
    db.run(tx -> {
      table.put(tx, 1L, "a");
      table.put(tx, 2L, "b");
    });
    TransactionOptions waits = TransactionOptions.defaults().withLockTimeout(Duration.ofHours(1));
    Thread deleter;
    Thread watcher;
    try (Transaction owner = db.begin()) {
      table.put(owner, 1L, "rolled back");
      deleter = Thread.ofPlatform().start(() -> db.run(waits, tx -> delete.accept(table, tx)));
      while (deleter.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      watcher =
          Thread.ofPlatform()
              .start(() -> {
                long _ = feed.watch(table);
              });
      while (TableIndexes.of(db, name).toWrite().isEmpty()) {
        Thread.onSpinWait();
      }
    }
    deleter.join();
    watcher.join();
    return commitsBehind(0).getLast();
  }

  @Test
  void a_dropped_table_leaves_what_was_recorded() {
    db.run(tx -> one.put(tx, 1L, "a"));
    assertTrue(feed.unwatch(one));
    db.run(tx -> tx.dropTable(one.table()));
    assertEquals(List.of("one/1=a"), commitsBehind(0));
  }

  @Test
  void a_row_that_has_expired_is_gone_when_it_is_removed() {
    AtomicLong millis = new AtomicLong();
    one.expire(
        Expiry.<String>at(text -> Instant.ofEpochMilli(text.length()))
            .withClock(() -> Instant.ofEpochMilli(millis.get()))
            .withRemover(false));
    db.run(tx -> one.put(tx, 1L, "1234"));
    millis.set(10);
    assertEquals(1, one.removeExpired());
    assertEquals(List.of("one/1=1234", "one/1=gone"), commitsBehind(0));
  }

  @Test
  void a_large_transaction_is_read_piece_by_piece() throws Exception {
    int rows = 20_000;
    db.run(tx -> {
      for (long key = 0; key < rows; key++) {
        one.put(tx, key, "a");
      }
    });
    AtomicLong count = new AtomicLong();
    long _ =
        feed.read(
            0,
            10,
            commit ->
                commit.forEach(change -> {
                  assertEquals(
                      count.getAndIncrement(), (long) Keys.longs().fromBytes(change.key()));
                }));
    assertEquals(rows, count.get());
  }

  @Test
  void a_commit_that_was_refused_and_is_repeated_is_there_once() {
    int[] refusals = {1};
    db.run(tx -> {
      one.put(tx, 1L, "a");
      tx.beforeCommit(() -> {
        if (refusals[0]-- > 0) {
          throw new IllegalStateException("refused");
        }
      });
      try {
        tx.commit();
      } catch (IllegalStateException refused) {
        // and run commits it
      }
    });
    db.run(tx -> one.put(tx, 2L, "b"));
    assertEquals(List.of("one/1=a", "one/2=b"), commitsBehind(0));
  }

  @Test
  void a_subscription_receives_what_is_there_and_what_comes() throws Exception {
    db.run(tx -> one.put(tx, 1L, "a"));
    List<String> found = new ArrayList<>();
    CountDownLatch both = new CountDownLatch(2);
    FeedSubscription subscription =
        feed.follow(
            0,
            commit -> {
              found.add(textOf(commit));
              both.countDown();
            });
    db.run(tx -> one.put(tx, 2L, "b"));
    both.await();
    subscription.close();
    assertEquals(List.of("one/1=a", "one/2=b"), found);
    assertEquals(2, subscription.position());
    assertNull(subscription.failure());
  }

  @Test
  void a_listener_that_throws_ends_the_subscription_before_its_commit() throws Exception {
    db.run(tx -> one.put(tx, 1L, "a"));
    db.run(tx -> one.put(tx, 2L, "b"));
    FeedSubscription subscription =
        feed.follow(
            0,
            commit -> {
              if (commit.position() == 2) {
                Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                throw new IllegalStateException("not dealt with");
              }
            });
    while (subscription.isAlive()) {
      Thread.onSpinWait();
    }
    assertNotNull(subscription.failure());
    assertEquals(1, subscription.position());
    subscription.close();
  }

  @Test
  void what_a_listener_throws_is_a_failure_even_if_it_looks_like_the_end_of_the_feed() {
    db.run(tx -> one.put(tx, 1L, "a"));
    Database another = Database.open(directory.resolveSibling("another"));
    another.close();
    List<ChangeFeed.Listener> listeners =
        List.of(
            _ -> {
              Transaction _ = another.begin();
            },
            _ -> {
              throw new InterruptedException("of the listener");
            });
    for (ChangeFeed.Listener listener : listeners) {
      try (FeedSubscription subscription =
          feed.follow(
              0,
              commit -> {
                Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                listener.committed(commit);
              })) {
        while (subscription.isAlive()) {
          Thread.onSpinWait();
        }
        assertNotNull(subscription.failure());
        assertEquals(0, subscription.position());
      }
    }
  }

  /**
   * Random transactions of several threads. Others take snapshots and note the position: replayed
   * up to there, the feed gives exactly what the snapshot had.
   */
  @Tag("slow")
  @Test
  void a_replay_up_to_a_position_is_the_snapshot_that_had_it() throws Exception {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("ChangeFeedTest: -Drevenant.seed=" + seed);
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Random random = new Random(seed + i);
      boolean isSerializable = i == 0;
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  write(random, isSerializable);
                } catch (Throwable failure) {
                  synchronized (failures) {
                    failures.add(failure);
                  }
                }
              }));
    }
    Map<Long, Map<String, String>> snapshots = new TreeMap<>();
    boolean isOn = true;
    while (isOn) {
      isOn = threads.stream().anyMatch(Thread::isAlive);
      try (Transaction tx = db.begin()) {
        Map<String, String> content = new HashMap<>();
        one.scan(tx).stream().forEach(row -> content.put("one/" + row.key(), row.value()));
        two.scan(tx).stream().forEach(row -> content.put("two/" + row.key(), row.value()));
        snapshots.put(feed.position(tx), content);
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures, "seed " + seed);
    Map<String, String> replayed = new HashMap<>();
    long[] at = {0};
    for (Map.Entry<Long, Map<String, String>> snapshot : snapshots.entrySet()) {
      while (at[0] < snapshot.getKey()) {
        long before = at[0];
        at[0] =
            feed.read(
                before,
                1,
                commit -> {
                  if (commit.position() <= snapshot.getKey()) {
                    replay(commit, replayed);
                  }
                });
        if (at[0] > snapshot.getKey()) { // there was none between
          at[0] = before;
          break;
        }
      }
      assertEquals(
          snapshot.getValue(), replayed, "seed " + seed + ", position " + snapshot.getKey());
    }
    System.out.println("ChangeFeedTest: " + snapshots.size() + " snapshots");
  }

  private static void replay(FeedCommit commit, Map<String, String> into) {
    commit.forEach(change -> {
      String key = change.table() + "/" + Keys.longs().fromBytes(change.key());
      byte[] value = change.value();
      if (value == null) {
        assertNotNull(into.remove(key), key + " was not there, at " + commit);
      } else {
        into.put(key, new String(value, StandardCharsets.UTF_8));
      }
    });
  }

  private void write(Random random, boolean isSerializable) {
    TransactionOptions options =
        TransactionOptions.defaults()
            .withIsolation(isSerializable ? Isolation.SERIALIZABLE : Isolation.SNAPSHOT);
    for (int n = 0; n < COMMITS; n++) {
      boolean isRolledBack = random.nextInt(8) == 0;
      long seed = random.nextLong();
      try {
        db.run(
            options,
            tx -> {
              Random own = new Random(seed);
              statements(tx, own);
              Savepoint savepoint = tx.savepoint();
              if (own.nextInt(4) == 0) {
                statements(tx, own);
                tx.rollbackTo(savepoint);
              }
              if (own.nextInt(4) == 0) {
                statements(tx, own);
              }
              if (isRolledBack) {
                throw new RolledBack();
              }
            });
      } catch (RolledBack expected) {
        // and nothing has changed
      }
    }
  }

  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private void statements(Transaction tx, Random random) {
    for (int i = random.nextInt(4); i >= 0; i--) {
      TypedTable<Long, String> table = random.nextBoolean() ? one : two;
      long key = random.nextInt(30);
      switch (random.nextInt(6)) {
        case 0 -> table.delete(tx, key);
        case 1 -> table.scan(tx).atLeast(key).lessThan(key + 3).delete();
        case 2 ->
            table.merge(tx, key, "m", (before, _) -> before.length() > 9 ? null : before + "m");
        default -> table.put(tx, key, "v" + random.nextInt(1_000));
      }
    }
  }
}
