package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.history.HistoryExport;

/**
 * The options of a run of the suite.
 *
 * @param seed of all random choices
 * @param time about how long it may take
 * @param crashes the kinds of crash
 * @param scratch an empty directory for the databases of killed processes
 * @param keep directory for the files of failures; created if needed
 * @param histories directory for the histories of transactions, if they are wanted
 */
public record ChaosOptions(
    long seed,
    Duration time,
    Set<Crash> crashes,
    Path scratch,
    Path keep,
    @Nullable HistoryExport histories) {

  /** Copies the set. */
  public ChaosOptions {
    crashes = Set.copyOf(crashes);
    if (crashes.isEmpty()) {
      throw new IllegalArgumentException("at least one kind of crash is needed");
    }
  }

  boolean kills() {
    return crashes.contains(Crash.PROCESS_DEATH);
  }

  boolean cutsPower() {
    return crashes.contains(Crash.POWER_CUT);
  }
}
