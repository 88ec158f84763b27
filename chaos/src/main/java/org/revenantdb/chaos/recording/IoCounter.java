package org.revenantdb.chaos.recording;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/** Counts for {@link IoCount}; any thread may count, and some count nothing. */
final class IoCounter {
  private final Predicate<Thread> which;
  private final LongAdder reads = new LongAdder();
  private final LongAdder bytesRead = new LongAdder();
  private final LongAdder writes = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder forces = new LongAdder();
  private final LongAdder others = new LongAdder();

  /**
   * Makes one.
   *
   * @param which the threads whose operations count
   */
  IoCounter(Predicate<Thread> which) {
    this.which = which;
  }

  private boolean isCounted() {
    return which.test(Thread.currentThread());
  }

  /** Counts a read; the number of bytes is negative at the end of a file. */
  void read(long bytes) {
    if (isCounted()) {
      reads.increment();
      bytesRead.add(Math.max(0, bytes));
    }
  }

  void write(long bytes) {
    if (isCounted()) {
      writes.increment();
      bytesWritten.add(bytes);
    }
  }

  void force() {
    if (isCounted()) {
      forces.increment();
    }
  }

  void other() {
    if (isCounted()) {
      others.increment();
    }
  }

  IoCount snapshot() {
    return new IoCount(
        reads.sum(), bytesRead.sum(), writes.sum(), bytesWritten.sum(), forces.sum(), others.sum());
  }
}
