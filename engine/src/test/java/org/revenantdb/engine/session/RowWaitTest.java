package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.recovery.testing.Await;

/** Writers that wait for a row of an open transaction (docs/protocols.md §32). */
class RowWaitTest {
  private static final TransactionOptions WAITS =
      TransactionOptions.lazy().withLockTimeout(Duration.ofHours(1));

  @TempDir Path directory;

  private final List<ExecutorService> threads = new ArrayList<>();
  private Database db;
  private Table table;
  private RowWaiters waiters;

  /** A transaction with a thread of its own. */
  private final class Session {
    final ExecutorService thread = Executors.newSingleThreadExecutor();
    final Transaction tx;

    Session() throws Exception {
      this(WAITS);
    }

    Session(TransactionOptions options) throws Exception {
      threads.add(thread);
      tx = thread.submit(() -> db.begin(options)).get();
    }

    <T extends @Nullable Object> Future<T> start(Callable<T> statement) {
      return thread.submit(statement);
    }

    /** Starts a put, which is going to wait. */
    Future<?> startsToPut(String key, int value) {
      return start(() -> {
        tx.put(table, key(key), value(value));
        return null;
      });
    }

    /** Starts it, and returns when it waits. */
    Future<?> waitsToPut(String key, int value) {
      int before = waiters.sleeping();
      Future<?> put = startsToPut(key, value);
      awaitSleeping(before + 1);
      return put;
    }

    void put(String key, int value) throws Exception {
      startsToPut(key, value).get();
    }

    void rollback() throws Exception {
      thread.submit(tx::rollback).get();
    }

    void commit() throws Exception {
      thread.submit(tx::commit).get();
    }
  }

  private static byte[] key(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] value(int value) {
    return new byte[] {(byte) value};
  }

  private void awaitSleeping(int count) {
    while (waiters.sleeping() != count) {
      Await.pause();
    }
  }

  private static Throwable failure(Future<?> future) throws Exception {
    return assertThrows(ExecutionException.class, () -> got(future)).getCause();
  }

  private static <T extends @Nullable Object> T got(Future<T> future)
      throws InterruptedException, ExecutionException {
    return future.get();
  }

  private byte @Nullable [] committed(String key) {
    return db.call(tx -> tx.get(table, key(key)));
  }

  @BeforeEach
  void open() {
    db = Samples.open(directory.resolve("db"));
    table = db.getOrCreateTable("t");
    db.run(tx -> {
      for (String key : List.of("a", "b", "c")) {
        tx.put(table, key(key), value(0));
      }
    });
    try (Transaction tx = db.begin()) {
      waiters = ApiAccess.api().core(tx).engine().storage().transactions().rowWaiters();
    }
    waiters.slice(TimeUnit.HOURS.toNanos(1)); // nobody looks by himself: a lost wake-up is noticed
  }

  @AfterEach
  void close() {
    db.close();
    threads.forEach(ExecutorService::shutdownNow);
  }

  @Test
  void without_a_timeout_it_is_refused_at_once() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Session other = new Session(TransactionOptions.lazy());
    ConflictException refused =
        assertInstanceOf(ConflictException.class, failure(other.startsToPut("a", 2)));
    assertEquals(ConflictException.class, refused.getClass());
  }

  @Test
  void it_goes_on_when_the_other_rolls_back() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Session other = new Session();
    Future<?> put = other.waitsToPut("a", 2);
    holder.rollback();
    got(put);
    other.commit();
    assertArrayEquals(value(2), committed("a"));
  }

  @Test
  void it_goes_on_when_one_rolls_back_that_leaves_its_rows_to_the_cleaner() throws Exception {
    Session holder = new Session();
    holder
        .start(() -> {
          for (int row = 0; row < 300; row++) {
            holder.tx.put(table, key("many" + row), value(1));
          }
          return null;
        })
        .get();
    Session other = new Session();
    Future<?> put = other.waitsToPut("many7", 2);
    holder.rollback();
    got(put);
    other.commit();
    assertArrayEquals(value(2), committed("many7"));
  }

  @Test
  void it_is_in_conflict_when_the_other_commits() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Session other = new Session();
    Future<?> put = other.waitsToPut("a", 2);
    holder.commit();
    ConflictException told = assertInstanceOf(ConflictException.class, failure(put));
    assertTrue(told.getMessage().contains("changed and committed"), told.getMessage());
    other.put("b", 2); // it goes on
    other.commit();
    assertArrayEquals(value(1), committed("a"));
    assertArrayEquals(value(2), committed("b"));
  }

  @Test
  void it_gives_up_when_the_time_is_over_and_run_does_not_try_again() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    AtomicInteger attempts = new AtomicInteger();
    ConflictException told =
        assertRefused(
            ConflictReason.LOCK_TIMEOUT,
            () ->
                db.run(
                    TransactionOptions.lazy().withLockTimeout(Duration.ofNanos(1)),
                    tx -> {
                      attempts.incrementAndGet();
                      tx.put(table, key("a"), value(2));
                    }));
    assertEquals(1, attempts.get());
    assertTrue(told.getMessage().contains("row a of table t"), told.getMessage());
    assertTrue(told.getMessage().contains("transaction " + ApiAccess.api().core(holder.tx).id()));
    assertEquals(0, waiters.sleeping());
    assertNotNull(committed("a"));
  }

  @Test
  void the_database_has_a_timeout_for_those_without_one_and_refuses_nonsense() {
    assertThrows(
        IllegalArgumentException.class,
        () -> DatabaseOptions.defaults().withLockTimeout(Duration.ofNanos(-1)));
    assertThrows(IllegalArgumentException.class, () -> WAITS.withLockTimeout(Duration.ofDays(366)));
    assertEquals(
        Duration.ofSeconds(3),
        DatabaseOptions.defaults().withLockTimeout(Duration.ofSeconds(3)).lockTimeout());
    assertEquals(Duration.ofHours(1), WAITS.withDeferReadWaitsToCommit(true).lockTimeout());
  }

  @Test
  void R16_two_that_wait_for_each_other_are_found_and_the_message_shows_the_cycle()
      throws Exception {
    Session one = new Session();
    Session two = new Session();
    one.put("a", 1);
    two.put("b", 2);
    Future<?> waits = one.waitsToPut("b", 1);
    ConflictException told =
        assertInstanceOf(ConflictException.class, failure(two.startsToPut("a", 2)));
    long first = ApiAccess.api().core(one.tx).id();
    long second = ApiAccess.api().core(two.tx).id();
    assertTrue(
        told.getMessage()
            .contains(
                "transaction "
                    + second
                    + " waits for row a of table t, which is of transaction "
                    + first
                    + "; transaction "
                    + first
                    + " waits for row b of table t, which is of transaction "
                    + second),
        told.getMessage());
    two.rollback();
    got(waits);
    one.commit();
    assertArrayEquals(value(1), committed("b"));
  }

  @Test
  void R16_three_that_wait_in_a_circle_are_found_by_the_last() throws Exception {
    Session[] sessions = {new Session(), new Session(), new Session()};
    String[] keys = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
      sessions[i].put(keys[i], i);
    }
    Future<?> first = sessions[0].waitsToPut("b", 0);
    Future<?> second = sessions[1].waitsToPut("c", 1);
    String told = failure(sessions[2].startsToPut("a", 2)).getMessage();
    for (Session session : sessions) {
      assertTrue(
          told.contains("transaction " + ApiAccess.api().core(session.tx).id() + " waits for row"),
          told);
    }
    sessions[2].rollback();
    got(second);
    sessions[1].rollback();
    got(first);
  }

  @Test
  void a_thread_does_not_wait_for_itself() throws Exception {
    Session session = new Session();
    session.put("a", 1);
    Future<Throwable> refused =
        session.start(() ->
            assertRefused(
                ConflictReason.DEADLOCK,
                () -> db.run(WAITS, tx -> tx.put(table, key("a"), value(2)))));
    String told = got(refused).getMessage();
    assertTrue(told.contains("this thread"), told);
    session.commit();
  }

  @Test
  void R16_a_cycle_through_a_drop_is_found_by_who_waits_for_the_row() throws Exception {
    Session dropper = new Session();
    Session writer = new Session();
    Table other = db.getOrCreateTable("other");
    dropper.put("a", 1);
    writer
        .start(() -> {
          writer.tx.put(other, key("x"), value(1));
          return null;
        })
        .get();
    Future<?> drop =
        dropper.start(() -> {
          dropper.tx.truncate(other);
          return null;
        });
    while (TableState.of(other).isWritable()) {
      Await.pause();
    }
    // Who truncates says so, and is in the graph before.
    Throwable told = failure(writer.startsToPut("a", 2));
    assertInstanceOf(ConflictException.class, told);
    assertTrue(told.getMessage().contains("drop or truncate table other"), told.getMessage());
    writer.rollback();
    got(drop);
    dropper.commit();
  }

  @Test
  void R16_a_cycle_through_a_row_is_found_by_who_drops() throws Exception {
    Session dropper = new Session();
    Session writer = new Session();
    Table other = db.getOrCreateTable("other");
    dropper.put("a", 1);
    writer
        .start(() -> {
          writer.tx.put(other, key("x"), value(1));
          return null;
        })
        .get();
    Future<?> waits = writer.waitsToPut("a", 2);
    Throwable told =
        failure(
            dropper.start(() -> {
              dropper.tx.dropTable(other);
              return null;
            }));
    assertEquals(
        CatalogException.Reason.IN_USE, assertInstanceOf(CatalogException.class, told).reason());
    assertTrue(told.getMessage().contains("waits for row a of table t"), told.getMessage());
    dropper.rollback();
    got(waits);
  }

  @Test
  void R27_against_a_prepared_one_helps_the_timeout_and_its_outcome() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Session early = new Session();
    Future<?> waits = early.waitsToPut("a", 2);
    holder.start(() -> holder.tx.prepare(key("name"))).get();
    assertFalse(waits.isDone());
    assertRefused(
        ConflictReason.LOCK_TIMEOUT,
        () ->
            db.run(
                TransactionOptions.lazy().withLockTimeout(Duration.ofNanos(1)),
                tx -> tx.put(table, key("a"), value(3))));
    db.rollbackPrepared(key("name"));
    got(waits);
    early.commit();
    assertArrayEquals(value(2), committed("a"));
  }

  @Test
  void a_close_ends_the_wait_also_for_a_prepared_one() throws Exception {
    Session prepared = new Session();
    prepared.put("a", 1);
    prepared.start(() -> prepared.tx.prepare(key("name"))).get();
    Session holder = new Session();
    holder.put("b", 1);
    Future<?> one = new Session().waitsToPut("a", 2);
    Future<?> two = new Session().waitsToPut("b", 2);
    db.close();
    assertInstanceOf(DatabaseClosedException.class, failure(one));
    assertInstanceOf(DatabaseClosedException.class, failure(two));
  }

  @Test
  void a_check_does_not_wait_for_waiting_threads() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Future<?> waits = new Session().waitsToPut("a", 2);
    assertTrue(db.check().isSound());
    assertFalse(waits.isDone());
    holder.rollback();
    got(waits);
  }

  @Test
  void R14_a_row_that_is_given_back_to_a_savepoint_wakes_who_waits_for_it() throws Exception {
    Session holder = new Session();
    holder.put("b", 1);
    Savepoint savepoint = holder.start(holder.tx::savepoint).get();
    holder.put("a", 1);
    Future<?> waits = new Session().waitsToPut("a", 2);
    Future<?> stays = new Session().waitsToPut("b", 2);
    holder
        .start(() -> {
          holder.tx.rollbackTo(savepoint);
          return null;
        })
        .get();
    got(waits);
    awaitSleeping(1);
    assertFalse(stays.isDone());
    holder.rollback();
    got(stays);
  }

  @Test
  void an_interrupt_does_not_disturb() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    Session other = new Session();
    Thread[] thread = new Thread[1];
    Future<Boolean> interrupted =
        other.start(() -> {
          thread[0] = Thread.currentThread();
          other.tx.put(table, key("a"), value(2));
          return Thread.interrupted();
        });
    awaitSleeping(1);
    thread[0].interrupt();
    assertRefused(
        ConflictReason.LOCK_TIMEOUT,
        () ->
            db.run(
                TransactionOptions.lazy().withLockTimeout(Duration.ofNanos(1)),
                tx -> tx.put(table, key("a"), value(3))));
    assertFalse(interrupted.isDone());
    holder.rollback();
    assertTrue(got(interrupted));
  }

  @Test
  void deletes_ranges_streams_and_bulk_loads_wait_and_go_on_where_they_were() throws Exception {
    byte[] large = new byte[300_000];
    Arrays.fill(large, (byte) 7);
    List<Callable<Boolean>> statements = new ArrayList<>();
    Session other = new Session();
    statements.add(() -> other.tx.delete(table, key("b")));
    statements.add(() -> other.tx.deleteRange(table, null, null) == 3);
    statements.add(() -> {
      other.tx.put(table, key("b"), new ByteArrayInputStream(large));
      return Arrays.equals(large, other.tx.get(table, key("b")));
    });
    statements.add(() -> {
      other.tx.put(table, key("b"), large);
      return Arrays.equals(large, other.tx.get(table, key("b")));
    });
    statements.add(() -> {
      try (BulkLoad load = db.bulkLoad(table, WAITS)) {
        for (String key : List.of("a", "aa", "b", "bb", "c", "cc")) {
          load.add(key(key), value(9));
        }
        load.finish();
        return load.rows() == 6;
      }
    });
    for (Callable<Boolean> statement : statements) {
      Session holder = new Session();
      holder.put("b", 1);
      Savepoint before = other.start(other.tx::savepoint).get();
      Future<Boolean> done = other.start(statement);
      awaitSleeping(1);
      holder.rollback();
      assertTrue(got(done));
      other
          .start(() -> {
            other.tx.rollbackTo(before);
            return null;
          })
          .get();
    }
    for (String key : List.of("a", "aa", "b", "bb", "c", "cc")) {
      assertArrayEquals(value(9), committed(key));
    }
    assertTrue(db.check().isSound());
  }

  @Test
  void a_deletion_that_meets_an_open_writer_half_way_waits() throws Exception {
    Session holder = new Session();
    Session other = new Session();
    Future<Long> rows =
        other.start(() ->
            ApiAccess.api()
                .deleteRange(
                    other.tx,
                    table,
                    null,
                    null,
                    () -> {
                      try {
                        holder.put("b", 1);
                      } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                      }
                    }));
    awaitSleeping(1);
    holder.rollback();
    assertEquals(3, got(rows));
    other.commit();
    assertNull(committed("b"));
  }

  @Test
  void lockForUpdate_locks_a_row_with_its_value_and_leaves_it_as_it_is() throws Exception {
    byte[] large = new byte[200_000];
    Arrays.fill(large, (byte) 5);
    db.run(tx -> tx.put(table, key("large"), large));
    Session locker = new Session();
    assertArrayEquals(value(0), got(locker.start(() -> locker.tx.lockForUpdate(table, key("a")))));
    assertArrayEquals(large, got(locker.start(() -> locker.tx.lockForUpdate(table, key("large")))));
    assertNull(got(locker.start(() -> locker.tx.lockForUpdate(table, key("none")))));
    db.run(tx -> tx.put(table, key("none"), value(1)));
    Session other = new Session();
    Future<?> waits = other.waitsToPut("a", 2);
    locker.commit();
    ConflictException told = assertInstanceOf(ConflictException.class, failure(waits));
    assertTrue(told.getMessage().contains("changed and committed"), told.getMessage());
    assertArrayEquals(value(0), committed("a"));
    assertArrayEquals(large, committed("large"));

    Session again = new Session();
    got(again.start(() -> again.tx.lockForUpdate(table, key("a"))));
    again.rollback();
    assertArrayEquals(value(0), committed("a"));
    assertTrue(db.check().isSound());
  }

  @Test
  void lockForUpdate_waits_and_a_wait_is_counted_as_one_for_a_row() throws Exception {
    Session holder = new Session();
    got(holder.start(() -> holder.tx.lockForUpdate(table, key("a"))));
    Session other = new Session();
    long before = db.waitStatistics().of(WaitClass.ROW).count();
    int sleeping = waiters.sleeping();
    Future<byte @Nullable []> locked = other.start(() -> other.tx.lockForUpdate(table, key("a")));
    awaitSleeping(sleeping + 1);
    holder.rollback();
    assertArrayEquals(value(0), got(locked));
    assertTrue(db.waitStatistics().of(WaitClass.ROW).count() > before);
  }

  @Test
  void R27_one_is_woken_and_the_others_sleep_on_behind_it() throws Exception {
    Session holder = new Session();
    holder.put("a", 1);
    List<Session> sessions = new ArrayList<>();
    List<Future<?>> puts = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sessions.add(new Session());
      puts.add(sessions.get(i).waitsToPut("a", i));
    }
    holder.rollback();
    for (int i = 0; i < 5; i++) {
      got(puts.get(i));
      assertEquals(4 - i, waiters.sleeping());
      sessions.get(i).rollback();
    }
  }
}
