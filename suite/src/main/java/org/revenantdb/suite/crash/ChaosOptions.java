package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryExport;
import org.revenantdb.chaos.subject.Crash;

/**
 * What a run of the suite is asked for.
 *
 * @param seed of everything that is drawn
 * @param time how long it may take, more or less
 * @param crashes which kinds of crash
 * @param scratch an empty directory for the databases of processes that are killed
 * @param keep where the files of failures go; made if there are any
 * @param histories where the histories of transactions go, if they are wanted
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
