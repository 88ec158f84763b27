package org.revenantdb.engine.version;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Limits the work of the cleaner while others write. All cleaner threads together use a tenth of
 * the time of one thread, whatever their number. The remains of aborted transactions do no harm,
 * and there may be many; so after some work there is a rest. While no thread writes there is no
 * rest.
 */
final class CleaningBudget {
  /*
   * Rest        After a slice of work a thread owes a rest that is RESTS times as long. The owed rests are added up,
   *             and all threads rest until the end of the sum. So they rest at the same time, and a write in that
   *             time is by another thread. If the log's end does not move between two checks,
   *             and no cleaner thread is at work, no other thread writes.
   *
   * Races left in   a cleaner thread that is just ending a visit may be taken for another writer: then the rest goes
   *                 on until the next check. Two threads may clear the sum at the same time, or one may add to it
   *                 meanwhile: that costs or saves a rest.
   */
  /** The work between two rests. */
  private static final long SLICE = 500_000L;

  /** A rest is this many times as long as the work before it. */
  private static final int RESTS = 9;

  /** The period of checks during a rest whether others still write. */
  private static final long LOOK = 200_000L;

  private final LongSupplier endOfLog;
  private final BooleanSupplier stops;
  private final LongSupplier clock;
  private final AtomicLong restUntil;
  private final AtomicInteger atWork = new AtomicInteger();

  /** The work of one thread. */
  static final class Share {
    private long since;

    private Share(long since) {
      this.since = since;
    }
  }

  /**
   * Makes a budget without owed rests.
   *
   * @param endOfLog the end of the log, which moves if any thread writes
   * @param stops whether no thread should rest any more
   * @param clock nanoseconds since an arbitrary moment
   */
  CleaningBudget(LongSupplier endOfLog, BooleanSupplier stops, LongSupplier clock) {
    this.endOfLog = endOfLog;
    this.stops = stops;
    this.clock = clock;
    this.restUntil = new AtomicLong(clock.getAsLong());
  }

  /** Called when the calling thread begins to work; {@link #end} must follow. */
  Share begin() {
    atWork.getAndIncrement();
    return new Share(clock.getAsLong());
  }

  /** Called when the calling thread has ended its work. */
  void end() {
    atWork.getAndDecrement();
  }

  /**
   * Called before the next piece of work: rests if a rest is owed. Returns whether it has rested.
   */
  boolean awaitTurn(Share share) {
    long now = clock.getAsLong();
    long worked = now - share.since;
    if (worked < SLICE && restUntil.get() - now <= 0) {
      return false;
    }
    owe(now, worked);
    atWork.getAndDecrement();
    try {
      rest();
    } finally {
      atWork.getAndIncrement();
    }
    share.since = clock.getAsLong();
    return true;
  }

  /** Adds the rest for this many nanoseconds of work. */
  void owe(long now, long worked) {
    long rest = RESTS * Math.min(worked, 2 * SLICE);
    restUntil.getAndUpdate(until -> Math.max(until - now, 0) + now + rest);
  }

  /** How long a rest would be. */
  long owed(long now) {
    return Math.max(0, restUntil.get() - now);
  }

  private void rest() {
    long end = endOfLog.getAsLong();
    while (owed(clock.getAsLong()) > 0) {
      boolean isWanted = stops.getAsBoolean();
      if (!isWanted) {
        LockSupport.parkNanos(this, LOOK);
      }
      long moved = endOfLog.getAsLong();
      boolean nobodyWrites = atWork.get() == 0 && moved == end;
      if (isWanted || nobodyWrites) {
        restUntil.set(clock.getAsLong());
        return;
      }
      end = moved;
    }
  }
}
