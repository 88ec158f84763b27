package org.revenantdb.latch;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Parking, unparking and yielding that do not fail.
 *
 * <p>To park a virtual thread, or to let it yield, the JVM copies its frames to the heap. That
 * needs memory, and native stack in proportion to the number of frames, so that on a deep stack
 * {@link LockSupport#park} and {@link Thread#yield} throw a {@link StackOverflowError} however much
 * stack was found to be free before. Who waits in the middle of a protocol must not be thrown out
 * of it. Here the thread is not parked then, and its caller, which has to look again anyway, looks
 * at once.
 *
 * <p>For the same reason no thread of a caller waits at a {@link
 * java.util.concurrent.locks.Condition}: an error thrown by its park leaves the node in the queue
 * and the lock not held. The signal for that node is lost, and whoever stands behind it is never
 * woken.
 *
 * <p>Limit: a virtual thread that cannot be parked keeps its carrier busy while it waits. If it
 * waits for another virtual thread, and all carriers are kept busy like that, neither goes on.
 *
 * <p>Thread-safe.
 */
public final class Parking {
  /**
   * Virtual threads that wait here or for a {@link PatientLock}, and woken ones without a carrier.
   */
  private static final AtomicInteger VIRTUAL = new AtomicInteger();

  private Parking() {}

  /**
   * Parks the calling thread, if that is possible, until it is unparked, interrupted, a time is
   * over, or for no reason.
   *
   * @param blocker what is waited for, for thread dumps
   * @param nanos how long at most
   */
  public static void parkNanos(Object blocker, long nanos) {
    boolean isVirtual = begins();
    try {
      LockSupport.parkNanos(blocker, nanos);
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException notParked) {
      Thread.onSpinWait();
    } finally {
      ends(isVirtual);
    }
  }

  /**
   * The calling thread is about to leave its carrier, if it is a virtual one.
   *
   * @return what {@link #ends} is to be given when it runs again
   */
  static boolean begins() {
    boolean isVirtual = Thread.currentThread().isVirtual();
    if (isVirtual) {
      VIRTUAL.getAndIncrement();
    }
    return isVirtual;
  }

  /** The calling thread runs again. */
  static void ends(boolean isVirtual) {
    if (isVirtual) {
      VIRTUAL.getAndDecrement();
    }
  }

  /**
   * Whether a virtual thread is parked or gives way here, waits for a {@link PatientLock}, or was
   * woken and has no carrier yet.
   *
   * @return true if there is at least one
   */
  public static boolean hasVirtualThreads() {
    return VIRTUAL.get() > 0;
  }

  /**
   * Unparks a thread, if that is possible. One that is not unparked finds out by itself when its
   * time is over.
   *
   * @param thread the thread
   */
  public static void unpark(Thread thread) {
    try {
      LockSupport.unpark(thread);
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException notWoken) {
      // It looks by itself when its time is over; what called this must go on.
    }
  }

  /** Lets another thread run, if that is possible, that may be the one waited for. */
  @SuppressWarnings("ThreadPriorityCheck") // a hint only: right, if slower, without effect
  public static void giveWay() {
    boolean isVirtual = begins();
    try {
      Thread.yield();
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException notYielded) {
      Thread.onSpinWait();
    } finally {
      ends(isVirtual);
    }
  }
}
