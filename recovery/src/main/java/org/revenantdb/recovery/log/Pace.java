package org.revenantdb.recovery.log;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * How fast the log may grow when room in it gets scarce, or how fast pages may become dirty: slower
 * and slower, instead of at full speed and then not at all.
 *
 * <p>Threads: any; who is slowed down must hold nothing.
 */
final class Pace {
  /*
   * The law    p = (used - mark) / (bound - mark), from 0 to 1
   *            r = nanoseconds in which a checkpoint frees one unit (a byte, a page), measured from the wish for it
   *                to its end, averaged (3 parts what was, 1 part what is new)
   *            one unit costs p * r of a time that all share: `next` is when the next one may go
   *
   *            So at the bound use grows as fast as it is freed, and half way at twice that. Where writers want
   *            k times what is freed, used comes to rest where p = 1/k. Up to the mark nobody waits: a checkpoint is
   *            asked for long before, and one that keeps up ends before.
   * What is paid for   the growth since somebody paid last, but at most the credit that is asked for. The credit
   *            alone would not do: it is the worst case, often a hundred times what is used.
   * Bound      nobody waits longer than LONGEST here, and `next` is never further away. The hard limit is the
   *            business of Credit.
   *
   * Races left in   `paid`, r and the beginning of a checkpoint are read and written without care for each other: a
   *            wait is too short or too long once, within its bound.
   */

  /** What one may have to wait at most. */
  static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(10);

  /** Where time comes from and goes to. */
  interface Time {
    /** The time that passes. */
    Time SYSTEM =
        new Time() {
          @Override
          public long now() {
            return System.nanoTime();
          }

          @Override
          public void pause(long nanos) {
            long end = now() + nanos;
            boolean interrupted = false;
            for (long left = nanos; left > 0; left = end - now()) {
              LockSupport.parkNanos(this, left);
              interrupted |= Thread.interrupted();
            }
            if (interrupted) {
              Thread.currentThread().interrupt();
            }
          }
        };

    /** Nanoseconds since some time. */
    long now();

    /** Lets so many nanoseconds pass. */
    void pause(long nanos);
  }

  private final long mark;
  private final long bound;
  private final Time time;
  private final AtomicLong next;
  private final AtomicLong paid = new AtomicLong();
  private volatile boolean working;
  private volatile long begun;
  private volatile double nanosPerUnit;

  /**
   * A pace that slows down nobody until a first checkpoint has shown how fast it is.
   *
   * @param mark from where on the use of room slows down
   * @param bound where it is slowest
   */
  Pace(long mark, long bound, Time time) {
    this.mark = mark;
    this.bound = bound;
    this.time = time;
    next = new AtomicLong(time.now());
  }

  /** A checkpoint was asked for. */
  void asked() {
    begun = time.now();
    working = true;
  }

  /** A checkpoint has ended and freed so much. */
  void freed(long units) {
    if (working && units > 0) {
      double measured = (double) Math.max(1, time.now() - begun) / units;
      double before = nanosPerUnit;
      nanosPerUnit = before == 0 ? measured : (3 * before + measured) / 4;
    }
    working = false;
  }

  /**
   * How long the caller has to wait, by {@link #pause}.
   *
   * @param used what is in use, what is asked for included
   * @param total what ever came into use: the end of the log, or how many pages became dirty
   * @param credit what is asked for
   * @return nanoseconds, 0 if it need not wait
   */
  long due(long used, long total, long credit) {
    return used > mark && nanosPerUnit > 0 ? price(used, Math.min(credit, grown(total))) : 0;
  }

  /**
   * Waits.
   *
   * @param nanos what is due
   */
  void pause(long nanos) {
    time.pause(nanos);
  }

  private long grown(long total) {
    return Math.max(0, total - paid.getAndSet(total));
  }

  private long price(long used, long units) {
    double pressure = Math.min(1.0, (double) (used - mark) / (bound - mark));
    long cost = (long) Math.min((double) LONGEST, units * pressure * nanosPerUnit);
    long now = time.now();
    while (true) {
      long before = next.get();
      long wait = Math.min(LONGEST, Math.max(0, before - now) + cost);
      if (next.compareAndSet(before, now + wait)) {
        return wait;
      }
    }
  }
}
