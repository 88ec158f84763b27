package org.revenantdb.gc.spill;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the holders of something that is removed, for ever, with its last holder. Threads: any.
 *
 * <p>Claim, tested by {@code VersionSpillStress}: between a successful {@link #tryHold} and its
 * {@link #letGo}, no call of {@link #letGo} reports the last holder.
 */
final class Holders {
  private final AtomicInteger count = new AtomicInteger(1);

  /** Starts with one holder. */
  Holders() {}

  /** Adds a holder; false if the thing has been removed. */
  boolean tryHold() {
    for (int now = count.get(); now != 0; now = count.get()) {
      if (count.compareAndSet(now, now + 1)) {
        return true;
      }
    }
    return false;
  }

  /** Removes a holder; true for the last one, which has to remove the thing. */
  boolean letGo() {
    return count.decrementAndGet() == 0;
  }
}
