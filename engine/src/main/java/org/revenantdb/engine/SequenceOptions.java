package org.revenantdb.engine;

import org.revenantdb.engine.page.SequenceRow;

/**
 * Options of a {@link Sequence}. They are set when it is created and never change. Immutable.
 *
 * @param start the first number, before {@link SequenceOrder#BIT_REVERSED} reverses it; that order
 *     needs at least 1
 * @param increment the distance from each number to the next, not 0; a negative one counts down
 * @param cacheSize number of values that one log record reserves; 1 means no cache, so each value
 *     has a record of its own; 0 means the same and becomes 1. A close or a crash loses the values
 *     that were reserved and not returned: up to twice this number
 * @param order the order of the values
 */
public record SequenceOptions(long start, long increment, int cacheSize, SequenceOrder order) {
  private static final int USUAL_CACHE = 1_000;

  private static final SequenceOptions DEFAULTS =
      new SequenceOptions(
          /* start= */ 1, /* increment= */ 1, /* cacheSize= */ USUAL_CACHE, SequenceOrder.PLAIN);

  /** Checks the options against each other. */
  public SequenceOptions {
    OptionCheck.present(order, "order", SequenceOrder.class);
    if (increment == 0) {
      throw OptionCheck.refused(
          "increment",
          "from " + Long.MIN_VALUE + " to " + Long.MAX_VALUE + ", except 0",
          increment,
          "it would return the same value for ever; 1 counts up, -1 down");
    }
    OptionCheck.inRange(cacheSize, "cacheSize", 0, Integer.MAX_VALUE, "");
    if (order == SequenceOrder.BIT_REVERSED) {
      OptionCheck.inRange(
          start,
          "start",
          1,
          Long.MAX_VALUE,
          "the order is BIT_REVERSED; to start elsewhere set the order PLAIN");
    }
    cacheSize = Math.max(1, cacheSize);
  }

  /**
   * Plain, from 1 by 1, with a cache of 1,000 values.
   *
   * @return options
   */
  public static SequenceOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Sets the first number.
   *
   * @param value the setting
   * @return other options
   */
  public SequenceOptions withStart(long value) {
    return new SequenceOptions(value, increment, cacheSize, order);
  }

  /**
   * Sets the increment.
   *
   * @param value the setting
   * @return other options
   */
  public SequenceOptions withIncrement(long value) {
    return new SequenceOptions(start, value, cacheSize, order);
  }

  /**
   * Sets how many values one record of the log reserves.
   *
   * @param value the setting
   * @return other options
   */
  public SequenceOptions withCacheSize(int value) {
    return new SequenceOptions(start, increment, value, order);
  }

  /**
   * Sets the order.
   *
   * @param value the setting; for {@link SequenceOrder#BIT_REVERSED} set a start of at least 1
   *     first
   * @return other options
   */
  public SequenceOptions withOrder(SequenceOrder value) {
    return new SequenceOptions(start, increment, cacheSize, value);
  }

  /** The row of a sequence without reserved values. */
  byte[] row() {
    return SequenceRow.build(start, increment, cacheSize, order.code());
  }

  /** The options in a row without a {@link SequenceRow#problem}. */
  static SequenceOptions of(byte[] row) {
    return new SequenceOptions(
        SequenceRow.start(row),
        SequenceRow.increment(row),
        SequenceRow.cacheSize(row),
        SequenceOrder.of(SequenceRow.order(row)));
  }
}
