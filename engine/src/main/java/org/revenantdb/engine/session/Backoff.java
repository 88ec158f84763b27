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
 * How long the transactions of one database pause before they try again after a conflict: a random
 * time below a ceiling that they share, which is climbed to by {@link HillClimb}.
 *
 * <p>Threads: any, with nothing latched, outside of the gate. Who meets no conflict never comes
 * here.
 */
public final class Backoff {
  /*
   * Protocol    docs/protocols.md §40.
   *
   * State       looking: false -> true by CAS, by whoever ends an interval; true -> false by him, with release. The climb,
   *             due and ceiling are written in between.
   *
   * Ordering    the CAS acquires what the last release has published: the climb needs no other protection.
   *             due and ceiling are read by all without it: old ones cost a look, or one pause of another length.
   */
  private static final VarHandle LOOKING =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "looking", VarHandle.class, Backoff.class, boolean.class);

  /** If nobody has met a conflict for so long, what was known of them is of another time. */
  static final long IDLE = TimeUnit.SECONDS.toNanos(1);

  /** What a timer is late by; a shorter pause does not park. */
  private static final long SHORTEST_PARK = TimeUnit.MICROSECONDS.toNanos(50);

  /** So many attempts fail in a crowd that gets on. */
  private static final int USUAL_FAILURES = 3;

  /** What a short transaction may take. */
  private static final long SHORTEST_OWN_CEILING = TimeUnit.MICROSECONDS.toNanos(4);

  /** So that a time stays a number. */
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
   * Without a pause at first.
   *
   * @param longest no pause is longer, in nanoseconds; 0: there is none
   * @param commits how many there have been
   * @param clock nanoseconds, of any origin
   * @param meter is told of pauses
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
   * Pauses before another attempt. An interrupt ends the pause, and stays.
   *
   * @param reason why the last one failed
   * @param inARow how many have failed one after the other for that reason, because of the same
   *     other transaction
   * @param made how many have failed in all
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

  /** What a transaction pauses below, however much others commit. */
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

  /** Takes a sample if it is time to. */
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
          Parking.giveWay(); // whoever has the row may have no processor
        } else {
          Parking.parkNanos(this, left);
        }
      }
    } finally {
      meter.end(begun);
    }
  }

  /** For tests: the ceiling from now on, whatever is committed. */
  void fixCeiling(long nanos) {
    LOOKING.setVolatile(this, true); // so that nobody changes it
    ceiling = nanos;
  }

  /** Below which pauses are now. */
  public long ceiling() {
    return clock.getAsLong() - visited > IDLE ? 0 : ceiling;
  }
}
