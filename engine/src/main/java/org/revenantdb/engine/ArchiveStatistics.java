package org.revenantdb.engine;

/** The archive of the log. All numbers are 0 without one. Immutable and thread-safe. */
public final class ArchiveStatistics {
  private final StatisticValues values;

  ArchiveStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return the position up to which the archive has the log; 0 until that is known} */
  public long shippedLsn() {
    return values.of(Statistic.ARCHIVE_SHIPPED_LSN);
  }

  /** {@return bytes of durable log that the archive does not have yet} */
  public long lagBytes() {
    return values.of(Statistic.ARCHIVE_LAG_BYTES);
  }

  /** {@return age of the oldest durable log that the archive does not have yet} */
  public long lagNanos() {
    return values.of(Statistic.ARCHIVE_LAG_NANOS);
  }

  /** {@return bytes written to the log of the archive} */
  public long bytes() {
    return values.of(Statistic.ARCHIVE_BYTES);
  }

  /** {@return attempts to write the archive that failed} */
  public long failures() {
    return values.of(Statistic.ARCHIVE_FAILURES);
  }

  /** {@return bases that were made} */
  public long bases() {
    return values.of(Statistic.ARCHIVE_BASES);
  }

  /** {@return times that log did not reach the archive, so that it needed a new base} */
  public long gaps() {
    return values.of(Statistic.ARCHIVE_GAPS);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.ARCHIVE);
  }
}
