package org.revenantdb.latch;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;

/** Waits in tests for a state that another thread is about to reach, by looking at it. */
final class Await {
  private static final long LIMIT = TimeUnit.MINUTES.toNanos(2);

  private Await() {}

  /**
   * Fails only when the state is not reached in minutes: that is a lost wake-up, not a slow test.
   */
  static void until(BooleanSupplier state) {
    long start = System.nanoTime();
    while (!state.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT) {
        throw new AssertionError("never happened");
      }
      Thread.yield();
    }
  }

  /**
   * Skips a test in which a virtual thread waits here while others have to run: with one processor
   * there is one carrier, which it may keep.
   */
  static void assumeSeveralCarriers() {
    Assumptions.assumeTrue(
        Runtime.getRuntime().availableProcessors() > 1, "there is one processor");
  }

  /** Joins, and fails instead of hanging. */
  static void join(Thread thread) throws InterruptedException {
    if (!thread.join(java.time.Duration.ofMinutes(2))) {
      AssertionError hangs = new AssertionError(thread + " hangs");
      hangs.setStackTrace(thread.getStackTrace());
      throw hangs;
    }
  }
}
