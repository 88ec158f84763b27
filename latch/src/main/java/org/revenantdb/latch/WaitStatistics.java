package org.revenantdb.latch;

import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * How often, and for how long, threads waited for one class of latches.
 *
 * <p>A latch has no room for a pointer to its class, so whoever acquires it names the class: {@link
 * HybridLatch#acquireExclusive(WaitStatistics)}. Only an acquisition that was not served at once is
 * counted; one that is costs nothing.
 *
 * <p>Threads: everything may be called by any thread. The counters are striped; what is read while
 * others write is a moment's sum of each counter, not one moment of all.
 */
public final class WaitStatistics {
  private final String latchClass;
  private final LongAdder waits = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  /**
   * Makes empty statistics.
   *
   * @param latchClass the name under which they are shown
   */
  public WaitStatistics(String latchClass) {
    this.latchClass = Objects.requireNonNull(latchClass, "latchClass");
  }

  /**
   * The class of latches that is counted here.
   *
   * @return the name given at construction
   */
  public String latchClass() {
    return latchClass;
  }

  /**
   * How often somebody waited, with or without success.
   *
   * @return the number of acquisitions that were not served at once
   */
  public long waits() {
    return waits.sum();
  }

  /**
   * How long they waited, spinning and parked together.
   *
   * @return the sum of all waits in nanoseconds
   */
  public long waitedNanos() {
    return nanos.sum();
  }

  /**
   * Counts one wait. Never throws, as it is called by one who has just got the latch: a count is
   * lost rather than a latch, should there be no memory for another stripe.
   */
  void record(long waitedNanos) {
    try {
      waits.increment();
      nanos.add(waitedNanos);
    } catch (OutOfMemoryError e) {
      // The stripes stay as they are.
    }
  }

  @Override
  public String toString() {
    return latchClass + ": " + waits() + " waits, " + waitedNanos() + " ns";
  }
}
