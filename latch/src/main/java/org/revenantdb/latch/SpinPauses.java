package org.revenantdb.latch;

/**
 * How long to spin before it is better to park, and nothing else.
 *
 * <p>Use it for a wait that ends within the time of a few cache misses: a compare-and-set that
 * lost, a latch whose holder runs on another processor. Each round pauses twice as long as the one
 * before; then the budget is used up.
 *
 * <p>The budget follows from the number of processors alone. On one there is none: the holder
 * cannot run while we spin. On few it is tiny: a spinner that wins takes the cache line from the
 * one other thread that was making progress, and both go on at the speed of cache misses, where a
 * parked one would have let the other run (`bench latch`, two threads, empty sections). With more
 * processors more work hangs on each wait.
 *
 * {@snippet :
 * for (int round = 0; !tryIt(); round++) {
 *   if (!SpinPauses.pause(round)) {
 *     park();
 *   }
 * }
 * }
 */
public final class SpinPauses {
  /** Rounds that pause 2, 4, 8 ... times. */
  static final int ROUNDS = rounds(Runtime.getRuntime().availableProcessors());

  /** Whether somebody else can run while we spin. */
  static final boolean OTHERS_RUN = Runtime.getRuntime().availableProcessors() > 1;

  private static final int MOST_ROUNDS = 6;

  private SpinPauses() {}

  /**
   * Waits a little, longer in later rounds.
   *
   * @param round how often the caller has failed before, from 0
   * @return false, at once and without a wait, when the budget is used up: park
   */
  public static boolean pause(int round) {
    if (round >= ROUNDS) {
      return false;
    }
    spin(2 << round);
    return true;
  }

  /** One for each doubling of the number of processors beyond two. */
  static int rounds(int processors) {
    int doublings = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(Math.max(1, processors));
    return Math.clamp(doublings - 1, 0, MOST_ROUNDS);
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }
}
