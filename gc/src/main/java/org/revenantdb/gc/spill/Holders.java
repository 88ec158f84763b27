package org.revenantdb.gc.spill;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many hold something that goes with the last of them, and then for ever. Threads: any.
 *
 * <p>Claim, tested by {@code VersionSpillStress}: between a {@link #tryHold} that has succeeded and
 * its {@link #letGo} nobody is told that he is the last.
 */
final class Holders {
  private final AtomicInteger count = new AtomicInteger(1);

  /** One holds it. */
  Holders() {}

  /** Holds it; false if it has gone. */
  boolean tryHold() {
    for (int now = count.get(); now != 0; now = count.get()) {
      if (count.compareAndSet(now, now + 1)) {
        return true;
      }
    }
    return false;
  }

  /** Lets go; true for the last one, who takes it away. */
  boolean letGo() {
    return count.decrementAndGet() == 0;
  }
}
