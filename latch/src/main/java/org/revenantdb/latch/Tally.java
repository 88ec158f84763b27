package org.revenantdb.latch;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A counter for many threads, like {@link LongAdder}, that may be used under a latch: it never
 * throws.
 *
 * <p>A {@code LongAdder} allocates when several threads collide. Without memory for that, this
 * counter counts in a single word instead. No count is lost.
 */
public final class Tally {
  private final LongAdder adder = new LongAdder();
  private final AtomicLong without = new AtomicLong();

  /** Makes a counter with the value 0. */
  public Tally() {}

  /** Adds one. */
  public void increment() {
    add(1);
  }

  /** Subtracts one. */
  public void decrement() {
    add(-1);
  }

  /**
   * Adds a number.
   *
   * @param number what is added
   */
  public void add(long number) {
    try {
      adder.add(number);
    } catch (VirtualMachineError notThere) {
      without.getAndAdd(number);
    }
  }

  /**
   * The sum of all counts. While other threads count, it is approximate.
   *
   * @return the sum
   */
  public long sum() {
    return adder.sum() + without.get();
  }

  @Override
  public String toString() {
    return Long.toString(sum());
  }
}
