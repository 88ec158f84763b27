package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * The oldest of the open snapshots. It holds back everything that was superseded since it was
 * opened: versions in memory and in files, pages to be freed, and deleted rows. Immutable and
 * thread-safe.
 */
public final class OldestSnapshot {
  private final StatisticValues values;
  private final @Nullable String name;

  OldestSnapshot(StatisticValues values, @Nullable String name) {
    this.values = values;
    this.name = name;
  }

  /** {@return the position of the snapshot in the log: it sees what was committed before} */
  public long lsn() {
    return values.of(Statistic.VERSIONS_OLDEST_SNAPSHOT_LSN);
  }

  /**
   * Returns when the engine first saw the snapshot. That is at most about two seconds after it was
   * opened.
   *
   * @return milliseconds since 1970
   */
  public long since() {
    return values.of(Statistic.VERSIONS_OLDEST_SNAPSHOT_SINCE);
  }

  /** {@return the transaction that reads in the snapshot; 0 if it has not written} */
  public long transactionId() {
    return values.of(Statistic.VERSIONS_OLDEST_SNAPSHOT_TRANSACTION_ID);
  }

  /**
   * Returns the older versions in memory that no other snapshot needs, as the cleaner last counted
   * them.
   *
   * @return number of versions; 0 if the cleaner has not counted since the snapshot was opened
   */
  public long versions() {
    return values.of(Statistic.VERSIONS_OLDEST_SNAPSHOT_VERSIONS);
  }

  /**
   * Returns the name of the transaction, from {@link TransactionOptions#withName}.
   *
   * @return the name; {@code null} if it has none
   */
  public @Nullable String name() {
    return name;
  }

  /** Returns the name, and the numbers that are not 0. */
  @Override
  public String toString() {
    String numbers = values.text(one -> one.text().startsWith("versions.oldestSnapshot."));
    return name == null ? numbers : "name " + name + "\n" + numbers;
  }
}
