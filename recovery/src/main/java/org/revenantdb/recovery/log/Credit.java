package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.LsnWaiters;

/**
 * A limited amount of work for a restart, such as bytes of log. Threads take credit for it before
 * they latch anything, so that it never exceeds its limit (R17).
 *
 * <p>Threads: any; {@link #acquire} waits, uninterruptibly, and must be called with nothing held.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 */
final class Credit {
  /*
   * Credit c is granted if used + granted + c <= bound, where `used` is the amount in use now and
   *
   *   bound = limit - reserve    for ordinary work
   *         = limit              for callers that may use the reserve, and do not wait for the others
   *
   * Ordering    taking adds to `granted` and then checks again: it reads `granted` first and the amount in use after
   *             that. Credit that was released before this check is in use by then (use comes before release), and
   *             credit that was added is in `granted`. So of any two grants the later one has counted the other, and
   *             the bound holds.
   *             release lowers `granted`, then looks for waiters. A waiter is on the stack before it reads `granted`.
   *             All four are volatile accesses, and so in one order: one of the two sees the other. A release without
   *             waiters pays for no fence.
   * Kept        returned credit may be kept for the next caller (KeptCredit). It stays granted, and is taken back
   *             before any caller is refused or sleeps.
   * Races left in   two callers at the same time may each count the other, find no room, and take back. Taking back
   *                 wakes the waiters, so no waiter sleeps although there is room for it.
   */

  /** The amount that is in use, and the total that ever was. */
  interface Use {
    /** The amount in use now, without credit that is only granted. */
    long now();

    /** The total that ever came into use; only its growth matters. */
    long total();

    /**
     * Whether credit that is only granted also counts when it is decided if a checkpoint is wanted.
     * Else only the amount in use counts.
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
   * Makes an object with no granted credit.
   *
   * @param use the amount in use
   * @param limit the bound for all callers
   * @param reserve the part of it that ordinary work may not use
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   * @param time the clock, and the way to pause
   * @param waits receives each wait, once for each waiting caller
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
    // Half way between the point where a checkpoint is requested and the point where
    // all work stops.
    this.pace = new Pace(Math.min(bound - 1, (hurryAbove + bound) / 2), bound, time);
  }

  /** Takes credit for ordinary work; waits until there is enough. */
  void acquire(long amount) {
    checkPossible(amount, bound);
    checkRunning();
    long due =
        pace.due(used(granted.get() + amount), use.total(), amount); // before anything is granted
    if (due > 0 || !waiters.isEmpty() || !take(amount, bound)) {
      acquirePatiently(amount, due);
    }
  }

  /**
   * Takes credit as ordinary work does, but is not slowed down. It is for threads that free what
   * the others have used. If such a thread paid, at each of its many small steps, for what the
   * writers have written meanwhile, garbage would grow as long as they write.
   */
  void acquireUnpaced(long amount) {
    checkPossible(amount, bound);
    checkRunning();
    if (!waiters.isEmpty() || !take(amount, bound)) {
      acquirePatiently(amount, /* due= */ 0);
    }
  }

  /**
   * Waits because it is slowed down, until there is enough credit, or both. It counts as one wait.
   */
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

  /** Takes credit, including the reserve; waits only if the reserve is used up as well. */
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

  /** Takes credit if there is enough and no other thread waits for it. */
  boolean tryAcquire(long amount) {
    return stopped == null && waiters.isEmpty() && takeOrTakeBack(amount, bound);
  }

  private static void checkPossible(long amount, long most) {
    if (amount > most) {
      throw new IllegalArgumentException("credit of " + amount + "; " + most + " is all");
    }
  }

  /** Takes the credit; true also if there is nothing to wait for any more. */
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

  /** Whether a thread waits; volatile. */
  boolean isAwaited() {
    return !reservedWaiters.isEmpty() || !waiters.isEmpty();
  }

  /**
   * Whether credit that is granted and entirely unused would also be granted now. That is so if it
   * is within the bound, no thread waits, and no checkpoint is wanted, so that no thread is slowed
   * down.
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

  /** Takes back credit that is granted and kept. Returns whether there was any. */
  boolean takesBackKept() {
    return kept.getAsBoolean();
  }

  /** How much ordinary work may use. */
  long bound() {
    return bound;
  }

  /**
   * Sets the source of credit that is granted but kept unused.
   *
   * @param takesBack releases it; returns whether there was any
   */
  void kept(BooleanSupplier takesBack) {
    kept = takesBack;
  }

  /** Called when a checkpoint has ended and has freed this amount. */
  void freed(long amount) {
    pace.freed(amount);
    hurried.set(false);
    wake();
  }

  /** Called when credit may have become free. */
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

  /** Whether the amount in use is so large that a checkpoint is wanted. */
  boolean isScarce() {
    return use.now() > hurryAbove;
  }
}
