package org.revenantdb.engine.session;

import org.revenantdb.latch.Parking;

/**
 * Lets virtual threads take turns on their carrier: a virtual thread that keeps entering the
 * database without ever waiting leaves the carrier from time to time.
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
   * Bound       in CALLS calls by the virtual threads of a stripe, one leaves its carrier. With one carrier no thread
   *             makes more calls than that in a row. The count is plain: a lost increment makes the turn longer by
   *             one call.
   * Park        not a yield: the JDK queues a yielding thread again, and with one carrier was seen to run the same
   *             thread for ever, from the same queue. A parked thread is in no queue until its time is over.
   * Order       before the gate is entered: nothing is held.
   * Cost        for a platform thread one check of its kind; for a virtual one a count, and some 60 microseconds at
   *             each turn while another virtual thread waits in an engine, or has waited and does not run yet.
   */
  private static final int CALLS = 1024;

  private static final long NANOS = 20_000;

  /** Array elements from one stripe to the next, so that they do not share a cache line. */
  private static final int STRIDE = 32;

  private final int[] calls;

  /**
   * Makes an object for this many stripes.
   *
   * @param stripes a power of two
   */
  CarrierTurns(int stripes) {
    this.calls = new int[stripes * STRIDE];
  }

  /**
   * Called before the gate is entered. A virtual thread leaves its carrier for a moment at every
   * {@link #CALLS}th call, if other virtual threads wait.
   */
  void enter(Thread thread) {
    if (thread.isVirtual()) {
      int stripe = (int) (thread.threadId() & (calls.length / STRIDE - 1)) * STRIDE;
      if (++calls[stripe] % CALLS == 0 && Parking.hasVirtualThreads()) {
        pause(thread);
      }
    }
  }

  /** Pauses. A thread that is interrupted, or has a permit left by an interrupt, is not parked. */
  private void pause(Thread thread) {
    boolean isInterrupted = Thread.interrupted();
    long until = System.nanoTime() + NANOS;
    for (long left = NANOS; left > 0; left = until - System.nanoTime()) {
      Parking.parkNanos(this, left);
      isInterrupted |= Thread.interrupted();
    }
    if (isInterrupted) {
      thread.interrupt();
    }
  }
}
