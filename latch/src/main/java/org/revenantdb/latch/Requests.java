package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * Runs the requests that waiters have left for the holder of a latch (combining, rule R22).
 *
 * <p>A request runs with the latch held exclusively. It runs on the thread of any holder, or on its
 * owner's thread if that gets the latch itself. It must not acquire a latch. If it waited for one,
 * the holder would wait for a thread that may be waiting for the holder. So every attempt is
 * refused, even if the latch happens to be free. Without assertions an attempt is refused only if
 * it would have to wait.
 */
final class Requests {
  /*
   * Exactly once   A request is run by its owner once that holds the latch, or by the thread that CLAIMED it
   *                (WaitNode). Only a holder claims. The owner leaves the queue of its own accord only while it is
   *                WAITING, and runs the request itself only after RETRY or GRANTED; all of these exclude CLAIMED, by
   *                the bucket lock.
   * Failure        An exception of a request is kept for its owner, and the next request is run. The holder does not
   *                see the exception.
   */

  /**
   * The number of requests that a holder runs before it releases the latch. It bounds the wait of
   * the holder's own caller.
   */
  static final int BATCH = 64;

  /**
   * The latch under which the thread runs a request now: an array of one element, which is null
   * while the thread runs none.
   *
   * <p>It is an array of a JDK class because it stays with the thread. An object of a class of this
   * library would keep the library's class loader alive as long as the thread.
   */
  private static final ThreadLocal<@Nullable Object[]> OF_THREAD =
      ThreadLocal.withInitial(Requests::create);

  private Requests() {}

  /**
   * The state that a thread needs to run the requests of others. Null if there is no memory for it;
   * then the thread runs none.
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
      throw new IllegalStateException("a request that runs under a latch must not acquire a latch");
    }
  }

  /**
   * Refuses the release of a latch inside a request that runs under it: the holder relies on its
   * hold.
   *
   * @throws IllegalStateException if the calling thread is running one
   */
  @SuppressWarnings("ReferenceEquality") // which latch it is
  static void refuseUnder(HybridLatch latch) {
    @Nullable Object @Nullable [] mine = ofThread();
    if (mine != null && mine[0] == latch) {
      throw new IllegalStateException(
          "a request that runs under a latch must not release that latch");
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
   * Runs all requests of a chain and sets them DONE. The caller holds the latch. It may itself be
   * running a request, which then releases a latch that was handed to it.
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
      return thrown; // of any kind: the owner has to handle it
    }
  }

  /** The exception itself, whatever its type: the request's owner throws what its request threw. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <T extends Throwable> RuntimeException asUnchecked(@Nullable Throwable thrown) throws T {
    throw (T) thrown;
  }
}
