package org.revenantdb.suite.crash;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.report.DeathLine;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.ForceCoverage;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;

/**
 * Runs all crash tests of RevenantDB, one part after the other, in about the given time. The
 * self-test with broken stores (the teeth) comes first, because without it the rest proves nothing.
 *
 * <p>Threads: one; the parts use more. Failure: a part that throws is {@link
 * Verdict#HARNESS_BROKEN}, and the next one runs.
 */
public final class ChaosSuite {
  /*
   * Time. Each part has a share; power cuts get the rest. Some results are required in any case:
   * the teeth, some kills (fewer in a very short run), a history of each isolation level and, in
   * proportion to the time, a number of states. Forces whose loss was not detected yet get more than their share. So on a
   * slow machine a run takes longer than the given time.
   */
  private static final int STATES_OWED_A_SECOND = 50;

  private static final Duration MOST_FOR_TEETH = TeethProof.LONGEST;
  private static final double TEETH = 0.2;
  private static final double KILLED = 0.02;
  private static final double DEEP = 0.08;
  private static final double COVERAGE = 0.25;
  private static final double COVERAGE_AT_MOST = 0.75;
  private static final double FAULTS = 0.10;
  private static final double FULL_DISK = 0.04;
  private static final double COST = 0.06;
  private static final double HISTORIES = 0.05;
  private static final double KILLS = 0.12;
  private static final double ZOMBIES = 0.05;
  private static final double KILLED_HISTORIES = 0.04;
  private static final double ALL_KILLS = KILLS + ZOMBIES + KILLED_HISTORIES;

  private static final int KILLS_OWED = 3;
  private static final Duration VERY_SHORT = Duration.ofSeconds(10);
  private static final int LARGEST_COUNT = 1_000_000;
  private static final int CUTS_FOR_EACH_FAULT = 5;
  private static final int OCCURRENCES = 200;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final ChaosOptions options;
  private final RunReport.Builder report;
  private final Instant started = Instant.now();
  private final long begun = System.nanoTime();
  private final SuiteParts parts;
  private final PowerCuts power;

  /**
   * Prepares a run.
   *
   * @param command a command that repeats it
   */
  public ChaosSuite(ChaosOptions options, String command) {
    this.options = options;
    this.report = RunReport.builder("RevenantDB, crash tests", options.seed()).command(command);
    this.parts = new SuiteParts(report, options.seed());
    this.power = new PowerCuts(options.seed(), options.keep());
  }

  /**
   * Runs everything.
   *
   * @return the report
   */
  public RunReport run() {
    part("teeth", share(TEETH), this::proveTeeth);
    if (options.cutsPower()) {
      part("recording", share(0.05), this::record);
      Duration left = left();
      part("power cut", left, progress -> power.cut(left, owedStates(), progress));
      part("power cut after kills", share(KILLED), progress -> power.cutAfterKills());
      part("crashes in recovery", share(DEEP), progress -> power.cutDeep(share(DEEP), progress));
      power.outcomes().forEach(report::part);
      report.statesPerSecond(power.statesPerSecond());
      part("force coverage", share(COVERAGE), this::coverForces);
      part("faults", share(FAULTS), this::injectFaults);
      part("full disk and back", share(FULL_DISK), this::fillDisk);
      part("recovery cost", share(COST), this::countCost);
      part("histories across power cuts", share(HISTORIES), this::cutHistories);
    }
    if (options.kills()) {
      part("process death", shareOfKills(KILLS), this::kill);
      part("zombie writer", shareOfKills(ZOMBIES), this::wakeTheDead);
      part("histories across kills", shareOfKills(KILLED_HISTORIES), this::killHistories);
    }
    return report.ran(started, Duration.ofNanos(System.nanoTime() - begun)).build();
  }

  private void part(String name, Duration budget, SuiteParts.Part part) {
    parts.run(name, budget, part);
  }

  private Duration share(double share) {
    return Duration.ofMillis((long) (options.time().toMillis() * share));
  }

  /** Without power cuts, kills get the rest of the time, too. */
  private Duration shareOfKills(double share) {
    return share(options.cutsPower() ? share : (1 - TEETH) * share / ALL_KILLS);
  }

  /** The time for power cuts: everything not assigned to other parts, at least a quarter. */
  private Duration left() {
    double promised = KILLED + DEEP + COVERAGE + FAULTS + FULL_DISK + COST + HISTORIES;
    promised += options.kills() ? ALL_KILLS : 0;
    Duration spent = Duration.ofNanos(System.nanoTime() - begun);
    Duration left = options.time().minus(spent).minus(share(promised));
    return left.compareTo(share(0.25)) > 0 ? left : share(0.25);
  }

  private void record(SuiteProgress progress) throws IOException {
    power.record();
    Recording first = power.first();
    if (first != null) {
      report.sizes(TraceCurves.logSize(first)).kill(TraceCurves.around(first));
    }
  }

  private long owedStates() {
    return options.time().toSeconds() * STATES_OWED_A_SECOND;
  }

  private int owedKills() {
    return options.time().compareTo(VERY_SHORT) < 0 ? 1 : KILLS_OWED;
  }

  private void proveTeeth(SuiteProgress progress) {
    Duration time = share(TEETH).compareTo(MOST_FOR_TEETH) < 0 ? share(TEETH) : MOST_FOR_TEETH;
    TeethProof.prove(options.crashes(), time, report, progress);
  }

  private void coverForces(SuiteProgress progress) throws IOException {
    List<CoverageRow> rows =
        new ForceCoverage<Database>(
                MixedSubject::new,
                power.forCoverage(),
                options.seed(),
                2 * Runtime.getRuntime().availableProcessors(),
                share(COVERAGE_AT_MOST))
            .run();
    rows.forEach(report::coverage);
    long noticed = rows.stream().filter(CoverageRow::detected).count();
    progress.note(noticed + " of " + rows.size() + " forces: their loss was detected");
  }

  private void injectFaults(SuiteProgress progress) throws IOException {
    PowerCutOptions cuts =
        PowerCutOptions.of(PlatformProfile.STRICT_POSIX, options.seed())
            .withStates(CUTS_FOR_EACH_FAULT)
            .withLimit(LIMIT)
            .withBudget(share(FAULTS))
            .withKeep(options.keep());
    FaultRun<Database> run =
        new FaultRun<>(ShortSubject::new, cuts, FaultCases.of(options.seed(), OCCURRENCES));
    report.part(run.run());
    run.rows().forEach(report::fault);
  }

  private void fillDisk(SuiteProgress progress) throws IOException {
    FullDisk disks = new FullDisk(options.seed(), share(FULL_DISK));
    report.part(disks.run());
    progress.note(disks.detail());
  }

  private void countCost(SuiteProgress progress) throws IOException {
    RecoveryCost cost = new RecoveryCost();
    cost.measure();
    cost.bySize().forEach(report::costBySize);
    cost.byLog().forEach(report::costByLog);
    report.bound(RecoveryCost.bound()).part(cost.outcome());
  }

  private void kill(SuiteProgress progress) throws IOException {
    long until = System.nanoTime() + shareOfKills(KILLS).toNanos();
    List<Outcome> outcomes = new ArrayList<>();
    outcomes.add(death(MixedSubject.class, kills("owed", owedKills(), 1), progress));
    outcomes.add(death(LazySubject.class, kills("lazy", owedKills(), 5), progress));
    Duration left = Duration.ofNanos(until - System.nanoTime());
    if (left.isPositive()) {
      Options places = kills("places", 0, 2).withFailpoints();
      outcomes.add(death(MixedSubject.class, places.withLimit(left.dividedBy(2)), progress));
      Duration half = Duration.ofNanos(Math.max(1, until - System.nanoTime())).dividedBy(2);
      for (Class<? extends RevenantSubject> subject :
          List.of(MixedSubject.class, LazySubject.class)) {
        Options random = kills("random " + subject.getSimpleName(), LARGEST_COUNT, 3);
        outcomes.add(death(subject, random.withLimit(half), progress));
      }
    }
    report.part(Outcomes.sum("process death", outcomes));
  }

  private void wakeTheDead(SuiteProgress progress) throws IOException {
    Outcome outcome = death(MixedSubject.class, kills("zombies", 0, 4).withZombies(1), progress);
    report.part(Outcomes.sum("zombie writer", List.of(outcome)));
  }

  private void cutHistories(SuiteProgress progress) throws Exception {
    report.part(histories().cut(share(HISTORIES), progress));
  }

  private void killHistories(SuiteProgress progress) throws Exception {
    Duration time = shareOfKills(KILLED_HISTORIES);
    report.part(histories().kill(time, options.scratch(), progress));
  }

  private HistoryRuns histories() {
    return new HistoryRuns(options.seed(), options.histories());
  }

  private Options kills(String name, int count, int part) {
    return Options.of(options.scratch().resolve(name), Seeds.of(options.seed(), part), count);
  }

  private Outcome death(
      Class<? extends RevenantSubject> subject, Options asked, SuiteProgress progress)
      throws IOException {
    Options told =
        asked.withListener(step -> {
          report.death(new DeathLine(step.seeds(), step.place(), step.recoveryMillis()));
          progress.note(
              "%d kills, %s, recovery %.1f ms"
                  .formatted(step.kills(), step.worst(), step.recoveryMillis()));
        });
    ProcessDeathRun run = new ProcessDeathRun(subject, told);
    return run.keepEvidence(run.run(), options.keep());
  }
}
