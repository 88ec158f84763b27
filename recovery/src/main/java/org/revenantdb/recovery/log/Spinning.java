package org.revenantdb.recovery.log;

import java.util.concurrent.TimeUnit;

/**
 * Decides whether it pays to spin for an event that is expected soon, from the experience of the
 * last times.
 *
 * <p>A parked thread is woken late: after 50 us on a virtual machine whose processors sleep when
 * they are idle. The wake-up also costs the waking thread a system call. If a force takes 150 us,
 * two such wake-ups for each commit take two thirds of that time. So a thread spins if that has
 * paid before, for a limited time, and never on a machine with one processor.
 *
 * <p>Threads: one.
 */
final class Spinning {
  /** Spinning does not pay for an event that takes longer than two wake-ups. */
  static final long LONGEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  static final boolean OTHERS_RUN = Runtime.getRuntime().availableProcessors() > 1;

  /** The number of checks between two reads of the clock. */
  static final int LOOKS = 16;

  private static final int MOST = 4;
  private static final int PROBE_EVERY = 16;

  /** Above 0: it has paid more often than not. */
  private int score = 1;

  private int refused;

  Spinning() {}

  /** Whether to spin this time. Sometimes true even if it has not paid, in order to learn. */
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

  /** Learns whether the event came in time. */
  void learn(boolean came) {
    score = came ? Math.min(MOST, score + 1) : Math.max(0, score - 1);
  }
}
