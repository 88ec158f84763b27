package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;

/** Counts waits, and lets a test wait for the first one. */
final class CountingMeter implements WaitMeter {
  private final AtomicInteger begins = new AtomicInteger();
  private final AtomicInteger ends = new AtomicInteger();
  private final CountDownLatch first = new CountDownLatch(1);

  @Override
  public String waitClass() {
    return "test";
  }

  @Override
  public Object begin() {
    begins.incrementAndGet();
    first.countDown();
    return this;
  }

  @Override
  public void end(@Nullable Object begun) {
    assertEquals(this, begun);
    ends.incrementAndGet();
  }

  void awaitFirst() {
    try {
      first.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Asserts the number of waits that have begun, and ended. */
  void assertWaits(int waits) {
    assertEquals(waits, begins.get());
    assertEquals(waits, ends.get());
  }
}
