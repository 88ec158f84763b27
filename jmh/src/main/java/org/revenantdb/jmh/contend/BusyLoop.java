package org.revenantdb.jmh.contend;

/**
 * Work of a known length that touches no memory: a chain of dependent steps, so that no compiler
 * can shorten it and two processors share nothing.
 */
public final class BusyLoop {
  private static final int CALIBRATION_STEPS = 200_000;
  private static final int CALIBRATIONS = 40;

  private BusyLoop() {}

  /**
   * Takes some steps.
   *
   * @param start where the chain begins
   * @param steps how many steps; 0 returns at once
   * @return where the chain ends; use it, or the loop is gone
   */
  public static long burn(long start, int steps) {
    long x = start | 1;
    for (int i = 0; i < steps; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  /**
   * Finds out how many steps fit into a microsecond here, by the fastest of many tries: whatever
   * disturbs only makes slower.
   *
   * @return steps per microsecond
   */
  public static double stepsPerMicrosecond() {
    return CALIBRATION_STEPS * 1e3 / fastestNanos(CALIBRATION_STEPS, CALIBRATIONS);
  }

  /**
   * Times the loop.
   *
   * @param steps of one try
   * @param tries how many
   * @return the fastest try, in nanoseconds
   */
  public static long fastestNanos(int steps, int tries) {
    long fastest = Long.MAX_VALUE;
    long x = 1;
    for (int i = 0; i < tries; i++) {
      long start = System.nanoTime();
      x = burn(x, steps);
      fastest = Math.min(fastest, System.nanoTime() - start);
    }
    // The chain never reaches 0; the compiler does not know.
    return x == 0 ? 0 : fastest;
  }
}
