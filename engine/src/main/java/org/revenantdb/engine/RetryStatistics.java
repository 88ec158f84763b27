package org.revenantdb.engine;

/**
 * The attempts of {@link Database#run} that did not commit, since the database was opened.
 * Immutable and thread-safe. {@link WaitClass#RETRY_PAUSE} counts the pauses between attempts.
 *
 * <p>A call ends with a conflict after {@link DatabaseOptions#maxAttempts} attempts. It ends at
 * once after a lock timeout, after a deadlock with a transaction of the same thread, and if the
 * thread is interrupted. Each failed attempt counts under its {@link ConflictReason}.
 */
public final class RetryStatistics {
  private final StatisticValues values;

  RetryStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return attempts of Database.run made after another attempt had met a conflict} */
  public long repeated() {
    return values.of(Statistic.RETRIES_REPEATED);
  }

  /** {@return calls of Database.run that ended with a conflict} */
  public long gaveUp() {
    return values.of(Statistic.RETRIES_GAVE_UP);
  }

  /** {@return attempts of Database.run that failed with ROW_IN_USE} */
  public long rowInUse() {
    return values.of(Statistic.RETRIES_ROW_IN_USE);
  }

  /** {@return attempts of Database.run that failed with ROW_CHANGED} */
  public long rowChanged() {
    return values.of(Statistic.RETRIES_ROW_CHANGED);
  }

  /** {@return attempts of Database.run that failed with NOT_SERIALIZABLE} */
  public long notSerializable() {
    return values.of(Statistic.RETRIES_NOT_SERIALIZABLE);
  }

  /** {@return attempts of Database.run that failed with DEADLOCK} */
  public long deadlock() {
    return values.of(Statistic.RETRIES_DEADLOCK);
  }

  /** {@return attempts of Database.run that failed with LOCK_TIMEOUT} */
  public long lockTimeout() {
    return values.of(Statistic.RETRIES_LOCK_TIMEOUT);
  }

  /** {@return attempts of Database.run that failed with TABLE_IN_USE} */
  public long tableInUse() {
    return values.of(Statistic.RETRIES_TABLE_IN_USE);
  }

  /** {@return attempts of Database.run that failed with TABLE_CHANGED} */
  public long tableChanged() {
    return values.of(Statistic.RETRIES_TABLE_CHANGED);
  }

  /**
   * {@return upper limit of pauses between attempts now, except after many attempts; 0 without
   * contention}
   */
  public long ceilingNanos() {
    return values.of(Statistic.RETRIES_CEILING_NANOS);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.RETRIES);
  }
}
