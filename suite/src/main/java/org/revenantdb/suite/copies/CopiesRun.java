package org.revenantdb.suite.copies;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.report.TextTable;
import org.revenantdb.history.IsolationLevel;

/**
 * Rounds of copies. A recording has a kind and an isolation level, both drawn from its seed; lives
 * of a database are recorded with the copies that are made beside its clients. Each round is a
 * crash of that recording: the machines are killed, or lose power, and the copies that are left are
 * checked with the history.
 *
 * <p>Threads: one.
 */
public final class CopiesRun {

  private static final List<PlatformProfile> PROFILES =
      List.of(
          PlatformProfile.SECTOR_4K,
          PlatformProfile.SECTOR_512,
          PlatformProfile.NAMES_LOST,
          PlatformProfile.EXT4_ORDERED,
          PlatformProfile.STRICT_POSIX);

  /** For hangs only, because a busy machine is slow. */
  private static final Duration STALL = Duration.ofMinutes(15);

  private final CopiesOptions options;
  private final List<CopyKind> kinds;
  private final Map<CopyKind, Counts> counts = new EnumMap<>(CopyKind.class);
  private final List<String> failures = new ArrayList<>();
  private final long start = System.nanoTime();

  /** What happened in rounds of one kind. */
  private static final class Counts {
    private long recordings;
    private long rounds;
    private long kills;
    private long cuts;
    private long checks;
    private long refused;
    private long failures;
  }

  /** Makes the lives of a kind. */
  @FunctionalInterface
  interface Making {
    CopyLives lives(
        CopyKind kind, Machines machines, IsolationLevel level, long seed, RandomGenerator random);
  }

  private final Making making;

  /** Prepares a run. */
  public CopiesRun(CopiesOptions options) {
    this(options, CopiesRun::lives);
  }

  /** Prepares a run with other lives, for instance broken ones. */
  CopiesRun(CopiesOptions options, Making making) {
    this.options = options;
    this.making = making;
    this.kinds = options.kinds().stream().sorted().toList();
  }

  /**
   * Runs all rounds. A failure does not end the run.
   *
   * @param listener receives a line after each recording
   */
  public void run(Consumer<String> listener) {
    for (long seed = options.seed(); rounds() < options.rounds(); seed++) {
      recording(seed, Math.min(options.roundsOfARecording(), options.rounds() - (int) rounds()));
      listener.accept(
          "%4d s  seed %d: %d rounds, %d of them kills, %d failures"
              .formatted(seconds(), seed, rounds(), sum(one -> one.kills), failures.size()));
    }
  }

  private void recording(long seed, int wanted) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed, 0));
    CopyKind kind = kinds.get(random.nextInt(kinds.size()));
    IsolationLevel[] levels = IsolationLevel.values();
    IsolationLevel level = levels[random.nextInt(levels.length)];
    PlatformProfile profile = PROFILES.get(random.nextInt(PROFILES.size()));
    Counts count = counts.computeIfAbsent(kind, _ -> new Counts());
    count.recordings++;
    String where = "seed %d, %s, %s, %s".formatted(seed, kind, level, profile);
    try (Watchdog watchdog = Watchdog.start(where, STALL, () -> endStalled(where))) {
      Machines machines = Machines.start();
      CopyLives lives = making.lives(kind, machines, level, seed, random);
      lives.record();
      count.checks += lives.takeChecks();
      List<Long> places = lives.places();
      long from = random.nextInt(4) == 0 || places.isEmpty() ? 0 : places.getFirst();
      Iterator<Crashed> crashes = machines.crashes(profile, random, wanted, places, from);
      while (crashes.hasNext()) {
        round(lives, crashes.next(), count, where);
        watchdog.alive();
      }
    } catch (Exception | AssertionError wrong) {
      // A round all the same, so that a run ends if no recording succeeds.
      count.rounds++;
      fail(count, where + ", recording", wrong);
    }
  }

  private void round(CopyLives lives, Crashed crashed, Counts count, String where) {
    count.rounds++;
    if (crashed.isCut()) {
      count.cuts++;
    } else {
      count.kills++;
    }
    try {
      lives.check(crashed);
    } catch (Exception | AssertionError wrong) {
      fail(count, where + ", place " + crashed.place() + "\n" + crashed.story(), wrong);
    }
    count.checks += lives.takeChecks();
    count.refused += lives.takeRefused();
  }

  private static CopyLives lives(
      CopyKind kind, Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    return switch (kind) {
      case BACKUP -> new BackupLives(machines, level, seed, random);
      case RESTORE -> new RestoreLives(machines, level, seed, random);
      case FOLLOW -> new FollowLives(machines, level, seed, random);
      case PROMOTE -> new PromoteLives(machines, level, seed, random);
    };
  }

  private void fail(Counts count, String where, Throwable wrong) {
    count.failures++;
    StringWriter text = new StringWriter();
    wrong.printStackTrace(new PrintWriter(text));
    failures.add(where + "\n" + text);
  }

  /** A thread that hangs in the engine cannot be ended. */
  private static void endStalled(String where) {
    System.err.println(where + " hangs");
    Thread.getAllStackTraces()
        .forEach((thread, frames) -> {
          System.err.println(thread + " " + thread.getState());
          for (StackTraceElement frame : frames) {
            System.err.println("    at " + frame);
          }
        });
    Runtime.getRuntime().halt(1);
  }

  private long seconds() {
    return (System.nanoTime() - start) / 1_000_000_000L;
  }

  private long sum(ToLongFunction<Counts> of) {
    return counts.values().stream().mapToLong(of).sum();
  }

  /**
   * Returns the number of rounds.
   *
   * @return the number
   */
  public long rounds() {
    return sum(one -> one.rounds);
  }

  /**
   * Returns the failures, each with its seed.
   *
   * @return the failures
   */
  public List<String> failures() {
    return List.copyOf(failures);
  }

  /**
   * Returns what happened.
   *
   * @return a table
   */
  public TextTable table() {
    TextTable table =
        new TextTable().row("first seed", options.seed()).row("time", seconds() + " s");
    counts.forEach((kind, one) ->
        table.row(
            kind.name().toLowerCase(Locale.ROOT),
            "%,d rounds of %,d recordings: %,d kills, %,d power cuts; %,d histories checked, %,d refused, %,d failed"
                .formatted(
                    one.rounds,
                    one.recordings,
                    one.kills,
                    one.cuts,
                    one.checks,
                    one.refused,
                    one.failures)));
    return table.row(
        "all",
        "%,d rounds: %,d kills, %,d power cuts; %,d histories checked, %,d failed"
            .formatted(
                rounds(),
                sum(one -> one.kills),
                sum(one -> one.cuts),
                sum(one -> one.checks),
                sum(one -> one.failures)));
  }

  /**
   * Returns the counts as figures.
   *
   * @return a report
   */
  public JsonReport json() {
    JsonReport json =
        new JsonReport()
            .number("seed", options.seed())
            .number("rounds", rounds())
            .number("kills", sum(one -> one.kills))
            .number("power_cuts", sum(one -> one.cuts))
            .number("histories_checked", sum(one -> one.checks))
            .number("refused", sum(one -> one.refused))
            .number("failures", sum(one -> one.failures));
    counts.forEach((kind, one) -> {
      String name = kind.name().toLowerCase(Locale.ROOT);
      json.number(name + "_rounds", one.rounds)
          .number(name + "_kills", one.kills)
          .number(name + "_power_cuts", one.cuts)
          .number(name + "_failures", one.failures);
    });
    return json.detail("failed", failures).surroundings();
  }
}
