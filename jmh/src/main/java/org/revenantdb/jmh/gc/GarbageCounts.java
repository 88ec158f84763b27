package org.revenantdb.jmh.gc;

import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage;
import org.revenantdb.jmh.fork.Told;

/** What a database tells of the older versions of its rows. */
final class GarbageCounts {
  private GarbageCounts() {}

  /**
   * Prints {@code = version_memory_bytes}, {@code = version_file_bytes} of now; {@code =
   * longest_chain}, {@code = versions_added}, {@code = versions_pruned} when another one came,
   * {@code = versions_swept} later, {@code = versions_spilled} since it was opened; and, if its
   * chains have a bound, {@code = max_chain_excess}.
   */
  static void tell(Database database) {
    DatabaseStatistics statistics = database.statistics();
    tell(statistics, "");
    Told.tell("versions_added", (double) statistics.versionsAdded());
    Told.tell("versions_pruned", (double) statistics.versionsPruned());
    Told.tell("versions_swept", (double) statistics.versionsSwept());
    Told.tell("versions_spilled", (double) statistics.versionsSpilled());
    if (System.getProperty(EngineOfOtherGarbage.STRATEGY) == null) {
      Told.tell("max_chain_excess", (double) statistics.versionChainExcess());
    }
  }

  /** Prints those of a moment, with something behind their names. */
  static void tell(DatabaseStatistics statistics, String suffix) {
    Told.tell("version_memory_bytes" + suffix, (double) statistics.versionMemoryBytes());
    Told.tell("version_file_bytes" + suffix, (double) statistics.versionRunBytes());
    Told.tell("longest_chain" + suffix, (double) statistics.longestVersionChain());
  }
}
