package org.revenantdb.collections.feed;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Commits of a feed, as those who wait for the next one learn of them. Thread-safe. */
public final class Arrivals {
  /*
   * No arrival is missed
   *             A reader takes `count`, looks at the tables in vain, adds itself to `waiting`, and compares `count`
   *             again, with the lock, before it sleeps. A commit counts itself and then reads `waiting`. Of the two
   *             the later one sees the other: the reader does not sleep, or it is woken, as the commit takes the lock,
   *             which the reader has until it sleeps.
   */

  /** A reader looks at least so often whether the database is still open. */
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final AtomicLong count = new AtomicLong();
  private final AtomicInteger waiting = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();

  /** How many there were; taken before a look. */
  public long count() {
    return count.get();
  }

  /** Called when something was committed, or when those who wait have to look at something else. */
  public void arrived() {
    long _ = count.incrementAndGet();
    if (waiting.get() > 0) {
      lock.lock();
      try {
        arrival.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Waits until there is one behind a count; may return earlier. */
  @SuppressWarnings("WaitNotInLoop") // the caller looks again
  public void await(long seen) throws InterruptedException {
    int _ = waiting.incrementAndGet();
    try {
      lock.lockInterruptibly();
      try {
        if (count.get() == seen) {
          long _ = arrival.awaitNanos(LONGEST_NANOS);
        }
      } finally {
        lock.unlock();
      }
    } finally {
      int _ = waiting.decrementAndGet();
    }
  }
}
