package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.RetryStatistics;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.recovery.testing.Await;

/**
 * What {@link Database#run} reports about its attempts, and when it pauses (docs/protocols.md §40).
 */
class RetryTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final TransactionOptions WAITS = LAZY.withLockTimeout(Duration.ofHours(1));
  private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(10);

  @TempDir Path directory;

  private final List<ExecutorService> threads = new ArrayList<>();
  private Database db;
  private Table table;
  private Engine engine;

  @BeforeEach
  void open() {
    open(Samples.SMALL.withMaxAttempts(20));
  }

  private void open(DatabaseOptions options) {
    db = Database.open(directory.resolve("db"), options);
    table = db.getOrCreateTable("t");
    for (String key : List.of("a", "b")) {
      Samples.put(db, "t", key, "0");
    }
    try (Transaction tx = db.begin()) {
      engine = ApiAccess.api().core(tx).engine();
    }
    engine.backoff().fixCeiling(0); // on a slow machine it would be tried what another one gains
  }

  @AfterEach
  void close() {
    db.close();
    threads.forEach(ExecutorService::shutdownNow);
  }

  private ExecutorService thread() {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    threads.add(thread);
    return thread;
  }

  private RetryStatistics retries() {
    return db.statistics().retries();
  }

  private long pauses() {
    return db.waitStatistics().of(WaitClass.RETRY_PAUSE).count();
  }

  private void put(Transaction tx, String key) {
    tx.put(table, bytes(key), bytes("1"));
  }

  /** Something that is in the way of the first attempt alone, and how it fails. */
  private void assertRetried(
      ConflictReason reason, TransactionOptions options, Consumer<Transaction> first) {
    List<Integer> attempts = new ArrayList<>();
    List<@Nullable ConflictException> reasons = new ArrayList<>();
    db.run(
        options,
        tx -> {
          attempts.add(tx.attempt());
          reasons.add(tx.lastConflict());
          if (tx.attempt() == 1) {
            first.accept(tx);
          } else {
            put(tx, "c");
          }
        });
    assertEquals(List.of(1, 2), attempts);
    assertNull(reasons.getFirst());
    ConflictException last = reasons.getLast();
    assertTrue(last != null && last.reason() == reason, () -> reason + ": " + last);
    assertFalse(last.getMessage().contains("gave up"), last.getMessage());
    assertEquals(counted(reason), allRetries());
  }

  /** One attempt has failed, for this reason, and another one was made. */
  private static List<Long> counted(ConflictReason reason) {
    return counted(1, 0, Map.of(reason, 1L));
  }

  private static List<Long> counted(
      long repeated, long gaveUp, Map<ConflictReason, Long> failures) {
    List<Long> counts = new ArrayList<>(List.of(repeated, gaveUp));
    for (ConflictReason reason : ConflictReason.values()) {
      counts.add(failures.getOrDefault(reason, 0L));
    }
    counts.add(0L);
    return counts;
  }

  /** In the order of the statistics, which is that of the reasons between the others. */
  private List<Long> allRetries() {
    DatabaseStatistics statistics = db.statistics();
    return Statistic.Group.RETRIES.statistics().stream().map(statistics::value).toList();
  }

  @Test
  void a_row_in_use_is_reported() {
    assertRetried(
        ConflictReason.ROW_IN_USE,
        LAZY,
        tx -> {
          try (Transaction other = db.begin(LAZY)) {
            put(other, "a");
            put(tx, "a");
          }
        });
  }

  @Test
  void a_row_that_was_changed_is_reported() {
    assertRetried(
        ConflictReason.ROW_CHANGED,
        LAZY,
        tx -> {
          Samples.put(db, "t", "a", "other");
          put(tx, "a");
        });
  }

  @Test
  void a_validation_that_fails_is_reported() {
    assertRetried(
        ConflictReason.NOT_SERIALIZABLE,
        LAZY.withIsolation(Isolation.SERIALIZABLE),
        tx -> {
          tx.get(table, bytes("a"));
          Samples.put(db, "t", "a", "other");
          put(tx, "b");
        });
  }

  @Test
  void a_deadlock_is_reported() throws Exception {
    CyclicBarrier eachHasOne = new CyclicBarrier(2);
    RowWaiters waiters = engine.storage().transactions().rowWaiters();
    ExecutorService thread = thread();
    Transaction other = thread.submit(() -> db.begin(WAITS)).get();
    Future<?> done =
        thread.submit(() -> {
          put(other, "b");
          eachHasOne.await();
          put(other, "a"); // which waits
          other.commit();
          return null;
        });
    assertRetried(
        ConflictReason.DEADLOCK,
        WAITS,
        tx -> {
          put(tx, "a");
          await(eachHasOne);
          while (waiters.sleeping() == 0) {
            Await.pause();
          }
          put(tx, "b");
        });
    done.get();
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void a_lock_timeout_is_reported_and_there_is_no_other_attempt() {
    try (Transaction other = db.begin(LAZY)) {
      // of another thread, or it would wait for itself
      CountDownLatch written = new CountDownLatch(1);
      thread()
          .submit(() -> {
            put(other, "a");
            written.countDown();
          });
      await(written);
      ConflictException told =
          assertRefused(
              ConflictReason.LOCK_TIMEOUT,
              () -> db.run(LAZY.withLockTimeout(Duration.ofNanos(1)), tx -> put(tx, "a")));
      assertEquals(ConflictReason.LOCK_TIMEOUT, told.reason());
      assertFalse(told.getMessage().contains("gave up"), told.getMessage());
      assertEquals(counted(0, 1, Map.of(ConflictReason.LOCK_TIMEOUT, 1L)), allRetries());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void a_table_that_another_transaction_is_creating_is_reported() {
    assertRetried(
        ConflictReason.TABLE_IN_USE,
        LAZY,
        tx -> {
          try (Transaction other = db.begin(LAZY)) {
            other.createTable("new");
            db.getOrCreateTable("new");
          }
        });
  }

  @Test
  void a_table_that_was_truncated_is_reported() {
    assertRetried(
        ConflictReason.TABLE_CHANGED,
        LAZY,
        tx -> {
          db.truncateTable("t");
          put(tx, "a");
        });
  }

  @Test
  void giving_up_reports_the_number_of_attempts_and_why_each_failed() {
    List<ConflictException> met = new ArrayList<>();
    ConflictException told =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY,
                    tx -> {
                      try {
                        if (tx.attempt() == 3) {
                          try (Transaction other = db.begin(LAZY)) {
                            put(other, "b");
                            put(tx, "b");
                          }
                        }
                        Samples.put(db, "t", "a", "other");
                        put(tx, "a");
                      } catch (ConflictException conflict) {
                        met.add(conflict);
                        throw conflict;
                      }
                    }));
    assertEquals(ConflictException.class, told.getClass());
    assertSame(met.getLast(), told);
    assertTrue(told.getMessage().contains("gave up after 20 attempts in "), told.getMessage());
    assertTrue(
        told.getMessage().contains(" s (row in use: 1, row changed: 19); "), told.getMessage());
    assertEquals(
        counted(19, 1, Map.of(ConflictReason.ROW_IN_USE, 1L, ConflictReason.ROW_CHANGED, 19L)),
        allRetries());
  }

  @Test
  void a_transaction_that_is_no_attempt_is_the_first() {
    try (Transaction tx = db.begin()) {
      assertEquals(1, tx.attempt());
      assertNull(tx.lastConflict());
    }
  }

  @Test
  void a_conflict_that_the_work_keeps_to_itself_is_none_and_the_rest_is_committed() {
    try (Transaction holder = db.begin(LAZY)) {
      put(holder, "a");
      db.run(
          LAZY,
          tx -> {
            put(tx, "b");
            assertThrows(ConflictException.class, () -> put(tx, "a"));
          });
    }
    try (Transaction tx = db.begin()) {
      assertArrayEquals(bytes("0"), tx.get(table, bytes("a")));
      assertArrayEquals(bytes("1"), tx.get(table, bytes("b")));
    }
    assertEquals(counted(0, 0, Map.of()), allRetries());
  }

  @Test
  void a_conflict_of_another_transaction_that_leaves_the_work_is_tried_again() {
    assertRetried(
        ConflictReason.ROW_IN_USE,
        LAZY,
        tx -> {
          put(tx, "b");
          try (Transaction holder = db.begin(LAZY);
              Transaction other = db.begin(LAZY)) {
            put(holder, "a");
            put(other, "a");
          }
        });
    try (Transaction tx = db.begin()) {
      assertArrayEquals(bytes("0"), tx.get(table, bytes("b")), "of the attempt that failed");
    }
  }

  @Test
  void without_conflicts_nothing_is_counted() {
    db.run(tx -> put(tx, "a"));
    assertEquals(counted(0, 0, Map.of()), allRetries());
    assertEquals(0, pauses());
  }

  @Test
  void an_interrupt_ends_the_attempts_and_is_not_lost() throws Exception {
    db.close();
    open(Samples.SMALL.withMaxAttempts(Integer.MAX_VALUE).withRetryTimeout(Duration.ofDays(1)));
    try (Transaction holder = db.begin(LAZY)) {
      thread().submit(() -> put(holder, "a")).get();
      AtomicBoolean isInterrupted = new AtomicBoolean();
      Thread runs =
          new Thread(() -> {
            assertThrows(ConflictException.class, () -> db.run(LAZY, tx -> put(tx, "a")));
            isInterrupted.set(Thread.currentThread().isInterrupted());
          });
      runs.start();
      awaitSleeping(engine.storage().transactions().rowWaiters(), 1);
      runs.interrupt();
      runs.join();
      assertTrue(isInterrupted.get());
      assertEquals(1, retries().gaveUp());
    }
  }

  @Test
  void pauses_are_counted_as_waits() {
    engine.backoff().fixCeiling(LONGEST);
    a_row_that_was_changed_is_met();
    assertEquals(1, pauses());
    assertTrue(db.waitStatistics().of(WaitClass.RETRY_PAUSE).totalNanos() > 0);
    assertEquals(LONGEST, retries().ceilingNanos());
  }

  private void a_row_that_was_changed_is_met() {
    db.run(
        LAZY,
        tx -> {
          if (tx.attempt() == 1) {
            Samples.put(db, "t", "a", "other");
          }
          put(tx, "a");
        });
  }

  @Test
  void where_pauses_are_switched_off_there_are_none() {
    db.close();
    open(Samples.SMALL.withMaxAttempts(20).withMaxBackoff(Duration.ZERO));
    giving_up_reports_the_number_of_attempts_and_why_each_failed();
    assertEquals(0, pauses());
  }

  @Test
  void a_transaction_that_waits_for_rows_does_not_pause_after_a_commit() {
    engine.backoff().fixCeiling(LONGEST);
    db.run(
        WAITS,
        tx -> {
          if (tx.attempt() == 1) {
            Samples.put(db, "t", "a", "other");
          }
          put(tx, "a");
        });
    assertEquals(0, pauses());
  }

  /** They would sleep behind no transaction. */
  @Test
  void R27_who_takes_heirs_along_does_not_pause() throws Exception {
    RowWaiters waiters = engine.storage().transactions().rowWaiters();
    waiters.slice(TimeUnit.HOURS.toNanos(1));
    engine.backoff().fixCeiling(LONGEST);
    Transaction holder = db.begin(WAITS);
    ExecutorService holders = thread();
    holders.submit(() -> put(holder, "b")).get();
    List<Integer> attempts = new ArrayList<>();
    Transaction creator = db.begin(LAZY);
    creator.createTable("new");
    Future<?> first =
        thread()
            .submit(() ->
                db.run(
                    WAITS,
                    tx -> {
                      attempts.add(tx.attempt());
                      switch (tx.attempt()) {
                        case 1 -> {} // is woken, with the other as its heir
                        case 2 ->
                            db.getOrCreateTable(
                                "new"); // in use; and the other sleeps behind nobody
                        default -> creator.rollback();
                      }
                      put(tx, "b");
                    }));
    awaitSleeping(waiters, 1);
    Future<?> second = thread().submit(() -> db.run(WAITS, tx -> put(tx, "b")));
    awaitSleeping(waiters, 2);
    holders.submit(holder::commit).get();
    first.get();
    second.get();
    assertEquals(List.of(1, 2, 3), attempts);
    assertEquals(0, pauses());
  }

  private static void awaitSleeping(RowWaiters waiters, int count) {
    while (waiters.sleeping() != count) {
      Await.pause();
    }
  }

  @Test
  void the_longest_pause_has_bounds() {
    DatabaseOptions options = DatabaseOptions.defaults();
    assertThrows(
        IllegalArgumentException.class, () -> options.withMaxBackoff(Duration.ofNanos(-1)));
    assertThrows(
        IllegalArgumentException.class, () -> options.withMaxBackoff(Duration.ofMinutes(2)));
    assertEquals(Duration.ofMinutes(1), options.withMaxBackoff(Duration.ofMinutes(1)).maxBackoff());
  }
}
