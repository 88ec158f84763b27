package org.revenantdb.latch;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;

/** Waits in tests for a state that another thread is about to reach, by looking at it. */
final class Await {
  private Await() {}

  /**
   * Returns when the state is reached, however slow the machine is. If it never is, the build's
   * watch for hangs fails the test and shows all threads. A virtual thread leaves its carrier: one
   * that only yields may be taken up again and again, and no other.
   */
  static void until(BooleanSupplier state) {
    while (!state.getAsBoolean()) {
      if (Thread.currentThread().isVirtual()) {
        LockSupport.parkNanos(20_000);
      } else {
        Thread.yield();
      }
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
}
