package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/** R17: room in the log is reserved, not checked. */
class LogSpaceTest {
  private final AtomicLong tail = new AtomicLong(1000);
  private final AtomicInteger hurries = new AtomicInteger();

  private LogSpace space(long limit, long reserve) {
    return new LogSpace(tail::get, limit, reserve, hurries::incrementAndGet);
  }

  /** If sessions only passed a check, all together would fill the log; credit admits only some. */
  @Test
  void R17_many_sessions_together_never_go_beyond_the_bound() throws InterruptedException {
    LogSpace space = space(10_000, 2_000);
    AtomicLong worst = new AtomicLong();
    AtomicLong redoPoint = new AtomicLong(1000);
    List<Thread> sessions = new ArrayList<>();
    CountDownLatch running = new CountDownLatch(32);
    for (int session = 0; session < 32; session++) {
      sessions.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int i = 0; i < 300; i++) {
                  space.acquire(500);
                  tail.addAndGet(100); // publishes less than its worst case
                  worst.accumulateAndGet(tail.get() - redoPoint.get(), Math::max);
                  space.release(500);
                }
                running.countDown();
              }));
    }
    while (running.getCount() > 0) {
      redoPoint.set(tail.get());
      space.redoPointMoved(redoPoint.get());
      Await.pause();
    }
    for (Thread session : sessions) {
      session.join();
    }
    assertTrue(worst.get() <= 8_000, "log in use: " + worst);
    assertEquals(0, space.used() - (tail.get() - redoPoint.get()));
  }

  /** Granted credit counts, even if none of its bytes is in the log yet. */
  @Test
  void R17_credit_is_a_reservation() throws InterruptedException {
    LogSpace space = space(10_000, 2_000);
    for (int i = 0; i < 8; i++) {
      space.acquire(1_000);
    }
    CountDownLatch granted = new CountDownLatch(1);
    Thread ninth =
        Thread.ofPlatform()
            .start(() -> {
              space.acquire(1_000);
              granted.countDown();
            });
    while (ninth.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    assertEquals(1, granted.getCount());
    assertTrue(hurries.get() > 0, "the checkpointer was asked");
    space.release(1_000);
    granted.await();
    ninth.join();
  }

  /** COMMIT, ABORT and CHECKPOINT take no credit: the log continues when all credit is granted. */
  @Test
  void R17_the_redo_point_can_move_when_all_credit_is_given() throws InterruptedException {
    LogSpace space = space(10_000, 2_000);
    space.acquire(8_000);
    tail.addAndGet(8_000);
    space.release(8_000);
    Thread waiting = Thread.ofPlatform().start(() -> space.acquire(5_000));
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    tail.addAndGet(500); // the checkpoint's own records
    space.redoPointMoved(tail.get());
    waiting.join();
    assertEquals(5_000, space.used());
  }

  @Test
  void what_can_never_be_granted_is_refused() {
    LogSpace space = space(10_000, 2_000);
    assertThrows(IllegalArgumentException.class, () -> space.acquire(8_001));
    space.acquire(8_000);
  }

  @Test
  void a_stopped_engine_fails_waiting_and_later_callers() throws InterruptedException {
    LogSpace space = space(10_000, 2_000);
    space.acquire(8_000);
    List<Throwable> thrown = new ArrayList<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(() ->
                thrown.add(assertThrows(LogStoppedException.class, () -> space.acquire(1_000))));
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    RuntimeException cause = new RuntimeException("the disk is gone");
    space.stop(cause);
    waiting.join();
    assertEquals(cause, thrown.getFirst().getCause());
    assertThrows(LogStoppedException.class, () -> space.acquire(1));
  }

  @Test
  void a_waiter_that_is_interrupted_stays_so() throws InterruptedException {
    LogSpace space = space(10_000, 2_000);
    space.acquire(8_000);
    boolean[] interrupted = new boolean[1];
    Thread waiting =
        Thread.ofPlatform()
            .start(() -> {
              space.acquire(1_000);
              interrupted[0] = Thread.currentThread().isInterrupted();
            });
    waiting.interrupt();
    assertFalse(interrupted[0]);
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    space.release(8_000);
    waiting.join();
    assertTrue(interrupted[0]);
  }
}
