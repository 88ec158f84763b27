package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WaitStatisticsTest {
  private final WaitStatistics statistics = new WaitStatistics("leaf");
  private final HybridLatch latch = new HybridLatch();

  @Test
  void acquisition_servedAtOnceIsNotCounted() {
    latch.acquireExclusive(statistics);
    latch.releaseExclusive();
    latch.acquireShared(statistics);
    latch.releaseShared();
    assertTrue(latch.tryAcquireExclusive(1, statistics));
    latch.releaseExclusive();
    assertEquals(0, statistics.waits());
    assertEquals("leaf: 0 waits, 0 ns", statistics.toString());
  }

  @Test
  void acquisition_thatTimedOutIsCountedWithItsTime() {
    latch.acquireExclusive();
    assertFalse(latch.tryAcquireExclusive(1_000, statistics));
    assertFalse(latch.tryAcquireShared(1_000, statistics));
    assertEquals(2, statistics.waits());
    assertTrue(statistics.waitedNanos() >= 2_000, statistics::toString);
    latch.releaseExclusive();
  }

  @Test
  void acquisition_thatParkedIsCountedOnce() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        Thread.startVirtualThread(() -> {
          latch.acquireShared(statistics);
          latch.releaseShared();
        });
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    latch.releaseExclusive();
    waiter.join();
    assertEquals(1, statistics.waits());
    assertEquals("leaf", statistics.latchClass());
  }
}
