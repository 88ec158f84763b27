package org.revenantdb.latch;

import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;

/** Waits in tests for a state that another thread is about to reach, by looking at it. */
final class Await {
  private Await() {}

  /**
   * Returns when the state is reached, however slow the machine is. If it never is, the build's
   * watch for hangs fails the test and shows all threads.
   */
  static void until(BooleanSupplier state) {
    while (!state.getAsBoolean()) {
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
}
