package org.revenantdb.engine.session;

import org.revenantdb.latch.Parking;

/**
 * Lets virtual threads take turns on their carrier: one that enters the database again and again
 * and never waits gives way once in a while.
 *
 * <p>The JVM never takes a carrier away from a virtual thread. A latch is handed over to the thread
 * that has waited longest, and a page that was read wakes the thread that has latched its parent.
 * If that is a virtual thread it may hold the latch and have no carrier, for as long as the others
 * go on reading without a wait. Then every writer of the page waits as well, on platform threads
 * too.
 *
 * <p>Thread-safe.
 */
final class CarrierTurns {
  /*
   * Bound       a thread gives way after CALLS calls of all the virtual threads of its stripe, at the latest. The count is
   *             plain: one that is lost makes the turn longer by a call.
   * Order       before the gate is entered: nothing is held.
   * Cost        for a platform thread one look at its kind. A turn that nobody wants costs about a microsecond.
   */
  private static final int CALLS = 256;

  /** Numbers between those of two stripes, so that they do not share a cache line. */
  private static final int STRIDE = 32;

  private final int[] calls;

  /**
   * For so many stripes.
   *
   * @param stripes a power of two
   */
  CarrierTurns(int stripes) {
    this.calls = new int[stripes * STRIDE];
  }

  /** The thread is about to enter; it gives way if it is a virtual one, and it is time. */
  void enter(Thread thread) {
    if (thread.isVirtual()) {
      int stripe = (int) (thread.threadId() & (calls.length / STRIDE - 1)) * STRIDE;
      if (++calls[stripe] % CALLS == 0) {
        Parking.giveWay();
      }
    }
  }
}
