package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Crowds of virtual threads, which are parked and woken by other means than platform threads. */
class VirtualThreadsTest {
  private static final int CROWD = Boolean.getBoolean("revenant.long") ? 100_000 : 30_000;

  private final HybridLatch latch = new HybridLatch();

  /** Protected by the latch. */
  private int entered;

  @Test
  void crowd_allGetTheLatch() throws InterruptedException {
    latch.acquireExclusive();
    List<Thread> crowd = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      crowd.add(
          Thread.startVirtualThread(() -> {
            latch.acquireExclusive();
            entered++;
            latch.releaseExclusive();
          }));
    }
    Await.until(() -> ParkingLot.global().queuedNear(latch, 0) == CROWD);
    latch.releaseExclusive();
    for (Thread thread : crowd) {
      thread.join();
    }
    assertEquals(CROWD, entered);
    assertEquals(LatchWord.FREE, latch.wordOpaque());
  }

  @Test
  void crowd_waitsForACondition() throws InterruptedException {
    AtomicBoolean ended = new AtomicBoolean();
    AtomicInteger seen = new AtomicInteger();
    Object transactions = new Object();
    List<Thread> crowd = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      crowd.add(
          Thread.startVirtualThread(() -> {
            while (!ended.get()) {
              ParkingLot.global().park(transactions, 42, () -> !ended.get());
            }
            seen.incrementAndGet();
          }));
    }
    Await.until(() -> ParkingLot.global().queuedNear(transactions, 42) > CROWD / 2);
    ended.set(true);
    ParkingLot.global().unparkAll(transactions, 42);
    for (Thread thread : crowd) {
      thread.join();
    }
    assertEquals(CROWD, seen.get());
  }

  /** JDK-8369227: an unpark was lost in an untimed park right after a timed one. */
  @Test
  void timedThenUntimed_losesNoWakeUp() throws InterruptedException {
    List<Thread> pair = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      pair.add(
          Thread.startVirtualThread(() -> {
            for (int round = 0; round < 20_000; round++) {
              if (!latch.tryAcquireExclusive(1_000)) {
                latch.acquireExclusive();
              }
              Thread.yield(); // so that the others park
              entered++;
              latch.releaseExclusive();
            }
          }));
    }
    for (Thread thread : pair) {
      thread.join();
    }
    assertEquals(4 * 20_000, entered);
  }
}
