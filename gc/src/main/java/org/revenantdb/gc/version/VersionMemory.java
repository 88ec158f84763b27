package org.revenantdb.gc.version;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * Counts the memory of older versions, and holds writers back when it is too much.
 *
 * <p>Threads: any. A waiting thread holds no latch, and keeps an interrupt for later.
 */
final class VersionMemory {
  /*
   * used              failure   a writer, before it latches   a version that leaves its page
   * <= budget         any       goes on                       is taken
   * <= limit          any       wakes the spiller             is taken
   * >  limit          none      wakes it and waits            is taken: it was on its way
   * >  limit          one       wakes it and goes on          is refused, nothing has changed
   *
   * Waking            a waiter enters itself, then reads `used`. A thread that gives memory back changes `used`, then
   *                   looks for waiters. One of the two sees the other (LsnWaiters).
   */
  private final long budget;
  private final long limit;
  private final WaitMeter waits;
  private final AtomicLong used = new AtomicLong();

  /** The waiting callers. They do not use a condition ({@link org.revenantdb.latch.Parking}). */
  private final LsnWaiters callers = new LsnWaiters();

  @SuppressWarnings("UnnecessaryLambda") // made once, so that neither waiting nor waking allocates
  private final LongPredicate mayGoOn = any -> mustNotWait();

  private volatile @Nullable Throwable failure;

  VersionMemory(long budget, WaitMeter waits) {
    this.budget = budget;
    this.limit = budget + budget / 4;
    this.waits = waits;
  }

  long budget() {
    return budget;
  }

  long used() {
    return used.get();
  }

  boolean isOverBudget() {
    return used.get() > budget;
  }

  /** Counts memory that is about to be used; a negative number if it is not used after all. */
  void take(long bytes) {
    used.addAndGet(bytes);
  }

  /** Counts memory that is no longer used. */
  void giveBack(long bytes) {
    used.addAndGet(-bytes);
    callers.wake(mayGoOn);
  }

  /** Waits while too much memory is used and the spiller can free some. */
  void awaitRoom() {
    if (mustNotWait()) {
      return;
    }
    Object begun = waits.begin();
    try {
      callers.await(0, mayGoOn);
    } finally {
      waits.end(begun);
    }
  }

  private boolean mustNotWait() {
    return used.get() <= limit || failure != null;
  }

  /** Whether another version is refused now: too much memory is used, and none can be freed. */
  boolean isRefused() {
    return failure != null && used.get() > limit;
  }

  /** Throws if another version is refused now. */
  void demandRoom() {
    Throwable why = failure;
    if (why != null && isRefused()) {
      throw refused(why);
    }
  }

  /** Called when no memory could be freed, for now. */
  void failed(Throwable why) {
    failure = why;
    callers.wake(mayGoOn);
  }

  /** Called when memory could be freed. */
  void succeeded() {
    failure = null;
  }

  boolean hasFailed() {
    return failure != null;
  }

  private RuntimeException refused(Throwable why) {
    String reason =
        "older versions of rows that open snapshots need take "
            + used.get()
            + " bytes of memory, which is the limit, and could not be written to a file";
    String cure =
        "make room on the device, or end the transactions that have been open longest, then repeat the statement: it has"
            + " changed nothing";
    if (why instanceof FileException file) {
      String all = reason + " (" + file.reason() + ")";
      return why instanceof DiskFullException
          ? new DiskFullException(file.file(), file.offset(), all, cure, why)
          : new StorageIOException(file.file(), file.offset(), all, cure, why);
    }
    return new IllegalStateException(reason + " (" + why + "); " + cure, why);
  }
}
