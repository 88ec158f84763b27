package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.revenantdb.latch.ParkingLot.Wake;

/** How long others may barge past a waiter, by a clock that the test moves. */
@ExtendWith(NobodyTakesOver.class)
class FairnessTest {
  private static final long FAIRNESS = 100;
  private static final int WAITS = 40;

  private final AtomicLong now = new AtomicLong();
  private final ParkingLot lot = new ParkingLot(1, FAIRNESS, now::get);
  private final Object owner = new Object();

  /** Two threads that barge past each other in step would do so for ever (Go's mutex). */
  @Test
  void fairnessTime_isNotAlwaysTheSame() throws InterruptedException {
    TreeSet<Long> times = new TreeSet<>();
    for (int i = 0; i < WAITS; i++) {
      times.add(timeUntilHandOver());
    }
    assertTrue(times.size() > WAITS / 4, times::toString);
    assertTrue(times.first() >= FAIRNESS / 2, times::toString);
    assertTrue(times.last() <= FAIRNESS * 3 / 2, times::toString);
  }

  private long timeUntilHandOver() throws InterruptedException {
    now.addAndGet(10 * FAIRNESS); // the last time is over
    long start = now.get();
    Thread waiter = new Thread(() -> lot.park(owner, 0, () -> true));
    waiter.start();
    Await.until(() -> lot.queuedNear(owner, 0) == 1);
    while (!isHandOverDue()) {
      now.incrementAndGet();
    }
    lot.unparkAll(owner, 0);
    waiter.join();
    return now.get() - start;
  }

  private boolean isHandOverDue() {
    AtomicBoolean due = new AtomicBoolean();
    lot.unpark(
        owner,
        0,
        (_, head) -> {
          due.set(head.handOverDue());
          return Wake.NONE;
        });
    return due.get();
  }
}
