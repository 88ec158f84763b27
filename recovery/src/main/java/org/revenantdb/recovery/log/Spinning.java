package org.revenantdb.recovery.log;

import java.util.concurrent.TimeUnit;

/**
 * Whether it pays to stay awake for something that is expected soon, learnt from the last times.
 *
 * <p>A thread that parks is woken late: 50 us on a virtual machine whose processors sleep when they
 * are idle, and it costs whoever wakes it a system call. Where a force takes 150 us, two such hops
 * for each commit are two thirds of it. So one waits awake where that has worked out before, for a
 * limited time, and not at all on a machine with one processor.
 *
 * <p>Threads: one.
 */
final class Spinning {
  /** What is longer away than two wake-ups is not worth staying awake for. */
  static final long LONGEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  static final boolean OTHERS_RUN = Runtime.getRuntime().availableProcessors() > 1;

  /** Looks between two looks at the clock. */
  static final int LOOKS = 16;

  private static final int MOST = 4;
  private static final int PROBE_EVERY = 16;

  /** Above 0: it has paid more often than not. */
  private int score = 1;

  private int refused;

  Spinning() {}

  /** Whether to stay awake this time; now and then, to learn, also if it has not paid. */
  boolean isWorthIt() {
    if (!OTHERS_RUN) {
      return false;
    }
    if (score > 0) {
      return true;
    }
    if (++refused < PROBE_EVERY) {
      return false;
    }
    refused = 0;
    return true;
  }

  /** Whether what was expected came in time. */
  void learn(boolean came) {
    score = came ? Math.min(MOST, score + 1) : Math.max(0, score - 1);
  }
}
