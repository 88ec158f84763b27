package org.revenantdb.engine;

/**
 * Commits since the database was opened, and aborted transactions. Immutable and thread-safe.
 *
 * <p>Transactions that wrote nothing are not counted.
 */
public final class CommitStatistics {
  private final StatisticValues values;

  CommitStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return commits that returned after their transaction was durable} */
  public long durable() {
    return values.of(Statistic.COMMITS_DURABLE);
  }

  /** {@return commits that did not wait until their transaction was durable} */
  public long lazy() {
    return values.of(Statistic.COMMITS_LAZY);
  }

  /** {@return results held back until the commits they depend on were durable} */
  public long durableReadWaits() {
    return values.of(Statistic.COMMITS_DURABLE_READ_WAITS);
  }

  /** {@return total time for which such results were held back} */
  public long durableReadWaitNanos() {
    return values.of(Statistic.COMMITS_DURABLE_READ_WAIT_NANOS);
  }

  /**
   * {@return aborted transactions that may have left rows to revert; short ones revert their rows
   * themselves and never count}
   */
  public long abortedPending() {
    return values.of(Statistic.COMMITS_ABORTED_PENDING);
  }

  /** {@return aborted transactions of which the cleaner has removed everything} */
  public long abortedCleaned() {
    return values.of(Statistic.COMMITS_ABORTED_CLEANED);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.COMMITS);
  }
}
