package org.revenantdb.recovery.log;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.WaitMeter;

/**
 * Pages that a restart may have to read, given as credit before anything is latched (R17).
 *
 * <p>Whoever is going to change pages takes credit for as many as it can be, changes them, and
 * returns it; what has become dirty meanwhile counts until no restart would visit it. So {@link
 * #inUse} is at every moment at least the number of pages that a restart would read, and never
 * above the limit.
 *
 * <p>Threads: any. {@link #acquire} and {@link #acquireReserved} wait, uninterruptibly, and must be
 * called with nothing held; the others wait for nothing and may be called with latches held.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 */
public final class PageSpace {
  /*
   * Source      docs/protocols.md §6, where it is argued why this is an upper bound.
   *
   * A stint     of a page, from clean to forced in the data file
   *   begins    dirtied()                                                    inUse + 1
   *   ends      written() or discarded(): becomes part of an Ended, counts on
   *   is gone   when the redo point is at or above `highest`, or the log durable up to `onRecord`: inUse - n
   *
   * Invariants  I1 a stint is in inUse from before the first record of it is reserved to when it is gone.
   *             I2 the sum over `ended` is part of inUse; both are changed under the lock where stints go.
   *
   * Ordering    dirtied() comes before the credit it belongs to is released: see Credit.
   * Races left in   `redoPoint` and the durable position may be a little old: then a stint goes a little later.
   */

  /** Written without being on record: it counts until the redo point has passed it. */
  public static final long NOT_ON_RECORD = Long.MAX_VALUE;

  private record Ended(int pages, long highest, long onRecord) {}

  private final LongSupplier durable;
  private final Credit credit;
  private final AtomicLong inUse = new AtomicLong();
  private final AtomicLong gone = new AtomicLong();
  private final PatientLock lock = new PatientLock();
  private final ArrayDeque<Ended> ended = new ArrayDeque<>();
  private long goneAtCheckpoint;
  private volatile long redoPoint;

  /**
   * Room for so many pages, none of which is in use.
   *
   * @param durable up to where the log is durable
   * @param limit how many pages a restart may have to read
   * @param reserve how many of them only {@link #acquireReserved} gives
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public PageSpace(LongSupplier durable, long limit, long reserve, Runnable hurry) {
    this(durable, limit, reserve, hurry, WaitMeter.NONE);
  }

  /**
   * Room for so many pages, none of which is in use; waits for credit are told.
   *
   * @param durable up to where the log is durable
   * @param limit how many pages a restart may have to read
   * @param reserve how many of them only {@link #acquireReserved} gives
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   * @param waits where who has to wait is told, be it slowed down or until there is enough
   */
  public PageSpace(
      LongSupplier durable, long limit, long reserve, Runnable hurry, WaitMeter waits) {
    this(durable, limit, reserve, hurry, Pace.Time.SYSTEM, waits);
  }

  /** For tests, which have a time of their own. */
  PageSpace(LongSupplier durable, long limit, long reserve, Runnable hurry, Pace.Time time) {
    this(durable, limit, reserve, hurry, time, WaitMeter.NONE);
  }

  private PageSpace(
      LongSupplier durable,
      long limit,
      long reserve,
      Runnable hurry,
      Pace.Time time,
      WaitMeter waits) {
    this.durable = durable;
    AtomicLong used = inUse;
    AtomicLong before = gone;
    this.credit =
        new Credit(
            new Credit.Use() {
              @Override
              public long now() {
                return used.get();
              }

              @Override
              public long total() {
                return used.get() + before.get();
              }

              @Override
              public boolean isCreditUse() {
                return false; // a split takes a hundred times what it needs; no checkpoint gives
                // that back
              }
            },
            limit,
            reserve,
            hurry,
            time,
            waits);
  }

  /**
   * Room for any number of pages.
   *
   * @return a space in which nobody waits
   */
  public static PageSpace unlimited() {
    return new PageSpace(() -> 0, Long.MAX_VALUE / 2, /* reserve= */ 0, () -> {});
  }

  /**
   * Takes credit for ordinary work; waits until there is enough.
   *
   * @param pages the most that may become dirty
   * @throws LogStoppedException if the engine has stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquire(int pages) {
    settleIfScarce();
    credit.acquire(pages);
  }

  /**
   * Takes credit if that needs no waiting, and nobody else waits.
   *
   * @param pages the most that may become dirty
   * @return whether it was taken
   */
  public boolean tryAcquire(int pages) {
    return credit.tryAcquire(pages);
  }

  /**
   * Takes credit, the reserve included: does not wait for who may not use that.
   *
   * @param pages the most that may become dirty
   * @throws LogStoppedException if the engine has stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquireReserved(int pages) {
    settleIfScarce();
    credit.acquireReserved(pages);
  }

  /**
   * Returns credit, used or not.
   *
   * @param pages what was acquired
   */
  public void release(int pages) {
    credit.release(pages);
  }

  /** A page that was clean is about to be changed; before the record is reserved. */
  public void dirtied() {
    inUse.getAndIncrement();
  }

  /**
   * Pages are in the data file, forced; each of them ends one stint.
   *
   * @param pages how many
   * @param highest the highest LSN that one of them has there
   * @param onRecord the LSN of the record that says so, or {@link #NOT_ON_RECORD}
   */
  public void written(int pages, long highest, long onRecord) {
    end(new Ended(pages, highest, onRecord));
  }

  /**
   * A dirty page that was freed is not going to be written.
   *
   * @param tail an LSN at or above that of the record which frees it
   */
  public void discarded(long tail) {
    end(new Ended(1, /* highest= */ tail, /* onRecord= */ tail));
  }

  private void end(Ended stints) {
    lock.lock();
    try {
      ended.addLast(stints);
    } finally {
      lock.unlock();
    }
    settle();
  }

  /** Takes out of the count what no restart would visit, unless somebody is just doing it. */
  private void settle() {
    if (lock.tryLock()) {
      boolean any;
      try {
        any = forget();
      } finally {
        lock.unlock();
      }
      if (any) {
        credit.wake();
      }
    }
  }

  private void settleIfScarce() {
    if (credit.isScarce()) {
      settle();
    }
  }

  /** With the lock held; whether there was anything. */
  private boolean forget() {
    if (ended.isEmpty()) {
      return false;
    }
    long passed = redoPoint;
    long forced = durable.getAsLong();
    long pages = 0;
    for (Iterator<Ended> stints = ended.iterator(); stints.hasNext(); ) {
      Ended one = stints.next();
      if (one.highest <= passed || one.onRecord <= forced) {
        stints.remove();
        pages += one.pages;
      }
    }
    gone.getAndAdd(pages);
    inUse.getAndAdd(-pages);
    return pages > 0;
  }

  /**
   * Says that a checkpoint is durable.
   *
   * @param newRedoPoint from where recovery would read now
   */
  public void redoPointMoved(long newRedoPoint) {
    redoPoint = newRedoPoint;
    long freed;
    lock.lock();
    try {
      forget();
      freed = gone.get() - goneAtCheckpoint;
      goneAtCheckpoint += freed;
    } finally {
      lock.unlock();
    }
    credit.freed(freed);
  }

  /**
   * Fails everyone who waits or comes later.
   *
   * @param cause why the engine has stopped
   */
  public void stop(Throwable cause) {
    credit.stop(cause);
  }

  /**
   * How many pages a restart would have to read now, at most.
   *
   * @return the number, without what is only granted
   */
  public long inUse() {
    return inUse.get();
  }

  /** Its credit, for {@link KeptCredit}. */
  Credit credit() {
    return credit;
  }

  /**
   * Whether so many pages are in use that a checkpoint is wanted.
   *
   * @return whether it is more than half of the limit
   */
  public boolean isScarce() {
    return credit.isScarce();
  }
}
