package org.revenantdb.chaos.recording;

import java.util.concurrent.atomic.LongAdder;

/** Counts for {@link IoCount}; any thread may count. */
final class IoCounter {

  private final LongAdder reads = new LongAdder();
  private final LongAdder bytesRead = new LongAdder();
  private final LongAdder writes = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder forces = new LongAdder();
  private final LongAdder others = new LongAdder();

  /** Counts a read; the number of bytes is negative at the end of a file. */
  void read(long bytes) {
    reads.increment();
    bytesRead.add(Math.max(0, bytes));
  }

  void write(long bytes) {
    writes.increment();
    bytesWritten.add(bytes);
  }

  void force() {
    forces.increment();
  }

  void other() {
    others.increment();
  }

  IoCount snapshot() {
    return new IoCount(
        reads.sum(), bytesRead.sum(), writes.sum(), bytesWritten.sum(), forces.sum(), others.sum());
  }
}
