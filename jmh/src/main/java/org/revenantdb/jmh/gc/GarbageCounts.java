package org.revenantdb.jmh.gc;

import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage;
import org.revenantdb.jmh.fork.Told;

/** The counts of a database about older versions of its rows. */
final class GarbageCounts {
  private GarbageCounts() {}

  /**
   * Prints {@code = version_memory_bytes}, {@code = version_file_bytes} of the end; {@code =
   * longest_chain}, {@code = versions_added}, {@code = versions_pruned} when another one was added,
   * {@code = versions_swept} later, {@code = versions_spilled} since it was opened; and, if its
   * chains have a bound, {@code = max_chain_excess}.
   *
   * @param suffix appended to all names
   */
  static void tellAll(DatabaseStatistics statistics, String suffix) {
    tell(statistics, suffix);
    Told.tell("versions_added" + suffix, (double) statistics.versions().added());
    Told.tell("versions_pruned" + suffix, (double) statistics.versions().pruned());
    Told.tell("versions_swept" + suffix, (double) statistics.versions().swept());
    Told.tell("versions_spilled" + suffix, (double) statistics.versions().spilled());
    if (System.getProperty(EngineOfOtherGarbage.STRATEGY) == null) {
      Told.tell("max_chain_excess" + suffix, (double) statistics.versions().chainExcess());
    }
  }

  /** Prints those of a moment, with a suffix to their names. */
  static void tell(DatabaseStatistics statistics, String suffix) {
    Told.tell("version_memory_bytes" + suffix, (double) statistics.versions().memoryBytes());
    Told.tell("version_file_bytes" + suffix, (double) statistics.versions().runBytes());
    Told.tell("longest_chain" + suffix, (double) statistics.versions().longestChain());
  }
}
