package org.revenantdb.recovery.log;

import java.util.function.LongPredicate;
import org.jspecify.annotations.NullMarked;
import org.revenantdb.recovery.file.LsnWaiters;

/** Gives the jcstress tests access to the package-private waiters of the log. */
@NullMarked
public final class OpenLsnWaiters {
  private final LsnWaiters waiters = new LsnWaiters();

  /** No thread waits. */
  public OpenLsnWaiters() {}

  /** Thrown where a waiter would go to sleep. */
  private static final class Asleep extends RuntimeException {
    private static final long serialVersionUID = 1;

    Asleep() {
      super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    }
  }

  /**
   * Waits up to the point where the thread would be parked, and stays on the stack as if it were.
   *
   * @return whether the caller continued instead
   */
  public boolean awaitOrFallAsleep(long lsn, LongPredicate reached) {
    try {
      waiters.await(
          lsn,
          wanted -> {
            if (!reached.test(wanted)) {
              throw new Asleep();
            }
            return true;
          });
      return true;
    } catch (Asleep asleep) {
      return false;
    }
  }

  /** Wakes waiters; the predicate sees the ones that are found. */
  public void wake(LongPredicate reached) {
    waiters.wake(reached);
  }

  /** Whether no waiter is on the stack. */
  public boolean isEmpty() {
    return waiters.isEmpty();
  }
}
