package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/**
 * A thread that would wait for a transaction that it has open itself is refused at once: another
 * attempt would meet the same conflict, and the time limit of a year would pass. Each test here
 * ended only after a thousand attempts.
 */
class OwnConflictTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();

  @TempDir Path directory;

  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db =
        Database.open(
            directory.resolve("db"),
            Samples.SMALL
                .withMaxAttempts(Integer.MAX_VALUE)
                .withRetryTimeout(Duration.ofDays(365)));
    table = db.getOrCreateTable("t");
    for (String key : List.of("a", "b")) {
      Samples.put(db, "t", key, "0");
    }
  }

  @AfterEach
  void close() {
    db.close();
  }

  private void put(Transaction tx, String key) {
    tx.put(table, bytes(key), bytes("1"));
  }

  private void assertTold(ConflictException told, long holder, String key) {
    String message = told.getMessage();
    assertTrue(message.startsWith("transaction " + holder + " "), message);
    assertTrue(message.contains("row " + key + " of table t"), message);
    assertTrue(message.contains("this thread has that transaction open"), message);
    assertTrue(message.endsWith(TransactionCore.OWN_CURE), message);
    assertFalse(message.contains("Database.run"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT0.000000001S", "PT1H"})
  void a_run_in_a_run_that_wants_its_row_is_refused_whatever_the_lock_timeout(Duration timeout) {
    TransactionOptions options = LAZY.withLockTimeout(timeout);
    AtomicInteger outer = new AtomicInteger();
    AtomicInteger inner = new AtomicInteger();
    long[] holder = new long[1];
    ConflictException told =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    options,
                    tx -> {
                      outer.incrementAndGet();
                      put(tx, "a");
                      holder[0] = tx.id();
                      db.run(
                          options,
                          tx2 -> {
                            inner.incrementAndGet();
                            put(tx2, "a");
                          });
                    }));
    assertTold(told, holder[0], "a");
    assertEquals(1, outer.get());
    assertEquals(1, inner.get());
    assertEquals("0", get(db, "t", "a"));
  }

  @Test
  void three_deep_the_outermost_is_found_from_the_innermost() {
    AtomicInteger attempts = new AtomicInteger();
    long[] holder = new long[1];
    ConflictException told =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY,
                    tx -> {
                      put(tx, "a");
                      holder[0] = tx.id();
                      db.run(
                          LAZY,
                          tx2 -> {
                            put(tx2, "b");
                            db.run(
                                LAZY,
                                tx3 -> {
                                  attempts.incrementAndGet();
                                  tx3.delete(table, bytes("a"));
                                });
                          });
                    }));
    assertTold(told, holder[0], "a");
    assertEquals(1, attempts.get());
  }

  @Test
  void a_lock_a_load_and_a_range_are_told_too() {
    db.run(
        LAZY,
        tx -> {
          put(tx, "a");
          assertTold(
              assertThrows(
                  ConflictException.class,
                  () -> db.run(LAZY, tx2 -> tx2.lockForUpdate(table, bytes("a")))),
              tx.id(),
              "a");
          assertTold(
              assertThrows(
                  ConflictException.class,
                  () -> db.run(LAZY, tx2 -> tx2.deleteRange(table, bytes("a"), bytes("b")))),
              tx.id(),
              "a");
          assertTold(
              assertThrows(
                  ConflictException.class,
                  () -> {
                    try (BulkLoad load = db.bulkLoad(table)) {
                      load.add(bytes("a"), bytes("2"));
                      load.finish();
                    }
                  }),
              tx.id(),
              "a");
        });
    assertEquals("1", get(db, "t", "a"));
  }

  @Test
  void a_transaction_that_was_begun_otherwise_is_the_threads_that_wrote_last() {
    try (Transaction tx = db.begin(LAZY)) {
      put(tx, "a");
      ConflictException told =
          assertThrows(ConflictException.class, () -> db.run(LAZY, tx2 -> put(tx2, "a")));
      assertTold(told, tx.id(), "a");
    }
  }

  @Test
  void a_transaction_that_another_thread_has_written_with_is_that_threads() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Transaction tx = db.begin(LAZY);
      put(tx, "a");
      other.submit(() -> put(tx, "b")).get();
      db.run(
          LAZY,
          tx2 -> {
            if (attempts.incrementAndGet() == 2) {
              other.submit(tx::commit);
            }
            put(tx2, "a");
          });
    }
    assertTrue(attempts.get() > 1);
  }

  @Test
  void a_transaction_that_a_helper_has_written_with_is_still_that_of_the_run() throws Exception {
    try (ExecutorService helper = Executors.newSingleThreadExecutor()) {
      ConflictException told =
          assertThrows(
              ConflictException.class,
              () ->
                  db.runThrowing(
                      LAZY,
                      tx -> {
                        helper.submit(() -> put(tx, "a")).get();
                        db.run(LAZY, tx2 -> put(tx2, "a"));
                      }));
      assertTrue(told.getMessage().contains("this thread"), told.getMessage());
    }
  }

  /** It may end it at any time: there is no telling that it does not. */
  @Test
  void a_helper_thread_that_meets_the_row_of_the_run_is_not_refused_as_its_own() throws Exception {
    AtomicReference<@Nullable ConflictException> told = new AtomicReference<>();
    try (ExecutorService helper = Executors.newSingleThreadExecutor()) {
      db.runThrowing(
          LAZY,
          tx -> {
            helper
                .submit(() -> {
                  put(tx, "a");
                  try (Transaction own = db.begin(LAZY)) {
                    told.set(assertThrows(ConflictException.class, () -> put(own, "a")));
                  }
                })
                .get();
          });
    }
    ConflictException conflict = told.get();
    assertTrue(
        conflict != null && !conflict.getMessage().contains("this thread"), () -> "" + conflict);
  }

  @Test
  void one_that_the_work_ends_on_its_way_out_is_no_reason_to_give_up() {
    AtomicInteger attempts = new AtomicInteger();
    db.run(
        LAZY,
        tx -> {
          if (attempts.incrementAndGet() == 1) {
            try (Transaction other = db.begin(LAZY)) {
              put(other, "a");
              put(tx, "a");
            }
          }
          put(tx, "a");
        });
    assertEquals(2, attempts.get());
  }

  @Test
  void a_table_that_the_thread_has_truncated_or_is_creating_is_reported() {
    AtomicInteger attempts = new AtomicInteger();
    ConflictException truncated =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY,
                    tx -> {
                      attempts.incrementAndGet();
                      tx.truncate(table);
                      db.run(LAZY, tx2 -> put(tx2, "a"));
                    }));
    assertTrue(truncated.getMessage().contains("this thread"), truncated.getMessage());
    ConflictException created =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY,
                    tx -> {
                      attempts.incrementAndGet();
                      tx.createTable("new");
                      db.getOrCreateTable("new");
                    }));
    assertTrue(created.getMessage().contains("this thread"), created.getMessage());
    ConflictException createdAgain =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY,
                    tx -> {
                      attempts.incrementAndGet();
                      tx.createTable("new");
                      db.run(LAZY, tx2 -> tx2.createTable("new"));
                    }));
    assertTrue(createdAgain.getMessage().contains("this thread"), createdAgain.getMessage());
    assertEquals(3, attempts.get());
  }

  @Test
  void a_drop_in_a_run_that_has_written_to_the_table_is_refused() throws Exception {
    assertRefused(
        CatalogException.Reason.IN_USE,
        () ->
            db.run(
                LAZY,
                tx -> {
                  put(tx, "a");
                  db.dropTable("t");
                }));
    try (ExecutorService helper = Executors.newSingleThreadExecutor()) {
      assertRefused(
          CatalogException.Reason.IN_USE,
          () ->
              db.runThrowing(
                  LAZY,
                  tx -> {
                    helper.submit(() -> put(tx, "a")).get();
                    db.run(LAZY, tx2 -> tx2.truncate(table));
                  }));
    }
  }

  @Test
  void virtual_threads_are_reported_too() throws Exception {
    AtomicReference<@Nullable Throwable> told = new AtomicReference<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            db.run(
                LAZY,
                tx -> {
                  put(tx, "a");
                  db.run(LAZY, tx2 -> put(tx2, "a"));
                });
          } catch (ConflictException conflict) {
            told.set(conflict);
          }
        })
        .join();
    assertInstanceOf(ConflictException.class, told.get());
  }

  @Test
  void a_prepared_transaction_belongs_to_no_thread() {
    try (Transaction tx = db.begin()) {
      put(tx, "a");
      tx.prepare(bytes("name"));
    }
    ConflictException told =
        assertThrows(
            ConflictException.class,
            () -> db.run(LAZY.withRetryTimeout(Duration.ZERO), tx -> put(tx, "a")));
    assertFalse(told.getMessage().contains("this thread"), told.getMessage());
    db.rollbackPrepared(bytes("name"));
    db.runThrowing(LAZY, tx -> put(tx, "a"));
  }

  /** A and its helper hold each other up; the row that it wants first is its own, of the outer. */
  @Test
  void a_transaction_that_waits_for_the_outer_one_is_not_waited_for_by_the_inner_one()
      throws Exception {
    TransactionOptions waits = LAZY.withLockTimeout(Duration.ofDays(1));
    AtomicInteger outer = new AtomicInteger();
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      db.runThrowing(
          LAZY,
          tx -> {
            if (outer.incrementAndGet() > 1) {
              return;
            }
            put(tx, "a");
            Transaction other = thread.submit(() -> db.begin(waits)).get();
            thread.submit(() -> put(other, "b")).get();
            thread.submit(() -> {
              put(other, "a"); // waits for the outer one
              other.commit();
            });
            while (ApiAccess.api()
                    .core(tx)
                    .engine()
                    .storage()
                    .transactions()
                    .rowWaiters()
                    .sleeping()
                == 0) {
              Await.pause();
            }
            db.run(LAZY, tx2 -> tx2.lockForUpdate(table, bytes("b")));
          });
    }
    assertEquals(2, outer.get(), "rolled back, so that the other could go on, and done again");
    assertEquals("1", get(db, "t", "b"));
  }
}
