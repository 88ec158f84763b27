package org.revenantdb.recovery.file;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;

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
    Parking.unpark(caller);
  }

  /**
   * Waits for the end. An interrupt is kept for later.
   *
   * @return why it came to nothing; null if it is done
   */
  public final @Nullable Throwable await() {
    boolean interrupted = false;
    while (!done) {
      Parking.parkNanos(this, SLICE); // and on: the other thread may still use what is the caller's
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure;
  }
}
