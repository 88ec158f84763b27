package org.revenantdb.jmh.gc;

import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.jmh.fork.Told;

/**
 * The limits for hot rows with one snapshot in our engine, however long it is open, and the highest
 * values at any look. One thread.
 */
public final class SnapshotBounds {
  private static final int SNAPSHOTS = 1;

  /** Key and value, and the objects of the heap around them: entry, arrays, their headers. */
  private static final long VERSION = Long.BYTES + HotRows.VALUE + 256;

  /** Versions that are on their way, in no chain yet or in none any more. */
  private static final long MEMORY_CONSTANT = 256 << 10;

  /** Rows with their versions are a few hundred pages; the file grows by more than it needs. */
  private static final long DATA = 16L << 20;

  private final RevenantSnapshots store;
  private long memory;
  private long disk;

  SnapshotBounds(RevenantSnapshots store) {
    this.store = store;
  }

  /**
   * The bounds in words.
   *
   * @return a sentence with all numbers that are in them
   */
  public static String said() {
    return "of ours, looked at after each tenth of the time and in the end: older versions in memory"
        + " and in files of theirs have at most (snapshots + 1) x rows x bytes of a version + "
        + MEMORY_CONSTANT
        + " = "
        + memoryBound()
        + " bytes, of a version "
        + VERSION
        + "; the directory has at most what the log may have (maxLogSize, by default twice"
        + " maxRecoveryLog) + "
        + DATA
        + " for data = "
        + diskBound()
        + " bytes";
  }

  private static long memoryBound() {
    return (SNAPSHOTS + 1) * HotRows.ROWS * VERSION + MEMORY_CONSTANT;
  }

  private static long diskBound() {
    return 2 * DatabaseOptions.defaults().maxRecoveryLog() + DATA;
  }

  /** Looks. */
  void look() {
    look(store.database().statistics(), store.diskBytes());
  }

  private void look(DatabaseStatistics statistics, long diskBytes) {
    memory =
        Math.max(memory, statistics.versions().memoryBytes() + statistics.versions().runBytes());
    disk = Math.max(disk, diskBytes);
  }

  /** Reads the values, and prints them, with a suffix to the names. */
  void lookAndTell(String suffix) {
    DatabaseStatistics statistics = store.database().statistics();
    long diskBytes = store.diskBytes();
    look(statistics, diskBytes);
    GarbageCounts.tell(statistics, suffix);
    Told.tell("disk_bytes" + suffix, (double) diskBytes);
  }

  /** Whether both are kept. */
  boolean areKept() {
    return memory <= memoryBound() && disk <= diskBound();
  }

  /**
   * Prints {@code = version_peak_bytes}, {@code = version_bound_bytes}, {@code = disk_peak_bytes},
   * {@code = disk_bound_bytes}, and {@code = bounded}, which is 1 if both bounds were kept, or 0;
   * and the results of {@link GarbageCounts}.
   */
  void tell() {
    Told.tell("version_peak_bytes", (double) memory);
    Told.tell("version_bound_bytes", (double) memoryBound());
    Told.tell("disk_peak_bytes", (double) disk);
    Told.tell("disk_bound_bytes", (double) diskBound());
    Told.tell("bounded", areKept() ? 1 : 0);
    GarbageCounts.tellAll(store.database().statistics(), "");
  }
}
