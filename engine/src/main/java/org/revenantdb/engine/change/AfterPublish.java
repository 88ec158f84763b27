package org.revenantdb.engine.change;

import org.jspecify.annotations.Nullable;

/**
 * The places between a record that is published and the last change that it stands for, where tests
 * let something be thrown (R18): before anything has changed, and behind each change.
 *
 * <p>Threads: what a test sets is for its own thread; others may or may not see it.
 */
public final class AfterPublish {
  private static @Nullable Runnable failpoint;

  private AfterPublish() {}

  /** Is passed at each of the places; does nothing where no test has set anything. */
  public static void passed() {
    Runnable set = failpoint;
    if (set != null) {
      set.run();
    }
  }

  /** For tests: runs at each place, on whatever thread comes by; null for nothing. */
  static void set(@Nullable Runnable newFailpoint) {
    failpoint = newFailpoint;
  }
}
