package org.revenantdb.latch;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A counter for many threads, as {@link LongAdder}, that can be counted under a latch: it never
 * throws.
 *
 * <p>A {@code LongAdder} allocates when several threads meet at it. Without memory for that, this
 * counter counts in one word instead. Nothing is lost.
 */
public final class Tally {
  private final LongAdder adder = new LongAdder();
  private final AtomicLong without = new AtomicLong();

  /** A counter that is 0. */
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
   * What has been counted; beside those who count, a value of about now.
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
