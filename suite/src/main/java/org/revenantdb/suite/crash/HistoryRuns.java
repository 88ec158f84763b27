package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.history.HistoryKills;
import org.revenantdb.chaos.history.HistoryPowerCuts;
import org.revenantdb.chaos.history.HistoryWorkload;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryExport;
import org.revenantdb.history.IsolationLevel;

/**
 * Checks the histories of each isolation level, before crashes and after them, at that level and
 * those below it, with real time. The levels take turns. A level whose turn did not come is
 * reported as not measured.
 *
 * <p>Threads: one.
 */
final class HistoryRuns {

  private static final int STATES = 24;
  private static final int RECORDED_LIVES = 2;
  private static final int KILLED_LIVES = 4;

  /**
   * A level's first history has this many times fewer crashes, because the next level waits for its
   * turn.
   */
  private static final int FEWER_AT_FIRST = 4;

  /** Each level gets its turn, if that takes no longer than this. */
  private static final Duration MOST_FOR_THE_FIRST = Duration.ofSeconds(30);

  private static final List<HistoryWorkload> WORKLOADS =
      List.of(
          new HistoryWorkload(4, 40, 24, 5),
          new HistoryWorkload(2, 60, 8, 9),
          new HistoryWorkload(6, 30, 64, 0));

  private static final IsolationLevel[] LEVELS = IsolationLevel.values();

  private final long seed;
  private final @Nullable HistoryExport export;
  private final Duration mostForTheFirst;

  /**
   * Prepares runs.
   *
   * @param export receives each history, if not null
   */
  HistoryRuns(long seed, @Nullable HistoryExport export) {
    this(seed, export, MOST_FOR_THE_FIRST);
  }

  HistoryRuns(long seed, @Nullable HistoryExport export, Duration mostForTheFirst) {
    this.seed = seed;
    this.export = export;
    this.mostForTheFirst = mostForTheFirst;
  }

  /** One history of a level, crashed. */
  @FunctionalInterface
  private interface Run {
    Outcome of(int run, int part) throws Exception;
  }

  /** Records lives and cuts their power, one level and one seed after the other. */
  Outcome cut(Duration budget, SuiteProgress progress) throws Exception {
    return rounds("histories across power cuts", budget, progress, this::cut);
  }

  private Outcome cut(int run, int part) throws Exception {
    HistoryPowerCuts recorded =
        HistoryPowerCuts.record(
            HistoryBinding.Opener.of(level(run)),
            workload(run),
            level(run),
            Seeds.of(seed, run),
            RECORDED_LIVES);
    PlatformProfile profile = PowerCuts.PROFILES.get(run % PowerCuts.PROFILES.size());
    AtomicInteger state = new AtomicInteger();
    return recorded.cut(
        profile,
        STATES / part,
        history -> export("power-cut", run, "-" + state.getAndIncrement(), history));
  }

  /** Kills processes, one level and one store after the other. */
  Outcome kill(Duration budget, Path scratch, SuiteProgress progress) throws Exception {
    return rounds(
        "histories across kills", budget, progress, (run, part) -> kill(run, part, scratch));
  }

  private Outcome kill(int run, int part, Path scratch) {
    Path directory = scratch.resolve("history-" + run);
    HistoryKills lives =
        new HistoryKills(
            HistoryBinding.Opener.of(level(run)).getClass(),
            workload(run),
            level(run),
            Seeds.of(seed, run),
            directory);
    Outcome outcome = lives.run(Math.ceilDiv(KILLED_LIVES, part));
    export("kill", run, "", lives.history());
    FileTrees.delete(directory);
    return outcome;
  }

  /** Runs all levels in turn while there is time, and each of them once even without time. */
  private Outcome rounds(String name, Duration budget, SuiteProgress progress, Run run)
      throws Exception {
    long begun = System.nanoTime();
    List<Outcome> outcomes = new ArrayList<>();
    long states = 0;
    long kills = 0;
    Duration spent;
    do {
      boolean first = outcomes.size() < LEVELS.length;
      Outcome outcome = run.of(outcomes.size(), first ? FEWER_AT_FIRST : 1);
      outcomes.add(outcome);
      states += outcome.states();
      kills += outcome.kills();
      progress.note("%d histories, %d cuts, %d kills".formatted(outcomes.size(), states, kills));
      spent = Duration.ofNanos(System.nanoTime() - begun);
    } while (spent.compareTo(budget) < 0
        || (outcomes.size() < LEVELS.length && spent.compareTo(mostForTheFirst) < 0));
    if (outcomes.size() < LEVELS.length) {
      String missing =
          IntStream.range(outcomes.size(), LEVELS.length)
              .mapToObj(HistoryRuns::level)
              .map(IsolationLevel::toString)
              .collect(Collectors.joining(", "));
      String reason = missing + " not reached, " + Outcomes.NO_TIME_FOR_MORE;
      outcomes.add(Outcome.of(name, Verdict.NOT_MEASURED, reason));
    }
    return Outcome.sum(name, outcomes);
  }

  private void export(String crash, int run, String state, History history) {
    if (export != null) {
      String level = level(run).name().toLowerCase(Locale.ROOT).replace('_', '-');
      export.write("seed-%d-%s-%d-%s%s".formatted(seed, crash, run, level, state), history);
    }
  }

  private static HistoryWorkload workload(int run) {
    return WORKLOADS.get(run / LEVELS.length % WORKLOADS.size());
  }

  /** The strongest first. */
  private static IsolationLevel level(int run) {
    return LEVELS[LEVELS.length - 1 - run % LEVELS.length];
  }
}
