package org.revenantdb.latch;

/**
 * Decides how long a thread spins before it parks, and nothing else.
 *
 * <p>Use it for a wait that ends within the time of a few cache misses: a compare-and-set that
 * lost, a latch whose holder runs on another processor. Each round pauses twice as long as the
 * round before, until the budget is used up.
 *
 * <p>The budget depends only on the number of processors. With one processor it is zero, because
 * the holder cannot run while another thread spins. With few processors it is tiny. A spinner that
 * wins takes the cache line from the only other thread that was making progress. Both then continue
 * at the speed of cache misses. A parked thread would have let the other one run (`bench latch`,
 * two threads, empty sections). With more processors, each wait holds up more work, so the budget
 * is larger.
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
  /** Number of rounds; they pause 2, 4, 8 ... times. */
  static final int ROUNDS = rounds(Runtime.getRuntime().availableProcessors());

  /** Whether another thread can run while the calling thread spins. */
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

  /** One round for each doubling of the number of processors beyond two. */
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
