package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.testing.Await;

/** Which attempts pause after a conflict, and what ends a pause (docs/protocols.md §40). */
class BackoffTest {
  private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** So many failures in a row that pauses are as long as they get. */
  private static final int MANY = 100;

  private final AtomicLong clock = new AtomicLong(7);
  private final AtomicLong commits = new AtomicLong();
  private final AtomicInteger pauses = new AtomicInteger();
  private final AtomicBoolean isPausing = new AtomicBoolean();

  private final WaitMeter meter =
      new WaitMeter() {
        @Override
        public String waitClass() {
          return "pause";
        }

        @Override
        public @Nullable Object begin() {
          isPausing.set(true);
          return null;
        }

        @Override
        public void end(@Nullable Object begun) {
          pauses.incrementAndGet();
        }
      };

  private Backoff backoff(long longest) {
    return new Backoff(longest, commits::get, clock::get, meter);
  }

  /** A clock like that of the system: each read is a little later. */
  private Backoff backoffOfPassingTime(long longest) {
    return new Backoff(longest, commits::get, () -> clock.addAndGet(LONGEST / 4), meter);
  }

  @Test
  void no_attempt_pauses_where_pauses_are_switched_off() {
    Backoff backoff = backoffOfPassingTime(0);
    backoff.fixCeiling(LONGEST);
    for (ConflictReason reason : ConflictReason.values()) {
      backoff.pause(reason, MANY, MANY);
    }
    assertEquals(0, pauses.get());
  }

  @Test
  void no_attempt_pauses_without_contention() {
    Backoff backoff = backoffOfPassingTime(LONGEST);
    backoff.fixCeiling(0);
    for (int times = 1; times <= 3; times++) {
      backoff.pause(ConflictReason.ROW_IN_USE, 1, times);
      backoff.pause(ConflictReason.ROW_CHANGED, times, times);
      backoff.pause(ConflictReason.NOT_SERIALIZABLE, times, times);
    }
    backoff.pause(ConflictReason.TABLE_CHANGED, MANY, MANY);
    assertEquals(0, pauses.get());
  }

  /** Or a thousand attempts against it would be over in a moment. */
  @Test
  void a_second_conflict_with_the_same_transaction_pauses_whatever_the_ceiling() {
    Backoff backoff = backoffOfPassingTime(LONGEST);
    backoff.fixCeiling(0);
    backoff.pause(ConflictReason.ROW_IN_USE, 2, 2);
    assertEquals(1, pauses.get());
    backoff.pause(ConflictReason.DEADLOCK, 1, 1);
    assertEquals(2, pauses.get());
    backoff.pause(ConflictReason.TABLE_IN_USE, Integer.MAX_VALUE, 1);
    assertEquals(3, pauses.get());
  }

  @Test
  void a_fourth_failure_pauses_whatever_the_ceiling() {
    Backoff backoff = backoffOfPassingTime(LONGEST);
    backoff.fixCeiling(0);
    backoff.pause(ConflictReason.ROW_IN_USE, 1, 4);
    backoff.pause(ConflictReason.ROW_CHANGED, 1, 5);
    backoff.pause(ConflictReason.NOT_SERIALIZABLE, 1, 6);
    assertEquals(3, pauses.get());
  }

  @Test
  void under_contention_every_attempt_pauses_that_a_new_snapshot_does_not_help() {
    Backoff backoff = backoffOfPassingTime(LONGEST);
    backoff.fixCeiling(LONGEST);
    backoff.pause(ConflictReason.ROW_IN_USE, 1, 1);
    backoff.pause(ConflictReason.ROW_CHANGED, 1, 1);
    backoff.pause(ConflictReason.NOT_SERIALIZABLE, 1, 1);
    assertEquals(3, pauses.get());
    backoff.pause(ConflictReason.TABLE_CHANGED, 1, 1);
    assertEquals(3, pauses.get());
  }

  /** Time stands still here: nothing but the interrupt can end the pause. */
  @Test
  void an_interrupt_ends_a_pause_and_is_not_lost() throws InterruptedException {
    for (long longest : new long[] {LONGEST, 1000}) { // parked, and not
      isPausing.set(false);
      Backoff backoff = backoff(longest);
      AtomicBoolean isInterrupted = new AtomicBoolean();
      Thread paused =
          new Thread(() -> {
            backoff.pause(ConflictReason.DEADLOCK, MANY, MANY);
            isInterrupted.set(Thread.currentThread().isInterrupted());
          });
      paused.start();
      while (!isPausing.get()) {
        Await.pause();
      }
      paused.interrupt();
      paused.join();
      assertTrue(isInterrupted.get());
    }
  }

  @Test
  void an_unpark_that_was_meant_for_another_park_does_not_end_a_pause() throws Exception {
    Backoff backoff = backoff(LONGEST);
    Thread paused = new Thread(() -> backoff.pause(ConflictReason.DEADLOCK, MANY, MANY));
    paused.start();
    while (!isPausing.get()) {
      Await.pause();
    }
    for (int i = 0; i < 1000; i++) {
      java.util.concurrent.locks.LockSupport.unpark(paused);
      Thread.yield();
    }
    assertEquals(0, pauses.get());
    clock.addAndGet(LONGEST);
    java.util.concurrent.locks.LockSupport.unpark(paused);
    paused.join();
    assertEquals(1, pauses.get());
  }

  /** Someone comes by each millisecond, and more is committed the longer pauses are. */
  private Backoff climbed() {
    Backoff backoff = backoff(LONGEST);
    for (int i = 0; i < 5_000; i++) {
      clock.addAndGet(SECOND / 1000);
      commits.addAndGet(100 + backoff.ceiling() / 1000);
      backoff.look(clock.get());
    }
    return backoff;
  }

  @Test
  void the_ceiling_is_what_the_climb_says() {
    assertTrue(climbed().ceiling() > 0);
  }

  @Test
  void there_is_no_ceiling_after_a_second_without_a_conflict() {
    Backoff backoff = climbed();
    clock.addAndGet(2 * SECOND);
    assertEquals(0, backoff.ceiling());
    int before = pauses.get();
    backoff.pause(ConflictReason.ROW_CHANGED, 1, 1); // time stands still: it would not return
    assertEquals(before, pauses.get());
    assertEquals(0, backoff.ceiling());
  }
}
