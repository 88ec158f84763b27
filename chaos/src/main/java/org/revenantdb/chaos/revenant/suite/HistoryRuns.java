package org.revenantdb.chaos.revenant.suite;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.history.HistoryKills;
import org.revenantdb.chaos.history.HistoryPowerCuts;
import org.revenantdb.chaos.history.HistoryWorkload;
import org.revenantdb.chaos.history.IsolationLevel;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;

/**
 * What transactions of each level of isolation were shown, before crashes and after them, held to
 * that level and those below it, with real time.
 *
 * <p>Threads: one.
 */
final class HistoryRuns {

  private static final int STATES = 24;
  private static final int RECORDED_LIVES = 2;
  private static final int KILLED_LIVES = 4;
  private static final List<HistoryWorkload> WORKLOADS =
      List.of(
          new HistoryWorkload(4, 40, 24, 5),
          new HistoryWorkload(2, 60, 8, 9),
          new HistoryWorkload(6, 30, 64, 0));

  private static final IsolationLevel[] LEVELS = IsolationLevel.values();

  private final long seed;

  HistoryRuns(long seed) {
    this.seed = seed;
  }

  /** Records lives and cuts their power, one seed after the other, one at the least. */
  Outcome cut(Duration budget, SuiteProgress progress) throws Exception {
    long end = System.nanoTime() + budget.toNanos();
    List<Outcome> outcomes = new ArrayList<>();
    long states = 0;
    do {
      int run = outcomes.size();
      HistoryPowerCuts recorded =
          HistoryPowerCuts.record(
              HistoryBinding.Opener.of(level(run)),
              WORKLOADS.get(run / LEVELS.length % WORKLOADS.size()),
              level(run),
              Seeds.of(seed, run),
              RECORDED_LIVES);
      PlatformProfile profile = PowerCuts.PROFILES.get(run % PowerCuts.PROFILES.size());
      outcomes.add(recorded.cut(profile, STATES));
      states += outcomes.getLast().states();
      progress.note("%d histories, %d cuts".formatted(outcomes.size(), states));
    } while (System.nanoTime() < end);
    return Outcome.sum("histories across power cuts", outcomes);
  }

  /** Kills processes, one store after the other, one at the least. */
  Outcome kill(Duration budget, Path scratch, SuiteProgress progress) {
    long end = System.nanoTime() + budget.toNanos();
    List<Outcome> outcomes = new ArrayList<>();
    long kills = 0;
    do {
      int run = outcomes.size();
      Path directory = scratch.resolve("history-" + run);
      HistoryKills lives =
          new HistoryKills(
              HistoryBinding.Opener.of(level(run)).getClass(),
              WORKLOADS.get(run / LEVELS.length % WORKLOADS.size()),
              level(run),
              Seeds.of(seed, run),
              directory);
      outcomes.add(lives.run(KILLED_LIVES));
      kills += outcomes.getLast().kills();
      progress.note("%d histories, %d kills".formatted(outcomes.size(), kills));
      FileTrees.delete(directory);
    } while (System.nanoTime() < end);
    return Outcome.sum("histories across kills", outcomes);
  }

  /** The strongest first: a short run has that. */
  private static IsolationLevel level(int run) {
    return LEVELS[LEVELS.length - 1 - run % LEVELS.length];
  }
}
