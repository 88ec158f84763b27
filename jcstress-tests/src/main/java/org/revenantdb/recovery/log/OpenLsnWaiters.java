package org.revenantdb.recovery.log;

import java.util.function.LongPredicate;
import org.jspecify.annotations.NullMarked;
import org.revenantdb.recovery.file.LsnWaiters;

/** The waiters of the log, which are package-private, for the jcstress tests. */
@NullMarked
public final class OpenLsnWaiters {
  private final LsnWaiters waiters = new LsnWaiters();

  /** Nobody waits. */
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
   * @return whether it went on instead
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

  /** Wakes; the predicate sees whom it finds. */
  public void wake(LongPredicate reached) {
    waiters.wake(reached);
  }

  /** Whether nobody is on the stack. */
  public boolean isEmpty() {
    return waiters.isEmpty();
  }
}
