package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.report.DeathLine;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;

/**
 * Crashes one variant of RevenantDB's lives a given number of times, however long that takes: a
 * number of different states after power cuts, and a number of killed processes.
 *
 * <p>Threads: one; the runs use more. Failure: as for {@link ChaosSuite}.
 */
public final class CountedRun {
  /*
   * A round records lives with its own seed, which is in the name of its part: two lives in a row,
   * and one after the death of a process. Both are cut under each profile. Rounds are repeated
   * until there are enough states, so thousands of states come from hundreds of lives. A round
   * without any new state ends the run as NOT_MEASURED. A round without a usable life ends it with
   * the verdict on that.
   */

  private static final int LIVES = 2;
  private static final int STATES_OF_A_PROFILE = 48;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STATES_A_SECOND = 60;
  private static final int KILLS_A_MINUTE = 30;

  private final Variant variant;
  private final ChaosOptions options;
  private final long states;
  private final int kills;
  private final int statesOfAProfile;
  private final RunReport.Builder report;
  private final Instant started = Instant.now();
  private final long begun = System.nanoTime();
  private long done;

  /**
   * Prepares a run.
   *
   * @param variant the work of the lives
   * @param options the options; their time is not used
   * @param states the minimum number of different states after power cuts
   * @param kills the number of killed processes
   * @param command a command that repeats it
   */
  public CountedRun(Variant variant, ChaosOptions options, long states, int kills, String command) {
    this(variant, options, states, kills, STATES_OF_A_PROFILE, command);
  }

  CountedRun(
      Variant variant,
      ChaosOptions options,
      long states,
      int kills,
      int statesOfAProfile,
      String command) {
    this.statesOfAProfile = statesOfAProfile;
    this.variant = variant;
    this.options = options;
    this.states = options.cutsPower() ? states : 0;
    this.kills = options.kills() ? kills : 0;
    String name = variant.name().toLowerCase(Locale.ROOT);
    report = RunReport.builder("RevenantDB, crash tests: " + name, options.seed()).command(command);
  }

  /**
   * Runs it.
   *
   * @return the report
   */
  public RunReport run() {
    SuiteParts parts = new SuiteParts(report, options.seed());
    parts.run(
        "teeth",
        TeethProof.LONGEST,
        progress -> TeethProof.prove(options.crashes(), TeethProof.LONGEST, report, progress));
    if (states > 0) {
      parts.run("power cut", Duration.ofSeconds(1 + states / STATES_A_SECOND), this::cut);
    }
    if (kills > 0) {
      parts.run("process death", Duration.ofMinutes(1 + kills / KILLS_A_MINUTE), this::kill);
    }
    return report.ran(started, Duration.ofNanos(System.nanoTime() - begun)).build();
  }

  private void cut(SuiteProgress progress) throws IOException {
    long nanos = 0;
    for (int round = 0; done < states; round++) {
      long begunRound = System.nanoTime();
      long seed = Seeds.of(options.seed(), round);
      String name = "power cut, lives of seed " + seed;
      List<Outcome> outcomes = new ArrayList<>();
      for (Recording recording : record(seed)) {
        if (recording.usable()) {
          outcomes.addAll(cut(recording, seed));
        } else {
          outcomes.add(Outcome.of(name, recording.verdict(), recording.reason()));
        }
      }
      if (outcomes.isEmpty()) {
        report.part(Outcome.of(name, Verdict.NOT_MEASURED, "no new state"));
        return;
      }
      Outcome sum = Outcomes.sum(name, outcomes);
      report.part(sum);
      if (sum.states() == 0) {
        return; // no life was usable, and the next seed would be no better
      }
      done += sum.states();
      nanos += System.nanoTime() - begunRound;
      report.statesPerSecond(done / (nanos / 1e9));
      progress.note("%,d states, %s".formatted(done, sum.verdict()));
    }
  }

  private List<Recording> record(long seed) throws IOException {
    List<Recording> recordings = new ArrayList<>();
    Recording intact = new LifeRecorder<>(variant.maker(), seed, LIVES, LIMIT).record();
    recordings.add(intact);
    if (intact.usable()) {
      recordings.addAll(new LifeRecorder<>(variant.maker(), seed, 1, LIMIT).recordDeaths(1));
    }
    return recordings;
  }

  private List<Outcome> cut(Recording recording, long seed) {
    List<Outcome> outcomes = new ArrayList<>();
    SeenImages seen = new SeenImages();
    for (PlatformProfile profile : PowerCuts.PROFILES) {
      PowerCutOptions how =
          PowerCutOptions.of(profile, seed)
              .withStates(statesOfAProfile)
              .withLimit(LIMIT)
              .withKeep(options.keep());
      Outcome outcome = new PowerCutRun<Database>(variant.maker(), recording, how, seen).run();
      if (!PowerCuts.isSilent(outcome)) {
        outcomes.add(outcome);
      }
    }
    return outcomes;
  }

  private void kill(SuiteProgress progress) throws IOException {
    Path scratch = options.scratch().resolve("counted");
    Options how =
        Options.of(scratch, Seeds.of(options.seed(), /* part= */ -1), kills)
            .withListener(step -> {
              report.death(new DeathLine(step.seeds(), step.place(), step.recoveryMillis()));
              progress.note(
                  "%d kills, %s, recovery %.1f ms"
                      .formatted(step.kills(), step.worst(), step.recoveryMillis()));
            });
    ProcessDeathRun run = new ProcessDeathRun(variant.type(), how);
    report.part(run.keepEvidence(run.run(), options.keep()));
  }
}
