package org.revenantdb.recovery.log;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Limits how fast the log may grow when room in it gets scarce, or how fast pages may become dirty.
 * Growth becomes slower step by step, instead of running at full speed and then stopping.
 *
 * <p>Threads: any; a thread that may be slowed down must hold nothing.
 */
final class Pace {
  /*
   * The law    p = (used - mark) / (bound - mark), from 0 to 1
   *            r = nanoseconds in which a checkpoint frees one unit (a byte, a page), measured from the wish for it
   *                to its end, averaged (3 parts what was, 1 part what is new)
   *            one unit costs p * r of a time that all share: `next` is when the next one may go
   *
   *            So at the bound, use grows as fast as it is freed, and half way at twice that speed. If writers need k
   *            times what is freed, `used` settles where p = 1/k. Up to the mark no thread waits. A checkpoint is
   *            requested long before, and normally ends before.
   * What is paid for   the growth since the last payment, but at most the requested credit. The credit alone would
   *                    not do: it is the worst case, often a hundred times what is used.
   * Bound      no thread waits longer than LONGEST here, and `next` is never further away. Credit enforces the hard
   *            limit.
   *
   * Races left in   `paid`, r and the beginning of a checkpoint are read and written without coordination. So a
   *                 single wait may be too short or too long, within its bound.
   */

  /** The longest wait. */
  static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(10);

  /** A clock, and a way to pause. */
  interface Time {
    /** The system's time. */
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

    /** Nanoseconds since an arbitrary moment. */
    long now();

    /** Pauses for that many nanoseconds. */
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
   * A pace that slows down no thread until a first checkpoint has shown its speed.
   *
   * @param mark the amount in use from which on growth is slowed down
   * @param bound the amount at which it is slowest
   */
  Pace(long mark, long bound, Time time) {
    this.mark = mark;
    this.bound = bound;
    this.time = time;
    next = new AtomicLong(time.now());
  }

  /** Called when a checkpoint is requested. */
  void asked() {
    begun = time.now();
    working = true;
  }

  /** Called when a checkpoint has ended and has freed this amount. */
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
   * @param used the amount in use, including the requested credit
   * @param total the total that ever came into use: the end of the log, or how many pages became
   *     dirty
   * @param credit the requested credit
   * @return nanoseconds, 0 if it need not wait
   */
  long due(long used, long total, long credit) {
    return used > mark && nanosPerUnit > 0 ? price(used, Math.min(credit, grown(total))) : 0;
  }

  /**
   * Waits.
   *
   * @param nanos the result of {@link #due}
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
