package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Keeps returned credit for the next caller on the same stripe of threads, so that writers do not
 * all contend for the two counters of granted credit.
 *
 * <p>Threads: any.
 */
final class KeptCredit {
  /*
   * Word        one for each stripe: 0, or the bytes (upper half) and pages (lower half) of one grant, which counts
   *             as granted.
   *
   * Transitions any -> grant  CAS        keep, by the thread that returns it; a former grant of another size is released
   *             grant -> 0    CAS        take, by a thread that needs exactly this amount
   *             grant -> 0    exchange   takeBack, by a thread that would have to wait or be refused, or by the thread
   *                                      that kept it and finds a waiter; that thread releases it
   *
   * Invariants  I1 the amount used stays within the bound (R17). A caller that takes kept credit checks everything
   *             that is in use and granted, its own credit included, just like a caller that is granted new credit.
   *             In between the credit is counted twice, as granted and as used by the thread that kept it, which only
   *             keeps others out. I2 no thread waits for credit that is kept. A waiter is on the stack of waiters,
   *             then takes back, then takes, then sleeps. A thread that keeps credit changes the word, then looks at
   *             the stack. Both are changed by CAS and read as volatiles, so one of the two sees the other.
   *             (jcstress: KeptCreditStress) I3 a thread with kept credit is treated like one without. If it has to
   *             be slowed down, if a checkpoint is wanted, or if files of the log are missing, it releases the credit
   *             and asks like every other thread. And no thread is refused because of kept credit, neither by the
   *             bound nor for lack of a file: it is taken back before. For slowing down, kept credit counts: that may
   *             begin early, by a sixteenth of the bound.
   *
   * Little      only a part of each bound is kept, or nothing: with tight bounds it would be taken back all the time.
   */

  /** The source of credit. */
  interface Grants {
    /** Whether credit that is already granted would also be granted now, without a wait. */
    boolean isCalm();

    /** Whether a thread waits for credit; volatile. */
    boolean isAwaited();

    /** Releases credit for all threads. */
    void release(int bytes, int pages);
  }

  private static final int STRIDE = 16;

  /** All stripes together keep at most this part of a bound. */
  private static final int PART = 16;

  private final Grants grants;
  private final int stripes = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors());

  /** The words are a stride apart; the first is a stride behind the beginning. */
  private final AtomicLongArray words = new AtomicLongArray((stripes + 1) * STRIDE);

  private final long mostBytes;
  private final long mostPages;

  /**
   * Makes an object that keeps nothing yet.
   *
   * @param boundBytes the bound of bytes
   * @param boundPages the bound of pages
   */
  KeptCredit(Grants grants, long boundBytes, long boundPages) {
    this.grants = grants;
    mostBytes = boundBytes / PART / stripes;
    mostPages = boundPages / PART / stripes;
  }

  /** Takes credit of exactly this size, if it was kept and may still be used. */
  boolean take(int bytes, int pages) {
    int at = stripe();
    long grant = grant(bytes, pages);
    if (words.get(at) != grant || !words.compareAndSet(at, grant, 0)) {
      return false;
    }
    if (grants.isCalm()) {
      return true;
    }
    grants.release(bytes, pages);
    return false;
  }

  /** Keeps returned credit; false if the caller has to release it. */
  boolean keep(int bytes, int pages) {
    if (bytes > mostBytes || pages > mostPages) {
      return false;
    }
    int at = stripe();
    long grant = grant(bytes, pages);
    long before = words.get(at);
    if (before == grant || !words.compareAndSet(at, before, grant)) {
      return false;
    }
    if (before != 0) {
      release(before);
    }
    if (grants.isAwaited()) {
      takeBack(at);
    }
    return true;
  }

  /** Releases all kept credit. Returns whether there was any. */
  boolean takeBack() {
    boolean any = false;
    for (int stripe = 1; stripe <= stripes; stripe++) {
      any |= takeBack(stripe * STRIDE);
    }
    return any;
  }

  private boolean takeBack(int at) {
    long grant = words.get(at) == 0 ? 0 : words.getAndSet(at, 0);
    if (grant == 0) {
      return false;
    }
    release(grant);
    return true;
  }

  private void release(long grant) {
    grants.release((int) (grant >>> Integer.SIZE), (int) grant);
  }

  private static long grant(int bytes, int pages) {
    return (long) bytes << Integer.SIZE | pages;
  }

  private int stripe() {
    return (1 + ((int) Thread.currentThread().threadId() & (stripes - 1))) * STRIDE;
  }
}
