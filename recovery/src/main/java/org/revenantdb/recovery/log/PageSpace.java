package org.revenantdb.recovery.log;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.WaitMeter;

/**
 * Limits the pages that a restart may have to read. Threads take credit for pages before they latch
 * anything (R17).
 *
 * <p>A thread that is going to change pages takes credit for the greatest possible number, changes
 * them, and returns the credit. Pages that became dirty meanwhile count until no restart would
 * visit them. So {@link #inUse} is at every moment at least the number of pages that a restart
 * would read, and never above the limit.
 *
 * <p>Threads: any. {@link #acquire} and {@link #acquireReserved} wait, uninterruptibly, and must be
 * called with nothing held. The other methods do not wait and may be called with latches held.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 */
public final class PageSpace {
  /*
   * Source      docs/protocols.md §6, with the argument why this is an upper bound.
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
   * Races left in   `redoPoint` and the durable position may be a little old: then a stint ends to count a little
   *                 later.
   */

  /**
   * For pages that were written without a record of it: they count until the redo point has passed.
   */
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
   * Room for that many pages, none of which is in use.
   *
   * @param durable the end of the durable part of the log
   * @param limit how many pages a restart may have to read
   * @param reserve how many of them only {@link #acquireReserved} grants
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public PageSpace(LongSupplier durable, long limit, long reserve, Runnable hurry) {
    this(durable, limit, reserve, hurry, WaitMeter.NONE);
  }

  /**
   * Room for that many pages, none of which is in use; waits for credit are reported.
   *
   * @param durable the end of the durable part of the log
   * @param limit how many pages a restart may have to read
   * @param reserve how many of them only {@link #acquireReserved} grants
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   * @param waits receives the waits, both those that slow down and those until there is enough
   *     credit
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
                // A split takes credit for a hundred times what it needs; no checkpoint frees that.
                return false;
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
   * @return a space in which no thread waits
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
   * Takes credit if that needs no wait, and no other thread waits.
   *
   * @param pages the most that may become dirty
   * @return whether it was taken
   */
  public boolean tryAcquire(int pages) {
    return credit.tryAcquire(pages);
  }

  /**
   * Takes credit, including the reserve. Does not wait behind callers that may not use the reserve.
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

  /** Called when a clean page is about to be changed, before the record is reserved. */
  public void dirtied() {
    inUse.getAndIncrement();
  }

  /**
   * Called when pages are forced in the data file; each of them ends one stint.
   *
   * @param pages the number of pages
   * @param highest the highest LSN of these pages there
   * @param onRecord the LSN of the record about this write, or {@link #NOT_ON_RECORD}
   */
  public void written(int pages, long highest, long onRecord) {
    end(new Ended(pages, highest, onRecord));
  }

  /**
   * Called for a dirty page that was freed and will not be written.
   *
   * @param tail an LSN at or above that of the record that frees it
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

  /** Stops counting pages that no restart would visit, unless another thread is just doing this. */
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

  /** Called with the lock held. Returns whether there was anything to do. */
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
   * Called when a checkpoint is durable.
   *
   * @param newRedoPoint the position from which recovery would read now
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
   * Makes present waiters and later callers fail.
   *
   * @param cause why the engine has stopped
   */
  public void stop(Throwable cause) {
    credit.stop(cause);
  }

  /**
   * An upper bound of the pages that a restart would have to read now.
   *
   * @return the number, without credit that is only granted
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
   * @return whether more than half of the limit is in use
   */
  public boolean isScarce() {
    return credit.isScarce();
  }
}
