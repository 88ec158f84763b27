package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules of waiters and wakers, played step by step. */
@Timeout(60)
class LsnWaitersTest {
  private static final long LSN = 10;

  private final LsnWaiters waiters = new LsnWaiters();
  private final AtomicLong position = new AtomicLong();

  private Thread waiting(long lsn) {
    Thread waiter =
        Thread.ofPlatform()
            .daemon()
            .start(() -> waiters.await(lsn, wanted -> position.get() >= wanted));
    while (waiters.isEmpty()) {
      Thread.onSpinWait();
    }
    return waiter;
  }

  /**
   * One waker holds the stack and finds the waiter's position not reached; it is reached then, and
   * a second waker finds the stack empty; the first pushes the waiter back. Nobody else may come:
   * the first has to look again, or the waiter sleeps on until its slice is over.
   */
  @Test
  void a_waiter_pushed_back_after_a_second_waker_found_nobody_is_seen_by_the_first()
      throws InterruptedException {
    Thread waiter = waiting(LSN);
    List<Boolean> seenByTheFirst = new ArrayList<>();
    waiters.wake(lsn -> {
      boolean reached = position.get() >= lsn;
      if (seenByTheFirst.isEmpty()) {
        assertTrue(waiters.isEmpty(), "the first waker holds the stack");
        position.set(LSN);
        waiters.wake(wanted -> position.get() >= wanted); // the second one, from begin to end
      }
      seenByTheFirst.add(reached);
      return reached;
    });
    assertTrue(seenByTheFirst.getLast(), "the first left a waiter behind that could go");
    waiter.join();
  }

  /** Looking again must not become looking for ever. */
  @Test
  void a_waker_leaves_those_alone_whose_position_is_not_reached() throws InterruptedException {
    Thread waiter = waiting(LSN);
    position.set(LSN - 1);
    AtomicLong looks = new AtomicLong();
    waiters.wake(lsn -> {
      looks.incrementAndGet();
      return position.get() >= lsn;
    });
    assertEquals(2, looks.get(), "once when it takes the waiter, once when it has put it back");
    position.set(LSN);
    waiters.wakeAll();
    waiter.join();
  }
}
