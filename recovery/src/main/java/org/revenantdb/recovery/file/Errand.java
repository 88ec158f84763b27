package org.revenantdb.recovery.file;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Something that one thread does for another, which waits for it.
 *
 * <p>The thread that made the object waits, once. To tell it the end allocates nothing and cannot
 * fail, so it works when memory or stack have run out.
 */
public class Errand {
  /** An unpark may be lost: a virtual thread cannot be scheduled without memory. */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final Thread caller = Thread.currentThread();

  /** Written before {@code done}. */
  private @Nullable Throwable failure;

  private volatile boolean done;

  /** The next one in a {@link ErrandQueue}; of that. */
  @Nullable Errand next;

  /** An errand of the calling thread's. */
  public Errand() {}

  /**
   * Tells the caller that it is over.
   *
   * @param withFailure why it came to nothing; null if it is done
   */
  public final void finish(@Nullable Throwable withFailure) {
    failure = withFailure;
    done = true;
    try {
      LockSupport.unpark(caller);
    } catch (Throwable notWoken) {
      // No memory or stack for that: the caller looks after a slice at the latest.
    }
  }

  /**
   * Waits for the end. An interrupt is kept for later.
   *
   * @return why it came to nothing; null if it is done
   */
  public final @Nullable Throwable await() {
    boolean interrupted = false;
    while (!done) {
      try {
        LockSupport.parkNanos(this, SLICE);
      } catch (OutOfMemoryError | StackOverflowError notParked) {
        Thread.onSpinWait(); // the other thread may still use what is the caller's
      }
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure;
  }
}
