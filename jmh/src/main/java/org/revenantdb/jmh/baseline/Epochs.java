package org.revenantdb.jmh.baseline;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Epochs that transactions enter before they get their snapshot and leave after it. A version
 * superseded before a moment of epoch E is unneeded when all transactions have left that entered in
 * E or before.
 *
 * <p>Threads: any; a transaction may be left by another thread than entered it.
 */
final class Epochs {
  /*
   * Cell        0        no transaction of this thread is inside
   *             E|n      n transactions of this thread are inside, the first of which entered in
   *                      epoch E; so the others are taken to be older than they are
   *
   * Claim       A scan reads the epoch, C, BEFORE the cells. Take a version that was superseded
   *             before some thread read an epoch e < min(C, all cells seen). No transaction, inside
   *             or future, needs it.
   * Proof       Let T need it: T's snapshot is below its supersession. T's cell was set before T's
   *             snapshot was taken. Case 1, the scan saw T inside: its cell has an epoch that was
   *             read before that snapshot, so before e was read. So it is at most e, and e is not
   *             below the minimum. Case 2, the scan did not see T: T's snapshot was taken after the
   *             scan read C, which was after e < C was read, which was after the supersession. So T
   *             does not need it.
   *
   * Three       a new epoch is opened when no transaction is left in those before the current one:
   *             open, closing, closed. The same claim holds: then all cells are at or above C.
   * Unbounded   a new epoch is opened at once.
   */
  private static final int CELLS = 4096;
  private static final int STRIDE = 16;
  private static final int COUNT_BITS = 16;
  private static final long COUNT = (1L << COUNT_BITS) - 1;

  private final boolean three;
  private final AtomicLong current = new AtomicLong(1);
  private final AtomicLong free = new AtomicLong();
  private final AtomicLongArray cells = new AtomicLongArray(CELLS * STRIDE);
  private final AtomicInteger threads = new AtomicInteger();

  @SuppressWarnings("ThreadLocalUsage") // there is one object of this class in a database
  private final ThreadLocal<Integer> own = ThreadLocal.withInitial(threads::getAndIncrement);

  /** Epochs of which three are alive at most, or any number. */
  Epochs(boolean three) {
    this.three = three;
  }

  /** Enters the current epoch; returns the argument for {@link #leave}. */
  int enter() {
    int cell = own.get();
    if (cell >= CELLS) {
      throw new IllegalStateException("more than " + CELLS + " threads");
    }
    long before;
    long after;
    do {
      before = cells.get(cell * STRIDE);
      after = before == 0 ? (current.get() << COUNT_BITS) + 1 : before + 1;
    } while (!cells.compareAndSet(cell * STRIDE, before, after));
    return cell;
  }

  void leave(int cell) {
    long before;
    long after;
    do {
      before = cells.get(cell * STRIDE);
      after = (before & COUNT) == 1 ? 0 : before - 1;
    } while (!cells.compareAndSet(cell * STRIDE, before, after));
  }

  /** The current epoch: the stamp of versions superseded by now. */
  long current() {
    return current.get();
  }

  /** Versions with a stamp up to this are unneeded. */
  long free() {
    return free.get();
  }

  /** Opens a new epoch if possible; returns the stamp up to which versions are free now. */
  long advance() {
    long epoch = current.get();
    if (!three && current.compareAndSet(epoch, epoch + 1)) {
      epoch++;
    }
    long oldest = Math.min(epoch, oldest());
    if (three && oldest == epoch) {
      current.compareAndSet(epoch, epoch + 1);
    }
    return free.accumulateAndGet(oldest - 1, Math::max);
  }

  private long oldest() {
    long oldest = Long.MAX_VALUE;
    int used = Math.min(CELLS, threads.get());
    for (int cell = 0; cell < used; cell++) {
      long value = cells.get(cell * STRIDE);
      if (value != 0) {
        oldest = Math.min(oldest, value >>> COUNT_BITS);
      }
    }
    return oldest;
  }
}
