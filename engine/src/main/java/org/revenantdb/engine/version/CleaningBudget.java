package org.revenantdb.engine.version;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * How much the threads of the cleaner work beside others who write: together a tenth of the time of
 * one, whatever their number. What aborted transactions have left is in nobody's way, and there may
 * be much of it; so after some work there is a rest. Where nobody writes there is none.
 */
final class CleaningBudget {
  /*
   * Rest        After a slice of work a thread owes a rest that is RESTS times as long. What is owed is added up: all
   *             rest until the end of it, whoever owes it. So they all rest at the same time, and who writes then is
   *             somebody else: the log's end stands still between two looks, and nobody of the cleaner's was at work.
   *
   * Races left in   one that is just ending a visit is taken for somebody else who writes: the rest goes on until the
   *             next look. Two may forget what is owed at the same time, or one add to it meanwhile: a rest more or less.
   */
  /** Work between two rests. */
  private static final long SLICE = 500_000L;

  /** A rest is so many times as long as the work before it. */
  private static final int RESTS = 9;

  /** While it rests it looks so often whether others still write. */
  private static final long LOOK = 200_000L;

  private final LongSupplier endOfLog;
  private final BooleanSupplier stops;
  private final LongSupplier clock;
  private final AtomicLong restUntil;
  private final AtomicInteger atWork = new AtomicInteger();

  /** What one thread has worked. */
  static final class Share {
    private long since;

    private Share(long since) {
      this.since = since;
    }
  }

  /**
   * Nothing is owed.
   *
   * @param endOfLog what moves when anybody writes
   * @param stops whether nobody is to rest any more
   * @param clock nanoseconds, from anywhere
   */
  CleaningBudget(LongSupplier endOfLog, BooleanSupplier stops, LongSupplier clock) {
    this.endOfLog = endOfLog;
    this.stops = stops;
    this.clock = clock;
    this.restUntil = new AtomicLong(clock.getAsLong());
  }

  /** The calling thread begins to work; {@link #end} follows. */
  Share begin() {
    atWork.getAndIncrement();
    return new Share(clock.getAsLong());
  }

  /** The calling thread has ended its work. */
  void end() {
    atWork.getAndDecrement();
  }

  /** Before the next piece of work: rests if that is owed; whether it has rested. */
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

  /** Adds what work of so many nanoseconds costs. */
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
