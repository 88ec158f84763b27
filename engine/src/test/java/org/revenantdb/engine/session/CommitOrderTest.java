package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;

/** The last step of transactions, which is in the order of their commits (§53). */
class CommitOrderTest {
  private static final int THREADS = 4;
  private static final int COMMITS = 200;

  private final List<String> done = new ArrayList<>();
  private Database db;
  private Table table;

  @BeforeEach
  void open(@TempDir Path folder) {
    db = Samples.open(folder.resolve("db"));
    table = db.getOrCreateTable("t");
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void actions_run_in_order_as_part_of_the_transaction() {
    try (Transaction tx = db.begin()) {
      tx.beforeCommit(() -> tx.put(table, bytes("a"), bytes("1")));
      tx.beforeCommit(() -> done.add(new String(tx.get(table, bytes("a")))));
      assertEquals(List.of(), done);
      tx.commit();
      assertThrows(TransactionStateException.class, () -> tx.beforeCommit(() -> {}));
    }
    assertEquals(List.of("1"), done);
    assertEquals("1", Samples.get(db, "t", "a"));
  }

  @Test
  void nothing_runs_at_a_rollback_and_a_stage_has_it_as_well() {
    try (Transaction tx = db.begin()) {
      tx.beforeCommit(() -> done.add("rolled back"));
    }
    try (Transaction tx = db.begin()) {
      tx.beforeCommit(() -> tx.put(table, bytes("a"), bytes("2")));
      tx.commitAsync().toCompletableFuture().join();
    }
    assertEquals(List.of(), done);
    assertEquals("2", Samples.get(db, "t", "a"));
  }

  @Test
  void an_action_that_throws_leaves_the_transaction_open_and_the_next_one_can_commit() {
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("a"), bytes("1"));
      AtomicLong left = new AtomicLong(1);
      tx.beforeCommit(() -> {
        if (left.getAndDecrement() > 0) {
          throw new IllegalStateException("not yet");
        }
      });
      assertThrows(IllegalStateException.class, tx::commit);
      db.run(other -> other.beforeCommit(() -> done.add("another")));
      tx.commit();
    }
    assertEquals(List.of("another"), done);
    assertEquals("1", Samples.get(db, "t", "a"));
  }

  @Test
  void an_action_that_meets_a_row_of_an_open_transaction_has_a_conflict_at_once() throws Exception {
    TransactionOptions waits = TransactionOptions.defaults().withLockTimeout(Duration.ofHours(1));
    AtomicReference<Throwable> refused = new AtomicReference<>();
    try (Transaction owner = db.begin(waits)) {
      owner.put(table, bytes("a"), bytes("owner"));
      owner.beforeCommit(() -> done.add("owner")); // so its commit needs the lock of the order
      Thread other =
          Thread.ofPlatform()
              .start(() -> {
                try (Transaction tx = db.begin(waits)) {
                  tx.beforeCommit(() -> tx.put(table, bytes("a"), bytes("other")));
                  tx.commit();
                } catch (Throwable failure) {
                  refused.set(failure);
                }
              });
      other.join();
      owner.commit();
    }
    assertInstanceOf(ConflictException.class, refused.get());
    assertEquals(List.of("owner"), done);
    assertEquals("owner", Samples.get(db, "t", "a"));
  }

  @Test
  void an_action_does_not_run_if_its_transaction_is_not_open() {
    try (Transaction tx = db.begin()) {
      tx.beforeCommit(() -> done.add("once"));
      tx.commit();
      assertThrows(TransactionStateException.class, tx::commit);
    }
    try (Transaction tx =
        db.begin(TransactionOptions.defaults().withIsolation(Isolation.SERIALIZABLE))) {
      assertNull(tx.get(table, bytes("a")));
      tx.put(table, bytes("b"), bytes("1"));
      db.run(other -> other.put(table, bytes("a"), bytes("1")));
      tx.beforeCommit(() -> done.add("serializable"));
      assertThrows(ConflictException.class, tx::commit);
      assertThrows(TransactionStateException.class, tx::commit);
    }
    assertEquals(List.of("once", "serializable"), done);
  }

  @Test
  void a_transaction_with_a_last_step_is_not_prepared() {
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("a"), bytes("1"));
      tx.beforeCommit(() -> {});
      TransactionStateException refused =
          assertThrows(TransactionStateException.class, () -> tx.prepare(bytes("name")));
      assertEquals(TransactionStateException.Reason.NOT_PREPARABLE, refused.reason());
      tx.commit();
    }
    assertEquals("1", Samples.get(db, "t", "a"));
  }

  @Test
  void an_attachment_is_made_once_for_a_key() {
    try (Transaction tx = db.begin()) {
      List<String> first = tx.attachment("key", ArrayList::new);
      assertSame(first, tx.<List<String>>attachment("key", ArrayList::new));
      assertFalse(first == tx.<List<String>>attachment("other", ArrayList::new));
    }
  }

  /**
   * Numbers that are taken in the last step are a prefix for every reader: one that sees a number
   * sees all smaller ones.
   */
  @Test
  void numbers_of_last_steps_are_in_the_order_in_which_others_see_the_commits() throws Exception {
    AtomicLong next = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      TransactionOptions options =
          TransactionOptions.defaults()
              .withIsolation(i == 0 ? Isolation.SERIALIZABLE : Isolation.SNAPSHOT);
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int n = 0; n < COMMITS; n++) {
                    db.run(
                        options,
                        tx ->
                            tx.beforeCommit(
                                () -> tx.put(table, key(next.incrementAndGet()), new byte[0])));
                  }
                } catch (Throwable failure) {
                  synchronized (failures) {
                    failures.add(failure);
                  }
                }
              }));
    }
    long seen = 0;
    while (seen < THREADS * COMMITS && threads.stream().anyMatch(Thread::isAlive)) {
      seen = demandPrefix();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    assertEquals(THREADS * COMMITS, demandPrefix());
  }

  private long demandPrefix() {
    return db.read(tx -> {
      long count = 0;
      try (Cursor rows = tx.scan(table, null, null)) {
        while (rows.next()) {
          count++;
          assertEquals(count, ByteBuffer.wrap(rows.key()).getLong());
        }
      }
      return count;
    });
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }
}
