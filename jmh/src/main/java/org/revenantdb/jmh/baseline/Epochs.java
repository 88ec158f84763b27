package org.revenantdb.jmh.baseline;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Epochs that transactions enter before they get their snapshot and leave after it. What was
 * superseded before a moment of epoch E nobody can need any more when all have left who came in E
 * or before.
 *
 * <p>Threads: any; a transaction may be left by another thread than entered it.
 */
final class Epochs {
  /*
   * Cell        0        nobody of this thread is inside
   *             E|n      n transactions of this thread are inside, the first of which came in epoch E; so the others are
   *                      taken to be older than they are
   *
   * Claim       Who scans reads the epoch, C, BEFORE the cells. Then a version that was superseded before somebody read
   *             an epoch e < min(C, all cells seen) is needed by nobody, inside or to come.
   * Proof       Let T need it: T's snapshot is below its supersession. T's cell was set before T's snapshot was taken.
   *             The scan saw T inside: its cell says an epoch that was read before that snapshot, so before e was: it is
   *             at most e, and e is not below the minimum. The scan did not see it: T's snapshot was taken after the
   *             scan read C, which was after e < C was read, which was after the supersession: T does not need it.
   *
   * Three       a new epoch is opened when nobody is left in those before the current one: open, closing, closed. It is
   *             the same claim: then all cells are at or above C.
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

  /** Enters the current epoch; returns what is to be given to {@link #leave}. */
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

  /** The current epoch: the stamp of what is superseded by now. */
  long current() {
    return current.get();
  }

  /** What has a stamp up to this is needed by nobody. */
  long free() {
    return free.get();
  }

  /** Opens a new epoch, if that can be done; tells what is free now. */
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
