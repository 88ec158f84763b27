package org.revenantdb.latch;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Parking, unparking and yielding that do not fail.
 *
 * <p>To park a virtual thread, or to let it yield, the JVM copies its frames to the heap. That
 * needs memory, and native stack in proportion to the number of frames. So on a deep stack {@link
 * LockSupport#park} and {@link Thread#yield} throw a {@link StackOverflowError}, however much stack
 * was found to be free before. A thread that waits in the middle of a protocol must not be thrown
 * out of it. The methods here do not park the thread in that case. Their caller has to check its
 * condition again anyway, and does so at once.
 *
 * <p>For the same reason no thread of a caller waits on a {@link
 * java.util.concurrent.locks.Condition}. An error thrown by its park leaves the node in the queue
 * and the lock not held. The signal for that node is lost, and the threads behind it are never
 * woken.
 *
 * <p>Limit: a virtual thread that cannot be parked keeps its carrier busy while it waits. If it
 * waits for another virtual thread, and all carriers are kept busy like that, neither makes
 * progress.
 *
 * <p>Thread-safe.
 */
public final class Parking {
  /**
   * Number of virtual threads that wait here or for a {@link PatientLock}, or were woken and have
   * no carrier yet.
   */
  private static final AtomicInteger VIRTUAL = new AtomicInteger();

  private Parking() {}

  /**
   * Parks the calling thread, if that is possible. It returns when the thread is unparked or
   * interrupted, when the time is over, or for no reason.
   *
   * @param blocker what the thread waits for, for thread dumps
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
   * @return the argument for {@link #ends} when the thread runs again
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
   * Whether a virtual thread is parked or yields here, waits for a {@link PatientLock}, or was
   * woken and has no carrier yet.
   *
   * @return true if there is at least one
   */
  public static boolean hasVirtualThreads() {
    return VIRTUAL.get() > 0;
  }

  /**
   * Unparks a thread, if that is possible. A thread that is not unparked checks its condition when
   * its time is over.
   *
   * @param thread the thread
   */
  public static void unpark(Thread thread) {
    try {
      LockSupport.unpark(thread);
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException notWoken) {
      // The thread checks by itself when its time is over; the caller must go on.
    }
  }

  /** Lets another thread run, if that is possible. It may be the one that the caller waits for. */
  @SuppressWarnings(
      "ThreadPriorityCheck") // a hint only: without effect the code is slower, but correct
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
