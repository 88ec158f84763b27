package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Credit that was given back, for who asks next on the same stripe of threads, so that those who
 * write do not all meet at the two numbers that say how much is granted.
 *
 * <p>Threads: any.
 */
final class KeptCredit {
  /*
   * Word        of each stripe: 0, or the bytes (upper half) and pages (lower half) of one grant. It counts as granted.
   *
   * Transitions any -> grant  CAS        keep, by who gives it back; what was there, of another size, is released
   *             grant -> 0    CAS        take, by who asks for just as much
   *             grant -> 0    exchange   takeBack, by who would have to wait or to be refused, or by the one who kept it
   *                                      and finds that somebody waits; he releases it
   *
   * Invariants  I1 what is used stays within the bound (R17): who takes what was kept looks at all that is in use and
   *             granted, his own included, as who is granted something new does. In between it is counted twice, as
   *             granted and as used by him who kept it, which only keeps others out.
   *             I2 nobody waits for what is kept: who waits is on the stack of waiters, then takes back, then takes, then
   *             sleeps; who keeps changes the word, then looks at the stack. Both are changed by CAS and read as
   *             volatiles, so one of the two sees the other. (jcstress: KeptCreditStress)
   *             I3 who has kept credit is treated as who has not: where he is to be slowed down, a checkpoint is wanted,
   *             or files of the log are not there, he releases it and asks as everyone. And nobody is refused for what is
   *             kept, neither by the bound nor for want of a file: it is taken back before. What is kept counts where
   *             it only slows down: that may begin by a sixteenth of the bound early.
   *
   * Little      no more is kept than a part of each bound, or nothing: where bounds are tight it would be taken back
   *             all the time.
   */

  /** Who grants. */
  interface Grants {
    /** Whether credit that is granted already would be granted now, and at once. */
    boolean isCalm();

    /** Whether somebody waits for credit; volatile. */
    boolean isAwaited();

    /** Gives credit back to all. */
    void release(int bytes, int pages);
  }

  private static final int STRIDE = 16;

  /** Of a bound no more than this part is kept, by all stripes together. */
  private static final int PART = 16;

  private final Grants grants;
  private final int stripes = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors());

  /** A stride apart, the first a stride behind the beginning. */
  private final AtomicLongArray words = new AtomicLongArray((stripes + 1) * STRIDE);

  private final long mostBytes;
  private final long mostPages;

  /**
   * Nothing is kept.
   *
   * @param boundBytes how much credit there is in all
   * @param boundPages the same, of pages
   */
  KeptCredit(Grants grants, long boundBytes, long boundPages) {
    this.grants = grants;
    mostBytes = boundBytes / PART / stripes;
    mostPages = boundPages / PART / stripes;
  }

  /** Takes credit of just this size, if it was kept and nothing speaks against it. */
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

  /** Keeps credit that is given back; false if it has to be released. */
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

  /** Releases all that is kept; whether there was any. */
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
