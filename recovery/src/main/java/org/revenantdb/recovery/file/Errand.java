package org.revenantdb.recovery.file;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;

/**
 * A piece of work that one thread does for another thread, which waits for it.
 *
 * <p>The thread that made the object waits, once. Reporting the end to it allocates nothing and
 * cannot fail, so it works even without memory or stack.
 */
public class Errand {
  /** An unpark may be lost: a virtual thread cannot be scheduled without memory. */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final Thread caller = Thread.currentThread();

  /** Written before {@code done}. */
  private @Nullable Throwable failure;

  private volatile boolean done;

  /** The next one in an {@link ErrandQueue}; used only by the queue. */
  @Nullable Errand next;

  /** Makes an errand of the calling thread. */
  public Errand() {}

  /**
   * Reports the end to the waiting thread.
   *
   * @param withFailure why it failed; null if it is done
   */
  public final void finish(@Nullable Throwable withFailure) {
    failure = withFailure;
    done = true;
    Parking.unpark(caller);
  }

  /**
   * Waits for the end. An interrupt is kept for later.
   *
   * @return why it failed; null if it is done
   */
  public final @Nullable Throwable await() {
    boolean interrupted = false;
    while (!done) {
      Parking.parkNanos(
          this, SLICE); // and go on waiting: the other thread may still use memory of the caller
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure;
  }
}
