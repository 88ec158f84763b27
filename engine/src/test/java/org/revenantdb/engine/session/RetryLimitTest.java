package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/** When {@link Database#run} gives up, and what it says then. */
class RetryLimitTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final Duration SHORT = Duration.ofMillis(50);

  @TempDir Path directory;

  private final ExecutorService other = Executors.newSingleThreadExecutor();
  private Database db;
  private Table table;
  private Transaction holder;

  @BeforeEach
  void open() throws Exception {
    open(Samples.SMALL.withMaxAttempts(Integer.MAX_VALUE).withRetryTimeout(SHORT));
  }

  private void open(DatabaseOptions options) throws Exception {
    db = Database.open(directory.resolve("db"), options);
    table = db.getOrCreateTable("t");
    holder = other.submit(() -> db.begin(LAZY)).get();
    other.submit(() -> put(holder)).get();
  }

  @AfterEach
  void close() {
    db.close();
    other.shutdownNow();
  }

  private void put(Transaction tx) {
    tx.put(table, bytes("a"), bytes("1"));
  }

  private ConflictException givesUp(TransactionOptions options) {
    return assertThrows(ConflictException.class, () -> db.run(options, this::put));
  }

  private void assertSays(ConflictException told, String limit) {
    String message = told.getMessage();
    assertTrue(
        message.startsWith("transaction " + holder.id() + " is changing row a of table t;"),
        message);
    assertTrue(message.contains("gave up after "), message);
    assertTrue(message.contains(" s (row in use: "), message);
    assertTrue(message.contains(limit), message);
    assertFalse(message.contains("Database.run"), message);
    assertEquals(1, db.statistics().retries().gaveUp());
  }

  @Test
  void the_time_is_over_with_pauses_and_with_waits() {
    ConflictException told = givesUp(LAZY);
    assertSays(told, "withRetryTimeout is 0.050 s");
    while (db.statistics().retries().repeated() == 0) {
      givesUp(LAZY); // one attempt may last as long
    }
  }

  @Test
  void the_time_also_ends_immediate_retries() throws Exception {
    db.close();
    open(
        Samples.SMALL
            .withMaxAttempts(Integer.MAX_VALUE)
            .withRetryTimeout(SHORT)
            .withMaxBackoff(Duration.ZERO));
    assertSays(givesUp(LAZY), "withRetryTimeout is 0.050 s");
  }

  @Test
  void a_transaction_has_a_limit_of_its_own() throws Exception {
    db.close();
    open(Samples.SMALL.withMaxAttempts(Integer.MAX_VALUE));
    assertSays(givesUp(LAZY.withRetryTimeout(SHORT)), "withRetryTimeout is 0.050 s");
  }

  @Test
  void zero_is_one_attempt_however_long_it_takes() {
    AtomicInteger attempts = new AtomicInteger();
    ConflictException told =
        assertThrows(
            ConflictException.class,
            () ->
                db.run(
                    LAZY.withRetryTimeout(Duration.ZERO),
                    tx -> {
                      attempts.incrementAndGet();
                      put(tx);
                    }));
    assertSays(told, "gave up after 1 attempt in ");
    assertEquals(1, attempts.get());
  }

  @Test
  void a_conflict_that_the_work_sees_does_not_advise_to_use_run() {
    String[] message = new String[1];
    db.run(
        LAZY, tx -> message[0] = assertThrows(ConflictException.class, () -> put(tx)).getMessage());
    assertFalse(message[0].contains("Database.run"), message[0]);
    assertTrue(message[0].contains("let the exception leave the work"), message[0]);
    try (Transaction tx = db.begin(LAZY)) {
      String outside = assertThrows(ConflictException.class, () -> put(tx)).getMessage();
      assertTrue(outside.contains("Database.run"), outside);
    }
  }

  @Test
  void a_waiter_for_the_winner_goes_on_when_that_has_ended() throws Exception {
    db.close();
    open(Samples.SMALL.withMaxAttempts(Integer.MAX_VALUE).withRetryTimeout(Duration.ofDays(365)));
    AtomicInteger attempts = new AtomicInteger();
    try (ExecutorService one = Executors.newSingleThreadExecutor()) {
      var done =
          one.submit(() ->
              db.run(
                  LAZY,
                  tx -> {
                    attempts.incrementAndGet();
                    tx.lockForUpdate(table, bytes("b"));
                    put(tx);
                  }));
      while (ApiAccess.api().core(holder).engine().storage().transactions().rowWaiters().sleeping()
          == 0) {
        Await.pause();
      }
      int before = attempts.get();
      other.submit(holder::commit).get();
      done.get();
      assertEquals(before + 1, attempts.get(), "it has slept until then");
    }
  }

  @Test
  void the_limit_has_bounds() {
    DatabaseOptions options = DatabaseOptions.defaults();
    assertEquals(Duration.ofSeconds(30), options.retryTimeout());
    assertThrows(
        IllegalArgumentException.class, () -> options.withRetryTimeout(Duration.ofNanos(-1)));
    assertThrows(
        IllegalArgumentException.class, () -> options.withRetryTimeout(Duration.ofDays(366)));
    assertThrows(IllegalArgumentException.class, () -> LAZY.withRetryTimeout(Duration.ofNanos(-1)));
  }
}
