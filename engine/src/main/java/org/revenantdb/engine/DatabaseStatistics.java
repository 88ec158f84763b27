package org.revenantdb.engine;

import java.util.Arrays;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a database since it was opened, and its states at the moment of the call. {@link
 * Database#statistics} returns them. Immutable and thread-safe.
 *
 * <p>There are seven groups of getters. The numbers are {@code long} and never negative. {@link
 * Statistic} has the unit of each, and whether it is a counter or a gauge. An exporter does not
 * need its own list:
 *
 * {@snippet :
 * for (DatabaseStatistics.Value one : db.statistics()) {
 *   System.out.println(one.statistic().text() + " " + one.value());
 * }
 * }
 *
 * <p>The engine reads the numbers one after the other while threads count. So they need not belong
 * to the same nanosecond.
 */
public final class DatabaseStatistics implements Iterable<DatabaseStatistics.Value> {
  /**
   * A number with its description.
   *
   * @param statistic name, kind, unit and description
   * @param value the number, in that unit
   */
  public record Value(Statistic statistic, long value) {}

  private final StatisticValues values;
  private final @Nullable String oldestSnapshotName;
  private final Object source;
  private final long nanoTime;

  /**
   * Statistics at one moment.
   *
   * @param values of each {@link Statistic}
   * @param oldestSnapshotName name of the transaction with the oldest snapshot
   * @param source the open database, or an object that stands for it
   * @param nanoTime when the engine began to read the values
   */
  DatabaseStatistics(
      StatisticValues values, @Nullable String oldestSnapshotName, Object source, long nanoTime) {
    this.values = values;
    this.oldestSnapshotName = oldestSnapshotName;
    this.source = source;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns the numbers of commits and of aborted transactions.
   *
   * @return the group {@code commits}
   */
  public CommitStatistics commits() {
    return new CommitStatistics(values);
  }

  /**
   * Returns the use of the pool of pages.
   *
   * @return the group {@code pool}
   */
  public PoolStatistics pool() {
    return new PoolStatistics(values);
  }

  /**
   * Returns the files: input and output, the log, checkpoints, and the structure of the data file.
   *
   * @return the group {@code files}
   */
  public FileStatistics files() {
    return new FileStatistics(values);
  }

  /**
   * Returns the work of the cleaner, done and left.
   *
   * @return the group {@code cleaning}
   */
  public CleaningStatistics cleaning() {
    return new CleaningStatistics(values);
  }

  /**
   * Returns the open snapshots and the older versions of rows.
   *
   * @return the group {@code versions}
   */
  public VersionStatistics versions() {
    return new VersionStatistics(values, oldestSnapshotName);
  }

  /**
   * Returns the attempts of {@link Database#run} that did not commit.
   *
   * @return the group {@code retries}
   */
  public RetryStatistics retries() {
    return new RetryStatistics(values);
  }

  /**
   * Returns how far behind the archive of the log is.
   *
   * @return the group {@code archive}
   */
  public ArchiveStatistics archive() {
    return new ArchiveStatistics(values);
  }

  /**
   * Returns one number.
   *
   * @param statistic which one
   * @return its value, in its unit
   */
  public long value(Statistic statistic) {
    return values.of(statistic);
  }

  /**
   * Returns all numbers, including those that are 0.
   *
   * @return an iterator in the order of {@link Statistic}
   */
  @Override
  public Iterator<Value> iterator() {
    return Arrays.stream(Statistic.values()).map(one -> new Value(one, values.of(one))).iterator();
  }

  /**
   * Returns what the database has counted since an earlier moment. Gauges, and the oldest snapshot,
   * are those of this moment.
   *
   * @param earlier taken before, while the same {@link Database} was open
   * @return the difference of each counter
   * @throws IllegalArgumentException if {@code earlier} was taken later, or from another open
   *     database
   */
  public DatabaseStatistics since(DatabaseStatistics earlier) {
    if (!source.equals(earlier.source)) {
      throw new IllegalArgumentException(
          "the earlier statistics are of another open database; compare two of the same one");
    }
    if (nanoTime - earlier.nanoTime < 0) {
      throw new IllegalArgumentException(
          "the statistics to compare with were taken later; call since on the later ones");
    }
    return new DatabaseStatistics(
        values.since(earlier.values), oldestSnapshotName, source, nanoTime);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(one -> true);
  }
}
