package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.testing.Await;

@Tag("stress")
class TransactionTableTest {
  private static final int CHUNK = 4096;

  private final AbortedTransactions aborted = new AbortedTransactions();

  private TransactionTable table(long highestId) {
    return new TransactionTable(aborted, highestId);
  }

  private static void commit(TransactionTable table, int count, long lsn) {
    for (int i = 0; i < count; i++) {
      long id = table.enter();
      table.committing(id);
      table.committed(id, lsn);
    }
  }

  /** With no snapshot open, and the log durable up to the end. */
  private static void forget(TransactionTable table, long end) {
    table.forget(new ActiveSnapshots().snapshots(() -> end), end);
  }

  @Test
  void status_ofEachState() {
    TransactionTable table = table(17);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(0));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(17));
    aborted.add(16);
    assertEquals(TransactionTable.ABORTED, table.status(16));
    long id = table.enter();
    assertEquals(18, id);
    assertEquals(TransactionTable.ACTIVE, table.status(id));
    assertFalse(TransactionTable.isCommitted(table.status(id)));
    table.committing(id);
    assertEquals(TransactionTable.COMMITTING, table.status(id));
    table.committed(id, 4242);
    assertEquals(4242, table.outcome(id));
    assertTrue(TransactionTable.isCommitted(4242));
    long other = table.enter();
    aborted.add(other);
    table.aborted(other);
    assertEquals(TransactionTable.ABORTED, table.status(other));
  }

  @Test
  void outcome_waitsForOneThatCommits() {
    TransactionTable table = table(0);
    long id = table.enter();
    table.committing(id);
    CompletableFuture<Long> outcome = CompletableFuture.supplyAsync(() -> table.outcome(id));
    CompletableFuture<long[]> writing = CompletableFuture.supplyAsync(table::writing);
    assertFalse(outcome.isDone());
    table.committed(id, 100);
    assertEquals(100, outcome.join());
    assertArrayEquals(new long[0], writing.join());
  }

  @Test
  void outcome_thatIsWaitedFor_isReportedOnce_andNoOther() throws InterruptedException {
    List<String> told = new CopyOnWriteArrayList<>();
    TransactionTable table =
        new TransactionTable(
            aborted,
            0,
            new WaitMeter() {
              @Override
              public String waitClass() {
                return "row";
              }

              @Override
              public Object begin() {
                told.add("begin");
                return told;
              }

              @Override
              public void end(@Nullable Object begun) {
                assertEquals(told, begun);
                told.add("end");
              }
            });
    long id = table.enter();
    assertEquals(TransactionTable.ACTIVE, table.outcome(id));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.outcome(0));
    table.committing(id);
    assertEquals(TransactionTable.COMMITTING, table.status(id));
    assertEquals(List.of(), told);
    Thread reader = sleeping(() -> table.outcome(id));
    assertEquals(List.of("begin"), told);
    table.committed(id, 100);
    reader.join();
    assertEquals(100, table.outcome(id));
    assertEquals(List.of("begin", "end"), told);
  }

  /** With a slice that never ends a wake-up that is lost would be noticed. */
  private TransactionTable patientTable() {
    return new TransactionTable(aborted, 0, Long.MAX_VALUE / 2);
  }

  private static Thread sleeping(Runnable work) {
    Thread thread = Thread.ofPlatform().start(work);
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Await.pause(); // for ever, if it never sleeps
    }
    return thread;
  }

  @Test
  void all_readers_that_meet_a_long_commit_sleep_and_are_woken() throws InterruptedException {
    TransactionTable table = patientTable();
    long id = table.enter();
    table.committing(id);
    Queue<Long> outcomes = new ConcurrentLinkedQueue<>();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(sleeping(() -> outcomes.add(table.outcome(id))));
    }
    Thread checkpoint = sleeping(() -> outcomes.add((long) table.writing().length));
    assertEquals(
        TransactionTable.COMMITTING, table.status(id), "a waiter's mark is nobody's business");
    assertArrayEquals(new long[] {id}, table.oldestActive(1));
    table.committed(id, 4242);
    for (Thread reader : readers) {
      reader.join();
    }
    checkpoint.join();
    assertEquals(List.of(0L, 4242L, 4242L, 4242L), outcomes.stream().sorted().toList());
    assertEquals(4242, table.status(id));
  }

  /** The log has stopped while its commit record waited for room. */
  @Test
  void a_waiter_for_a_commit_is_woken_if_the_transaction_aborts_instead()
      throws InterruptedException {
    TransactionTable table = patientTable();
    long id = table.enter();
    table.committing(id);
    AtomicLong outcome = new AtomicLong();
    Thread reader = sleeping(() -> outcome.set(table.outcome(id)));
    aborted.add(id);
    table.aborted(id);
    reader.join();
    assertEquals(TransactionTable.ABORTED, outcome.get());
  }

  /** An interrupt is none of its business; it stays for later. */
  @Test
  void a_waiter_for_a_commit_keeps_its_interrupt() throws InterruptedException {
    TransactionTable table = patientTable();
    long id = table.enter();
    table.committing(id);
    AtomicLong outcome = new AtomicLong();
    AtomicBoolean interrupted = new AtomicBoolean();
    Thread reader =
        sleeping(() -> {
          outcome.set(table.outcome(id));
          interrupted.set(Thread.currentThread().isInterrupted());
        });
    reader.interrupt();
    table.committed(id, 77);
    reader.join();
    assertEquals(77, outcome.get());
    assertTrue(interrupted.get());
  }

  /**
   * Its slot is not forgotten while threads sleep for it, and the words of its neighbours do not
   * change.
   */
  @Test
  void a_chunk_with_one_that_is_awaited_is_not_forgotten() throws InterruptedException {
    TransactionTable table = patientTable();
    long slow = table.enter();
    commit(table, 2 * CHUNK, 50);
    table.committing(slow);
    AtomicLong outcome = new AtomicLong();
    Thread reader = sleeping(() -> outcome.set(table.outcome(slow)));
    forget(table, 1_000);
    assertEquals(TransactionTable.COMMITTING, table.status(slow));
    assertEquals(50, table.status(slow + 1));
    table.committed(slow, 60);
    reader.join();
    assertEquals(60, outcome.get());
    forget(table, 1_000);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(slow));
  }

  @Test
  void writing_andOldestActive_overManyChunks() {
    TransactionTable table = table(CHUNK - 3);
    assertEquals(0, table.oldestActive(9).length);
    List<Long> active = new ArrayList<>();
    Random random = new Random(5);
    for (int i = 0; i < 5 * CHUNK; i++) {
      long id = table.enter();
      if (random.nextInt(300) == 0) {
        active.add(id);
      } else {
        table.committed(id, 10 + i);
      }
    }
    assertArrayEquals(active.stream().mapToLong(i -> i).toArray(), table.writing());
    assertArrayEquals(new long[] {active.getFirst()}, table.oldestActive(1));
    forget(table, ActiveSnapshots.MAX_TIMESTAMP);
    assertArrayEquals(active.stream().mapToLong(i -> i).toArray(), table.writing());
  }

  @Test
  void forget_keepsWhatASnapshotTellsApart() {
    TransactionTable table = table(CHUNK - 1);
    commit(table, CHUNK - 1, 50);
    long last = table.enter();
    table.committed(last, 90);
    commit(table, 2 * CHUNK, 60);
    forget(table, 89);
    assertEquals(90, table.status(last));
    assertEquals(50, table.status(CHUNK));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(last + 1));
    forget(table, 90);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(last));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK));
  }

  @Test
  void forget_leavesTheAbortedToTheMap() {
    TransactionTable table = table(CHUNK - 1);
    long id = table.enter();
    aborted.add(id);
    table.aborted(id);
    commit(table, 2 * CHUNK, 60);
    forget(table, 100);
    assertEquals(TransactionTable.ABORTED, table.status(id));
    aborted.remove(id);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(id));
  }

  @Test
  void forget_ofTheFirstChunkWithIdsOfAFormerLife() {
    TransactionTable table = table(CHUNK + 1000);
    commit(table, CHUNK, 60);
    forget(table, 60);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK + 1001));
    assertEquals(60, table.status(2 * CHUNK), "its chunk is not yet full");
  }

  @Test
  void a_thread_that_was_slow_to_enter_its_id_finds_the_table_after_thousands_of_later_ones() {
    // The slow id is the first of its chunk, which nobody has made yet when a later one is made:
    // that must not look like a chunk that was forgotten.
    TransactionTable table = table(CHUNK - 1);
    commit(table, CHUNK, 50);
    long slow = table.next();
    assertEquals(2 * CHUNK, slow);
    for (int i = 1; i < CHUNK; i++) {
      table.next();
    }
    commit(table, CHUNK + 1, 60);
    forget(table, 100);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK));
    table.enter(slow);
    assertEquals(TransactionTable.ACTIVE, table.status(slow));
    assertArrayEquals(new long[] {slow}, table.oldestActive(1));
    forget(table, 100);
    table.committing(slow);
    table.committed(slow, 70);
    assertEquals(70, table.status(slow));
  }

  @Test
  void enter_byManyThreadsWhileAnotherForgets() {
    TransactionTable table = table(7);
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int i = 0; i < 20_000; i++) {
                    long id = table.enter();
                    table.committing(id);
                    table.committed(id, 100 + id);
                  }
                } catch (Throwable e) {
                  failures.add(e);
                }
              }));
    }
    while (threads.stream().anyMatch(Thread::isAlive)) {
      forget(table, 100 + table.highestId() / 2);
    }
    assertEquals(List.of(), failures);
    assertTrue(table.highestId() >= 80_007, "each has blocks of ids");
    assertArrayEquals(new long[0], table.writing());
  }

  @Test
  void R21_a_prepared_transaction_keeps_no_chunk() {
    TransactionTable table = table(17);
    long id = table.enter();
    table.prepare(id);
    assertEquals(TransactionTable.ACTIVE, table.status(id));
    assertFalse(table.isPrepared(id), "nothing is published");
    table.prepared(id);
    assertTrue(table.isPrepared(id));
    commit(table, 3 * CHUNK, 100);
    forget(table, 100);
    assertFalse(table.mayForget());
    assertEquals(TransactionTable.ACTIVE, table.status(id));
    assertArrayEquals(new long[] {id}, table.writing());
    assertEquals(0, table.oldestActive(9).length);
    table.committing(id);
    assertEquals(TransactionTable.COMMITTING, table.status(id));
    table.stillPrepared(id);
    assertTrue(table.isPrepared(id));
    table.committing(id);
    table.committed(id, 200);
    forget(table, 199);
    assertEquals(200, table.status(id));
    forget(table, 200);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(id));
  }

  @Test
  void R20_who_has_met_one_that_could_not_be_prepared_waits_for_nothing() {
    TransactionTable table = table(17);
    long id = table.enter();
    table.prepare(id);
    LongSupplier met = Objects.requireNonNull(table.ofPrepared(id));
    assertEquals(TransactionTable.ACTIVE, met.getAsLong());
    table.notPrepared(id);
    assertEquals(TransactionTable.ABORTED, met.getAsLong());
    assertNull(table.ofPrepared(id));
    assertEquals(TransactionTable.ACTIVE, table.status(id), "it goes on");
  }

  @Test
  void one_that_was_prepared_in_a_former_life_is_active_until_it_is_decided() {
    TransactionTable table =
        new TransactionTable(aborted, 5_000, new long[] {4_999, 3}, WaitMeter.NONE);
    long id = table.enter();
    for (long prepared : new long[] {3, 4_999}) {
      assertTrue(table.isPrepared(prepared));
      assertEquals(TransactionTable.ACTIVE, table.status(prepared));
    }
    assertArrayEquals(new long[] {id, 3, 4_999}, table.writing());
    assertArrayEquals(new long[] {id}, table.oldestActive(1));
    aborted.add(3);
    assertEquals(TransactionTable.ACTIVE, table.status(3), "its ABORT is not published yet");
    table.aborted(3);
    assertEquals(TransactionTable.ABORTED, table.status(3));
    forget(table, 10);
    assertEquals(TransactionTable.ABORTED, table.status(3), "it is in the map");
    aborted.remove(3);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(3));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(4));
  }

  @Test
  void a_waiter_for_a_prepared_transaction_is_woken_when_it_stays_prepared()
      throws InterruptedException {
    TransactionTable table = new TransactionTable(aborted, 0, /* slice= */ Long.MAX_VALUE / 4);
    long id = table.enter();
    table.prepare(id);
    table.prepared(id);
    table.committing(id);
    AtomicLong outcome = new AtomicLong();
    Thread reader = sleeping(() -> outcome.set(table.outcome(id)));
    table.stillPrepared(id);
    reader.join();
    assertEquals(TransactionTable.ACTIVE, outcome.get());
  }
}
