package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * Running what waiters have asked the holder of a latch to do for them (combining, rule R22).
 *
 * <p>A request runs with the latch held exclusively, on whatever thread holds it, or on its owner's
 * if that gets the latch itself. It must not want a latch: one that waits while it runs would make
 * the holder wait for somebody who may be waiting for the holder. So every attempt is refused, also
 * where it happens to be free; without assertions only where it would have to wait.
 */
final class Requests {
  /*
   * Exactly once   A request is run by its owner once that holds the latch, or by the thread that CLAIMED it
   *                (WaitNode), which nobody but a holder does. The owner leaves the queue by its own will only
   *                while it is WAITING, and runs the request itself only after RETRY or GRANTED; all of these
   *                exclude CLAIMED, by the bucket lock.
   * Failure        What a request throws is kept for its owner, and the next one is run. The holder sees nothing.
   */

  /** As many as one holder runs before it lets the latch go: bounds what its own caller waits. */
  static final int BATCH = 64;

  /**
   * Whether the thread runs a request; a field of one object, so that only the first look-up costs.
   */
  private static final ThreadLocal<Requests> OF_THREAD = ThreadLocal.withInitial(Requests::create);

  /** Under which latch the thread runs a request now, if it does. */
  private @Nullable HybridLatch under;

  private Requests() {}

  /**
   * What is needed to run the requests of others; null if there is no memory for it: it runs none.
   */
  static @Nullable Requests ofThread() {
    try {
      return OF_THREAD.get();
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  private static Requests create() {
    Runnable fault = ParkingLot.global().allocationFault;
    if (fault != null) {
      fault.run();
    }
    return new Requests();
  }

  /**
   * Refuses to go on inside a request.
   *
   * @throws IllegalStateException if the calling thread is running one
   */
  static void refuseInside() {
    Requests mine = ofThread();
    if (mine != null && mine.under != null) {
      throw new IllegalStateException("a request that is run under a latch must not want a latch");
    }
  }

  /**
   * Refuses to give up a latch inside a request that is run under it: its holder counts on it.
   *
   * @throws IllegalStateException if the calling thread is running one
   */
  @SuppressWarnings("ReferenceEquality") // which latch it is
  static void refuseUnder(HybridLatch latch) {
    Requests mine = ofThread();
    if (mine != null && mine.under == latch) {
      throw new IllegalStateException(
          "a request that is run under a latch must not give up that latch");
    }
  }

  /** For assertions: throws rather than return false, to say why. */
  static boolean isOutside() {
    refuseInside();
    return true;
  }

  /** For assertions: throws rather than return false, to say why. */
  static boolean isNotUnder(HybridLatch latch) {
    refuseUnder(latch);
    return true;
  }

  /** Runs the caller's own request; the caller holds the latch. */
  static void run(HybridLatch latch, Runnable request) {
    Requests mine = OF_THREAD.get();
    mine.under = latch;
    try {
      request.run();
    } finally {
      mine.under = null;
    }
  }

  /**
   * Runs all requests of a chain and calls them done; the caller holds the latch, and may be
   * running a request itself, which then gives up a latch that was handed to it.
   */
  void runAll(HybridLatch latch, WaitNode chain) {
    HybridLatch before = under;
    under = latch;
    try {
      for (WaitNode node = chain; node != null; node = node.next) {
        node.setDone(thrownBy(node.request));
      }
    } finally {
      under = before;
    }
  }

  private static @Nullable Throwable thrownBy(@Nullable Runnable request) {
    try {
      if (request != null) {
        request.run();
      }
      return null;
    } catch (Throwable thrown) {
      return thrown; // of whatever kind: it is its owner's affair
    }
  }

  /** The exception itself, whatever its type: the request's owner throws what its request threw. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <T extends Throwable> RuntimeException asUnchecked(@Nullable Throwable thrown) throws T {
    throw (T) thrown;
  }
}
