package org.revenantdb.jmh.fork;

import java.util.function.LongSupplier;

/** Repeats a piece of work of fixed size until it takes the same time twice. */
public final class WarmUp {
  /** It is steady when two rounds in succession differ by at most this part. */
  private static final double STEADY = 0.05;

  /** No further round begins after this time: an engine on a busy machine is never steady. */
  private static final long LONGEST_NANOS = 3_000_000_000L;

  private WarmUp() {}

  /** A round of the work. */
  @FunctionalInterface
  public interface Round {
    /**
     * Runs it.
     *
     * @return how many seconds it took
     * @throws Exception whatever it throws
     */
    double seconds() throws Exception;
  }

  /**
   * Runs rounds, at least two, until they are steady.
   *
   * @param round one of them
   * @throws Exception whatever a round throws
   */
  public static void untilSteady(Round round) throws Exception {
    untilSteady(round, System::nanoTime);
  }

  static void untilSteady(Round round, LongSupplier nanoTime) throws Exception {
    long start = nanoTime.getAsLong();
    double before = round.seconds();
    double now = round.seconds();
    while (Math.abs(now - before) > STEADY * before
        && nanoTime.getAsLong() - start < LONGEST_NANOS) {
      before = now;
      now = round.seconds();
    }
  }
}
