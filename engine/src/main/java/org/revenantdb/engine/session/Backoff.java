package org.revenantdb.engine.session;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.latch.Parking;
import org.revenantdb.latch.WaitMeter;

/**
 * Decides how long the transactions of one database pause before another attempt after a conflict:
 * a random time below a common ceiling, which {@link HillClimb} finds.
 *
 * <p>Threads: any, with nothing latched, outside of the gate. A transaction without a conflict
 * never uses it.
 */
public final class Backoff {
  /*
   * Protocol    docs/protocols.md §40.
   *
   * State       looking: false -> true by CAS, by the thread that ends an interval; true -> false by the same thread,
   *             with release. The climb, due and ceiling are written in between.
   *
   * Ordering    the CAS acquires what the last release has published: the climb needs no other protection.
   *             due and ceiling are read by all threads without it: old values cost a check, or one pause of another
   *             length.
   */
  private static final VarHandle LOOKING =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "looking", VarHandle.class, Backoff.class, boolean.class);

  /** After this time without a conflict, the data about conflicts is out of date. */
  static final long IDLE = TimeUnit.SECONDS.toNanos(1);

  /** The usual delay of a timer; a shorter pause does not park. */
  private static final long SHORTEST_PARK = TimeUnit.MICROSECONDS.toNanos(50);

  /** The number of failed attempts that is usual under contention, even if work progresses. */
  private static final int USUAL_FAILURES = 3;

  /** The time that a short transaction may take. */
  private static final long SHORTEST_OWN_CEILING = TimeUnit.MICROSECONDS.toNanos(4);

  /** The limit of doublings, so that a time does not overflow. */
  private static final int MOST_DOUBLINGS = 30;

  private final long longest;
  private final LongSupplier commits;
  private final LongSupplier clock;
  private final WaitMeter meter;
  private final HillClimb climb;

  @SuppressWarnings("UnusedVariable") // through LOOKING
  private boolean looking;

  private volatile long due;
  private volatile long ceiling;
  private volatile long visited;

  /**
   * Starts without pauses.
   *
   * @param longest the longest pause, in nanoseconds; 0: there is none
   * @param commits the number of commits so far
   * @param clock nanoseconds since an arbitrary moment
   * @param meter receives the pauses
   */
  public Backoff(long longest, LongSupplier commits, LongSupplier clock, WaitMeter meter) {
    this.longest = longest;
    this.commits = commits;
    this.clock = clock;
    this.meter = meter;
    long now = clock.getAsLong();
    this.climb = new HillClimb(longest, now, commits.getAsLong());
    this.due = climb.due();
    this.visited = now;
  }

  /**
   * Pauses before another attempt. An interrupt ends the pause; the interrupt status stays set.
   *
   * @param reason why the last one failed
   * @param inARow how many have failed in a row for that reason, because of the same other
   *     transaction
   * @param made how many have failed in total
   */
  void pause(ConflictReason reason, int inARow, int made) {
    if (longest > 0) {
      long now = clock.getAsLong();
      look(now);
      long below = Math.min(longest, Math.max(ceiling, ownCeiling(reason, inARow, made)));
      if (below > 0 && reason != ConflictReason.TABLE_CHANGED) {
        long nanos = ThreadLocalRandom.current().nextLong(below);
        if (nanos > 0) {
          await(nanos);
        }
      }
    }
  }

  /** The own ceiling of a transaction, however much others commit. */
  private static long ownCeiling(ConflictReason reason, int inARow, int made) {
    long ofManyFailures = made <= USUAL_FAILURES ? 0 : doubled(made - USUAL_FAILURES - 1);
    return switch (reason) {
      case ROW_IN_USE ->
          inARow == 1 ? ofManyFailures : Math.max(ofManyFailures, doubled(2 * (inARow - 2L)));
      case DEADLOCK, TABLE_IN_USE -> doubled(2L * inARow);
      case ROW_CHANGED, NOT_SERIALIZABLE -> ofManyFailures;
      case LOCK_TIMEOUT, TABLE_CHANGED -> 0;
    };
  }

  private static long doubled(long times) {
    return SHORTEST_OWN_CEILING << Math.min(times, MOST_DOUBLINGS);
  }

  /** Takes a sample if it is due. */
  public void look(long now) {
    long last = visited;
    if (now - last > HillClimb.INTERVAL) {
      visited = now;
    }
    if (now - due < 0 || !LOOKING.compareAndSet(this, false, true)) {
      return;
    }
    try {
      if (now - last > IDLE) {
        climb.beginAnew(now, commits.getAsLong());
      } else {
        climb.sample(now, commits.getAsLong()); // which looks at the time again
      }
      due = climb.due();
      ceiling = climb.ceiling();
    } finally {
      LOOKING.setRelease(this, false);
    }
  }

  private void await(long nanos) {
    @Nullable Object begun = meter.begin();
    try {
      Thread current = Thread.currentThread();
      long until = clock.getAsLong() + nanos;
      for (long left = nanos;
          left > 0 && !current.isInterrupted();
          left = until - clock.getAsLong()) {
        if (nanos < SHORTEST_PARK) {
          Parking.giveWay(); // the holder of the row may have no processor
        } else {
          Parking.parkNanos(this, left);
        }
      }
    } finally {
      meter.end(begun);
    }
  }

  /** For tests: sets the ceiling from now on, whatever is committed. */
  void fixCeiling(long nanos) {
    LOOKING.setVolatile(this, true); // so that no thread changes it
    ceiling = nanos;
  }

  /** The present upper limit of pauses. */
  public long ceiling() {
    return clock.getAsLong() - visited > IDLE ? 0 : ceiling;
  }
}
