package org.revenantdb.engine.version;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.space.PageVisits;
import org.revenantdb.engine.version.CleaningBudget.Share;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;

/**
 * The visits of one pass of the cleaner, to the pages that were marked when it began, and to those
 * that are added meanwhile. The thread that makes the pass and its helpers do the visits.
 *
 * <p>The helpers are started for the pass, and have ended when {@link #run} returns, normally or
 * not.
 */
final class CleaningPass {
  /*
   * Protocol    docs/protocols.md §35.
   *
   * Invariants  I1 a page of the pass is in the bitmap, or a thread has taken it and has not left it, or
   *             it was visited.
   *             I2 run returns true only after it saw no page in the bitmap while no thread visited one: then all
   *             pages that were added before are visited, too, wherever a row was moved meanwhile (R2).
   *             I3 a page that cannot be read, or be cleaned for lack of room, stays marked, and is postponed when
   *             no thread visits pages any more: then its mark shows whether it was freed. It does not delay the
   *             work on other pages.
   */
  /** The period of checks for added pages; helpers report their end. */
  private static final long LOOK = 1_000_000L;

  private final Storage storage;
  private final PageBitmap pages;
  private final PageVisits visits;
  private final Cleaner.Inside inside;
  private final long horizon;
  private final BooleanSupplier closed;
  private final @Nullable CleaningBudget budget;

  private final AtomicInteger cursor = new AtomicInteger();
  private final AtomicInteger helping = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final Tally changes = new Tally();
  private final PageBitmap unreadable = new PageBitmap();

  /**
   * Makes a pass that has not begun.
   *
   * @param pages the pages to visit; others add more
   * @param visits the visits of all threads
   * @param inside runs each visit
   * @param horizon every snapshot is at or above it, and the log is durable up to it
   * @param closed whether it has to end after the pages that are being visited
   * @param budget limits its work while others write; null: no limit
   */
  CleaningPass(
      Storage storage,
      PageBitmap pages,
      PageVisits visits,
      Cleaner.Inside inside,
      long horizon,
      BooleanSupplier closed,
      @Nullable CleaningBudget budget) {
    this.storage = storage;
    this.pages = pages;
    this.visits = visits;
    this.inside = inside;
    this.horizon = horizon;
    this.closed = closed;
    this.budget = budget;
  }

  /** How many things were changed. */
  long changes() {
    return changes.sum();
  }

  /** Whether a page was left that could not be visited: nothing is forgotten then. */
  boolean hasSkipped() {
    return !unreadable.isEmpty();
  }

  /**
   * Visits all pages.
   *
   * @param own the visits of the calling thread
   * @param helpers the visits of the helpers
   * @param threadName the names of their threads begin with this
   * @param pagesPerHelper a helper is started for each this many pages
   * @param tidy the calling thread runs it after a rest
   * @return false if it ended early, as it was closed
   */
  boolean run(
      PageVisit own,
      List<PageVisit> helpers,
      String threadName,
      int pagesPerHelper,
      Runnable tidy) {
    Thread caller = Thread.currentThread();
    try {
      do {
        int wanted = Math.min(helpers.size(), (pages.count() - 1) / pagesPerHelper);
        for (int i = 0; i < wanted; i++) {
          start(helpers.get(i), threadName + '-' + (i + 2), caller);
        }
        work(own, tidy);
        while (helping.get() > 0) {
          if (pages.count() == 0 || !work(own, tidy)) {
            LockSupport.parkNanos(this, LOOK);
          }
        }
      } while (!isStopped() && pages.next(0) >= 0);
    } catch (Throwable e) {
      fail(e);
    }
    while (helping.get() > 0) {
      LockSupport.parkNanos(this, LOOK);
    }
    throwFailure();
    for (int page = unreadable.next(0); page >= 0; page = unreadable.next(page + 1)) {
      storage.marks().postponeIfMarked(page);
    }
    return !isStopped();
  }

  /** Starts a helper. If no thread can be started, the others do its work. */
  private void start(PageVisit helper, String name, Thread caller) {
    helping.getAndIncrement();
    try {
      FileThread.of(name, () -> work(helper, () -> {}), this::fail, () -> helperEnded(caller))
          .start();
    } catch (OutOfMemoryError noThread) {
      helping.getAndDecrement();
    }
  }

  private void helperEnded(Thread caller) {
    helping.getAndDecrement();
    LockSupport.unpark(caller);
  }

  private boolean isStopped() {
    return failure.get() != null || closed.getAsBoolean();
  }

  private void fail(Throwable e) {
    if (!failure.compareAndSet(null, e)) {
      Throwable first = failure.get();
      if (first != null && !first.equals(e)) {
        first.addSuppressed(e);
      }
    }
  }

  private void throwFailure() {
    Throwable failed = failure.get();
    if (failed instanceof Error error) {
      throw error;
    }
    if (failed instanceof RuntimeException exception) {
      throw exception;
    }
  }

  /**
   * Visits pages until all remaining ones are being visited by other threads. Returns whether there
   * was one to visit.
   */
  private boolean work(PageVisit visitor, Runnable tidy) {
    Share share = budget == null ? null : budget.begin();
    boolean any = false;
    try {
      while (!isStopped()) {
        if (budget != null
            && share != null
            && pages.next(cursor.get()) >= 0
            && budget.awaitTurn(share)) {
          tidy.run();
          continue; // it may have been closed meanwhile
        }
        int page = take();
        if (page < 0) {
          break;
        }
        any = true;
        try {
          visit(visitor, page);
        } finally {
          visits.end(page);
        }
      }
    } finally {
      if (budget != null) {
        budget.end();
      }
    }
    return any;
  }

  /** Takes a page that no thread visits, roughly in the order of the file; -1 if there is none. */
  private int take() {
    int from = cursor.get();
    boolean isSecondRound = from == 0;
    while (true) {
      int page = pages.next(from);
      if (page < 0 && isSecondRound) {
        return -1;
      }
      if (page < 0) {
        isSecondRound = true;
        from = 0;
        continue;
      }
      if (visits.begin(page)) {
        boolean taken = false;
        try {
          taken = pages.clear(page);
        } finally {
          if (!taken) {
            visits.end(page); // another thread has visited or freed it, or there is no memory
          }
        }
        if (taken) {
          cursor.set(page + 1);
          return page;
        }
      }
      from = page + 1;
    }
  }

  private void visit(PageVisit visitor, int page) {
    try {
      changes.add(inside.run(() -> visitor.visit(page, horizon)));
    } catch (FileException cannotBeRead) {
      if (storage.log().failure() != null) {
        throw cannotBeRead;
      }
      if (!visits.isFreed(page)) {
        unreadable.set(page);
      }
    }
  }
}
