package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * Open snapshots, and the older versions of rows that the engine keeps for them. Immutable and
 * thread-safe.
 */
public final class VersionStatistics {
  private final StatisticValues values;
  private final @Nullable String oldestSnapshotName;

  VersionStatistics(StatisticValues values, @Nullable String oldestSnapshotName) {
    this.values = values;
    this.oldestSnapshotName = oldestSnapshotName;
  }

  /** {@return open snapshots} */
  public long snapshots() {
    return values.of(Statistic.VERSIONS_SNAPSHOTS);
  }

  /** {@return memory of older versions of rows, and of the index of those in files} */
  public long memoryBytes() {
    return values.of(Statistic.VERSIONS_MEMORY_BYTES);
  }

  /** {@return size of the files with older versions} */
  public long runBytes() {
    return values.of(Statistic.VERSIONS_RUN_BYTES);
  }

  /** {@return files with older versions} */
  public long runs() {
    return values.of(Statistic.VERSIONS_RUNS);
  }

  /** {@return older versions written to files, because memory was too small} */
  public long spilled() {
    return values.of(Statistic.VERSIONS_SPILLED);
  }

  /** {@return older versions that left their page and were kept in memory} */
  public long added() {
    return values.of(Statistic.VERSIONS_ADDED);
  }

  /** {@return older versions dropped from memory when another version of their row arrived} */
  public long pruned() {
    return values.of(Statistic.VERSIONS_PRUNED);
  }

  /** {@return older versions dropped from memory later, when no snapshot needed them} */
  public long swept() {
    return values.of(Statistic.VERSIONS_SWEPT);
  }

  /** {@return largest number of older versions that one row has had in memory} */
  public long longestChain() {
    return values.of(Statistic.VERSIONS_LONGEST_CHAIN);
  }

  /**
   * {@return largest excess of the older versions of a row over the open snapshots, when a version
   * arrived; 0 if never}
   */
  public long chainExcess() {
    return values.of(Statistic.VERSIONS_CHAIN_EXCESS);
  }

  /** {@return times the engine collected the open snapshots to find versions to drop} */
  public long snapshotRefreshes() {
    return values.of(Statistic.VERSIONS_SNAPSHOT_REFRESHES);
  }

  /**
   * Returns the oldest open snapshot.
   *
   * @return the snapshot; {@code null} if none is open
   */
  public @Nullable OldestSnapshot oldestSnapshot() {
    return values.of(Statistic.VERSIONS_OLDEST_SNAPSHOT_SINCE) == 0
        ? null
        : new OldestSnapshot(values, oldestSnapshotName);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.VERSIONS);
  }
}
