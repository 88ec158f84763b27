package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.LsnWaiters;

/**
 * A quantity that a restart may have to go through, and of which credit is given before anything is
 * latched, so that it never exceeds its limit (R17).
 *
 * <p>Threads: any; {@link #acquire} waits, uninterruptibly, and must be called with nothing held.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 */
final class Credit {
  /*
   * Credit c is granted when used + granted + c <= bound, where `used` is what is in use now and
   *
   *   bound = limit - reserve    for ordinary work
   *         = limit              for who may draw on the reserve, and does not wait for the others
   *
   * Ordering    taking adds to `granted` and then looks once more, at `granted` first and at what is in use after:
   *             what was released before that look is in use by then (use comes before release), what was added is
   *             in `granted`. So of any two grants the later has counted the other, and the bound holds.
   *             release lowers `granted`, then looks whether anybody waits; who waits is on the stack before he looks
   *             at `granted`. All four are volatile accesses, and so in one order: one of the two sees the other, and
   *             who gives back with nobody waiting pays for no fence.
   * Kept        what was given back may be kept for the next who asks (KeptCredit). It stays granted, and comes back
   *             before anybody is refused or goes to sleep.
   * Races left in   two that ask at once may each count the other, find no room and take back; taking back wakes
   *             those who wait, so one of them is not left asleep with room for it.
   */

  /** What is in use, and what ever was. */
  interface Use {
    /** In use now, without what is only granted. */
    long now();

    /** What ever came into use; only its growth counts. */
    long total();

    /**
     * Whether a checkpoint is wanted for what is only granted, and not for what is in use alone.
     */
    boolean isCreditUse();
  }

  private final Use use;
  private final long limit;
  private final long bound;
  private final long hurryAbove;
  private final Runnable hurry;
  private final Pace pace;
  private final WaitMeter waits;
  private final AtomicLong granted = new AtomicLong();
  private final AtomicBoolean hurried = new AtomicBoolean();
  private final LsnWaiters waiters = new LsnWaiters();
  private final LongPredicate takenOrStopped = this::takesOrIsStopped;
  private final LongPredicate reservedOrStopped = this::takesReservedOrIsStopped;
  private final LsnWaiters reservedWaiters = new LsnWaiters();
  private volatile BooleanSupplier kept = () -> false;
  private volatile @Nullable Throwable stopped;

  /**
   * Credit of which nothing is granted yet.
   *
   * @param use what is in use
   * @param limit the bound for all
   * @param reserve how much of it ordinary work may not use
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   * @param time where waiting is done
   * @param waits where a wait is told, once for each who waits
   */
  Credit(Use use, long limit, long reserve, Runnable hurry, Pace.Time time, WaitMeter waits) {
    if (reserve >= limit) {
      throw new IllegalArgumentException("a reserve of " + reserve + " in a limit of " + limit);
    }
    this.use = use;
    this.waits = waits;
    this.limit = limit;
    this.bound = limit - reserve;
    this.hurryAbove = limit / 2;
    this.hurry = hurry;
    // Half way from where a checkpoint is asked for to where everything stands still.
    this.pace = new Pace(Math.min(bound - 1, (hurryAbove + bound) / 2), bound, time);
  }

  /** Takes credit for ordinary work; waits until there is enough. */
  void acquire(long amount) {
    checkPossible(amount, bound);
    checkRunning();
    long due =
        pace.due(used(granted.get() + amount), use.total(), amount); // nothing is granted yet
    if (due > 0 || !waiters.isEmpty() || !take(amount, bound)) {
      acquirePatiently(amount, due);
    }
  }

  /**
   * Takes credit as ordinary work does, but is not slowed down: for whoever gives back what the
   * others have used. Were he to pay for each of his many small steps what they have written
   * meanwhile, garbage would grow as long as they write.
   */
  void acquireUnpaced(long amount) {
    checkPossible(amount, bound);
    checkRunning();
    if (!waiters.isEmpty() || !take(amount, bound)) {
      acquirePatiently(amount, /* due= */ 0);
    }
  }

  /** Slowed down, or until there is enough, or both: one wait. */
  private void acquirePatiently(long amount, long due) {
    @Nullable Object begun = waits.begin();
    try {
      if (due > 0) {
        pace.pause(due);
        if (waiters.isEmpty() && take(amount, bound)) {
          return;
        }
      }
      waiters.await(amount, takenOrStopped);
    } finally {
      waits.end(begun);
    }
    checkRunning();
  }

  /** Takes credit, the reserve included; waits only when that is used up as well. */
  void acquireReserved(long amount) {
    checkPossible(amount, limit);
    checkRunning();
    if (take(amount, limit)) {
      return;
    }
    @Nullable Object begun = waits.begin();
    try {
      reservedWaiters.await(amount, reservedOrStopped);
    } finally {
      waits.end(begun);
    }
    checkRunning();
  }

  /** Takes credit if it is there and nobody else waits for it. */
  boolean tryAcquire(long amount) {
    return stopped == null && waiters.isEmpty() && takeOrTakeBack(amount, bound);
  }

  private static void checkPossible(long amount, long most) {
    if (amount > most) {
      throw new IllegalArgumentException("credit of " + amount + "; " + most + " is all");
    }
  }

  /** Takes the credit, or says that there is nothing to wait for any more. */
  private boolean takesOrIsStopped(long amount) {
    return stopped != null || takeOrTakeBack(amount, bound);
  }

  private boolean takesReservedOrIsStopped(long amount) {
    return stopped != null || takeOrTakeBack(amount, limit);
  }

  private boolean takeOrTakeBack(long amount, long most) {
    return take(amount, most) || (takesBackKept() && take(amount, most));
  }

  private boolean take(long amount, long most) {
    while (true) {
      long before = granted.get();
      if (used(before + amount) > most) {
        return false;
      }
      if (granted.compareAndSet(before, before + amount)) {
        break;
      }
    }
    if (used(granted.get()) <= most) {
      return true;
    }
    release(amount);
    return false;
  }

  private long used(long credit) {
    long now = use.now();
    long used = credit + now;
    if ((use.isCreditUse() ? used : now) > hurryAbove && hurried.compareAndSet(false, true)) {
      pace.asked();
      hurry.run();
    }
    return used;
  }

  private void checkRunning() {
    @Nullable Throwable cause = stopped;
    if (cause != null) {
      throw new LogStoppedException(cause);
    }
  }

  /** Returns credit, used or not. */
  void release(long amount) {
    granted.getAndAdd(-amount);
    if (isAwaited()) {
      wake();
    }
  }

  /** Whether somebody waits; volatile. */
  boolean isAwaited() {
    return !reservedWaiters.isEmpty() || !waiters.isEmpty();
  }

  /**
   * Whether credit that is granted, and of which nobody has used anything, would be granted now: it
   * is within the bound, nobody waits, and no checkpoint is wanted, so nobody is slowed down.
   */
  boolean isCalm() {
    long credit = granted.get(); // first, as in take
    long now = use.now();
    long used = credit + now;
    return stopped == null
        && waiters.isEmpty()
        && used <= bound
        && (use.isCreditUse() ? used : now) <= hurryAbove;
  }

  /** Takes back what is granted and kept; whether there was any. */
  boolean takesBackKept() {
    return kept.getAsBoolean();
  }

  /** How much of it ordinary work may use. */
  long bound() {
    return bound;
  }

  /**
   * There is credit that is granted and that nobody uses.
   *
   * @param takesBack releases it; returns whether there was any
   */
  void kept(BooleanSupplier takesBack) {
    kept = takesBack;
  }

  /** A checkpoint has ended and freed so much. */
  void freed(long amount) {
    pace.freed(amount);
    hurried.set(false);
    wake();
  }

  /** Something may be free by now. */
  void wake() {
    try {
      reservedWaiters.wakeAll();
    } finally {
      waiters.wakeAll();
    }
  }

  void stop(Throwable cause) {
    stopped = cause;
    wake();
  }

  long granted() {
    return granted.get();
  }

  /** Whether so much is in use that a checkpoint is wanted. */
  boolean isScarce() {
    return use.now() > hurryAbove;
  }
}
