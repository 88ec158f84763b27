package org.revenantdb.collections;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;

/**
 * How a {@link WorkQueue} delivers. Immutable.
 *
 * @param visibility how long a delivered item is invisible to others; an item that is not
 *     acknowledged by then is delivered again. Default: 1 minute
 * @param maxAttempts after this many deliveries an item becomes a dead letter. Default: 5
 * @param retryDelay how long an item is delayed after its first failure; twice as long after each
 *     further one, up to an hour. Default: 1 second
 * @param clock the time of delays. Default: that of the system
 */
public record WorkQueueOptions(
    Duration visibility, int maxAttempts, Duration retryDelay, InstantSource clock) {
  private static final WorkQueueOptions DEFAULTS =
      new WorkQueueOptions(Duration.ofMinutes(1), 5, Duration.ofSeconds(1), InstantSource.system());

  /** Checks the options. */
  public WorkQueueOptions {
    if (visibility.compareTo(Duration.ofMillis(1)) < 0 || retryDelay.isNegative()) {
      throw new IllegalArgumentException(
          "visibility "
              + visibility
              + ", retryDelay "
              + retryDelay
              + ": the first is at least"
              + " a millisecond, the second not negative");
    }
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts " + maxAttempts + ": at least 1");
    }
    Objects.requireNonNull(clock, "clock must not be null");
  }

  /**
   * The defaults.
   *
   * @return options
   */
  public static WorkQueueOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The same with another {@link #visibility}.
   *
   * @param value at least a millisecond
   * @return options
   */
  public WorkQueueOptions withVisibility(Duration value) {
    return new WorkQueueOptions(value, maxAttempts, retryDelay, clock);
  }

  /**
   * The same with another {@link #maxAttempts}.
   *
   * @param value at least 1
   * @return options
   */
  public WorkQueueOptions withMaxAttempts(int value) {
    return new WorkQueueOptions(visibility, value, retryDelay, clock);
  }

  /**
   * The same with another {@link #retryDelay}.
   *
   * @param value not negative
   * @return options
   */
  public WorkQueueOptions withRetryDelay(Duration value) {
    return new WorkQueueOptions(visibility, maxAttempts, value, clock);
  }

  /**
   * The same with another {@link #clock}.
   *
   * @param value the clock
   * @return options
   */
  public WorkQueueOptions withClock(InstantSource value) {
    return new WorkQueueOptions(visibility, maxAttempts, retryDelay, value);
  }
}
