package org.revenantdb.engine.change;

import org.jspecify.annotations.Nullable;

/**
 * The places between the publication of a record and the last change of that record, where tests
 * cause exceptions (R18): before the first change and after each change.
 *
 * <p>Threads: a test sets it for its own thread; other threads may or may not see it.
 */
public final class AfterPublish {
  private static @Nullable Runnable failpoint;

  private AfterPublish() {}

  /** Called at each of the places. Without a test it has no effect. */
  public static void passed() {
    Runnable set = failpoint;
    if (set != null) {
      set.run();
    }
  }

  /**
   * For tests: sets the action that runs at each place, on any thread that passes it; null for
   * none.
   */
  static void set(@Nullable Runnable newFailpoint) {
    failpoint = newFailpoint;
  }
}
