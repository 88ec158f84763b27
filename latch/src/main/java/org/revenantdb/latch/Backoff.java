package org.revenantdb.latch;

/**
 * How long to spin before it is better to park, and nothing else.
 *
 * <p>Use it for a wait that ends within the time of a few cache misses: a compare-and-set that
 * lost, a latch whose holder runs on another processor. The first rounds pause for twice as long
 * each, the later ones yield; then the budget is used up. On a machine with one processor the
 * holder cannot run while we spin, so there the rounds only yield.
 *
 * <p>The budget follows from the number of processors alone. It is not tuned to any machine.
 *
 * {@snippet :
 * for (int round = 0; !tryIt(); round++) {
 *   if (!Backoff.pause(round)) {
 *     park();
 *   }
 * }
 * }
 */
public final class Backoff {
  /** Rounds that pause 2, 4, 8 ... times; none where nobody else can run meanwhile. */
  static final int PAUSING_ROUNDS = pausingRounds(Runtime.getRuntime().availableProcessors());

  /** Rounds that give the processor away instead. */
  static final int YIELDING_ROUNDS = 6;

  private Backoff() {}

  /**
   * Waits a little, longer in later rounds.
   *
   * @param round how often the caller has failed before, from 0
   * @return false, at once and without a wait, when the budget is used up: park
   */
  public static boolean pause(int round) {
    if (round < PAUSING_ROUNDS) {
      spin(2 << round);
      return true;
    }
    if (round < PAUSING_ROUNDS + YIELDING_ROUNDS) {
      giveWay();
      return true;
    }
    return false;
  }

  /** Lets another thread run that may be the one we wait for. */
  @SuppressWarnings("ThreadPriorityCheck") // a hint only: right, if slower, without effect
  static void giveWay() {
    Thread.yield();
  }

  /** One processor: none. Else three and one more for each doubling, as hand-overs get longer. */
  static int pausingRounds(int processors) {
    if (processors <= 1) {
      return 0;
    }
    int doublings = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(processors);
    return Math.min(3 + doublings, 8);
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }
}
