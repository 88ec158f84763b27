package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.txn.RowTurns.Turn;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.testing.Await;

/** Turns of transactions that are retried because of rows (docs/protocols.md §40). */
class RowTurnsTest {
  private static final Row A = row(1);
  private static final Row B = row(2);
  private static final Row C = row(3);

  private final RowTurns turns = new RowTurns(WaitMeter.NONE);
  private final List<Thread> threads = new ArrayList<>();

  RowTurnsTest() {
    turns.slice(TimeUnit.HOURS.toNanos(1));
  }

  private static Row row(int key) {
    return new Row(7, new byte[] {(byte) key});
  }

  @AfterEach
  void all_rows_are_forgotten() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, turns.rows());
  }

  private void await(Turn turn, Row... rows) {
    long never = System.nanoTime() + TimeUnit.DAYS.toNanos(1);
    turns.await(turn, List.of(rows), never, () -> false);
  }

  private Thread inThread(Runnable work) {
    Thread thread = new Thread(work);
    threads.add(thread);
    thread.start();
    return thread;
  }

  /** It waits in another thread. */
  private Thread waits(Turn turn, Row... rows) {
    int before = turns.waiting(rows[0]);
    Thread thread = inThread(() -> await(turn, rows));
    while (turns.waiting(rows[0]) == before) {
      Await.pause();
    }
    return thread;
  }

  private Turn taken(Row... rows) {
    Turn turn = new Turn();
    await(turn, rows);
    assertTrue(turn.isTaken());
    return turn;
  }

  @Test
  void of_two_that_want_the_same_row_one_runs() throws Exception {
    Turn first = taken(A);
    Turn second = new Turn();
    Thread thread = waits(second, A);
    assertFalse(second.isTaken());
    turns.leave(first);
    thread.join();
    assertTrue(second.isTaken());
    turns.leave(second);
  }

  @Test
  void those_that_want_different_rows_run_side_by_side() {
    Turn one = taken(A, B);
    Turn other = taken(C);
    turns.leave(one);
    turns.leave(other);
  }

  @Test
  void it_gets_all_its_rows_or_none_and_keeps_the_younger_from_them() throws Exception {
    Turn first = taken(A);
    Turn both = new Turn();
    Turn younger = new Turn();
    Thread bothThread = waits(both, A, B);
    Thread youngerThread = waits(younger, B);
    assertFalse(younger.isTaken(), "the elder would never get its two rows at once");
    turns.leave(first);
    bothThread.join();
    assertFalse(younger.isTaken());
    turns.leave(both);
    youngerThread.join();
    assertTrue(younger.isTaken());
    turns.leave(younger);
  }

  @Test
  void a_turn_that_failed_again_comes_before_younger_ones_with_all_its_rows() throws Exception {
    Turn elder = taken(A);
    Turn younger = new Turn();
    Thread youngerThread = waits(younger, A);
    Turn other = taken(B);
    turns.leave(elder); // its attempt has failed, because of B
    youngerThread.join();
    Turn youngest = new Turn();
    Thread youngestThread = waits(youngest, B);
    Thread elderThread = inThread(() -> await(elder, B));
    while (turns.waiting(B) < 2) {
      Await.pause();
    }
    turns.leave(other);
    assertFalse(elder.isTaken(), "of A it has the next turn, not this one");
    assertFalse(youngest.isTaken());
    turns.leave(younger);
    elderThread.join();
    assertTrue(elder.isTaken());
    turns.leave(elder);
    youngestThread.join();
    turns.leave(youngest);
  }

  @Test
  void an_interrupt_ends_the_wait_and_stays() throws Exception {
    Turn first = taken(A);
    Turn second = new Turn();
    AtomicInteger interrupted = new AtomicInteger();
    Thread thread =
        inThread(() -> {
          await(second, A);
          interrupted.set(Thread.currentThread().isInterrupted() ? 1 : 2);
          turns.leave(second);
        });
    while (turns.waiting(A) == 0) {
      Await.pause();
    }
    thread.interrupt();
    thread.join();
    assertEquals(1, interrupted.get());
    assertEquals(0, turns.waiting(A));
    turns.leave(first);
  }

  @Test
  void the_deadline_ends_the_wait() {
    Turn first = taken(A);
    Turn second = new Turn();
    turns.await(second, List.of(A), System.nanoTime(), () -> false);
    assertFalse(second.isTaken());
    turns.leave(second);
    turns.leave(first);
  }

  /** A running turn may wait for its user, which may wait for this turn. */
  @Test
  void the_eldest_goes_ahead_where_nothing_moves() {
    turns.slice(1);
    Turn first = taken(A);
    Turn second = taken(A);
    Turn third = taken(A);
    turns.leave(first);
    turns.leave(second);
    turns.leave(third);
  }

  @Test
  void to_leave_twice_or_before_it_has_waited_is_nothing() {
    Turn turn = new Turn();
    turns.leave(turn);
    await(turn, A);
    turns.leave(turn);
    turns.leave(turn);
  }

  /** Fails on a turn that is not passed on (it ends then never), and on two that run at a time. */
  @Test
  void many_with_many_rows_all_get_their_turns_one_at_a_time() throws Exception {
    AtomicInteger[] running = new AtomicInteger[5];
    for (int row = 0; row < running.length; row++) {
      running[row] = new AtomicInteger();
    }
    List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < 8; t++) {
      Random random = new Random(t);
      inThread(() -> {
        for (int i = 0; i < 500; i++) {
          Turn turn = new Turn();
          for (int attempt = 0; attempt < 3; attempt++) {
            int one = random.nextInt(running.length);
            int other = random.nextInt(running.length);
            await(turn, row(one), row(other));
            if (running[one].incrementAndGet() != 1) {
              wrong.add("row " + one);
            }
            Thread.yield();
            running[one].decrementAndGet();
            turns.leave(turn);
          }
        }
      });
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), wrong);
  }
}
