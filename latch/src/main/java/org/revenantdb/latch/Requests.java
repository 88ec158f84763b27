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
   * Under which latch the thread runs a request now: an array of one, null while it runs none.
   *
   * <p>An array of the JDK, because it stays with the thread: an object of ours would keep our
   * class loader for as long as the thread lives.
   */
  private static final ThreadLocal<@Nullable Object[]> OF_THREAD =
      ThreadLocal.withInitial(Requests::create);

  private Requests() {}

  /**
   * What is needed to run the requests of others; null if there is no memory for it: it runs none.
   */
  static @Nullable Object @Nullable [] ofThread() {
    try {
      return OF_THREAD.get();
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  private static @Nullable Object[] create() {
    Runnable fault = ParkingLot.global().allocationFault;
    if (fault != null) {
      fault.run();
    }
    return new @Nullable Object[1];
  }

  /**
   * Refuses to go on inside a request.
   *
   * @throws IllegalStateException if the calling thread is running one
   */
  static void refuseInside() {
    @Nullable Object @Nullable [] mine = ofThread();
    if (mine != null && mine[0] != null) {
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
    @Nullable Object @Nullable [] mine = ofThread();
    if (mine != null && mine[0] == latch) {
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
    @Nullable Object[] mine = OF_THREAD.get();
    mine[0] = latch;
    try {
      request.run();
    } finally {
      mine[0] = null;
    }
  }

  /**
   * Runs all requests of a chain and calls them done; the caller holds the latch, and may be
   * running a request itself, which then gives up a latch that was handed to it.
   *
   * @param mine what {@link #ofThread} returned
   */
  static void runAll(@Nullable Object[] mine, HybridLatch latch, WaitNode chain) {
    @Nullable Object before = mine[0];
    mine[0] = latch;
    try {
      for (WaitNode node = chain; node != null; node = node.next) {
        node.setDone(thrownBy(node.request));
      }
    } finally {
      mine[0] = before;
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
