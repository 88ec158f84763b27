package org.revenantdb.chaos.teeth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects.Broken;

/**
 * The proof that the framework finds what it must: it hunts each broken subject until it is found
 * or the time is over.
 *
 * <p>Threads: any. The same seed gives the same result. Failure: none; a {@link Bite} reports a
 * subject that was not found.
 */
public final class Teeth {
  /*
   * A hunt consists of rounds. Each records new lives with its own seed, the first with the seed of
   * the hunt, and checks twice as many states as the one before. So easy flaws are found soon, and
   * flaws that need luck get more states.
   */

  private static final int STATES_OF_THE_FIRST_ROUND = 64;
  private static final int STATES_FOR_A_KILL = 32;
  private static final int LIVES = 2;
  private static final int DEATHS = 8;
  private static final int FORCES_OF_A_LIFE = 60;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Each hunt has these, because a slow machine is no reason to miss a flaw. */
  private static final int FEWEST_ROUNDS = 5;

  /** Two hundred thousand states; the flaw that is hardest to find needs about a thousand. */
  private static final int MOST_ROUNDS = 12;

  /** All rounds, however slow the machine is. */
  private static final Duration PATIENCE = Duration.ofDays(1);

  private Teeth() {}

  /**
   * Hunts every broken subject that a power cut finds, from the seeds that found it before.
   *
   * @return the results
   */
  public static List<Bite> fromStoredSeeds() {
    List<Bite> bites = new ArrayList<>();
    for (Broken broken : BrokenSubjects.all()) {
      if (broken.trigger().crash() == Crash.POWER_CUT) {
        bites.add(hunt(broken, broken.seed(), PATIENCE));
      }
    }
    return bites;
  }

  /**
   * Hunts every broken subject that a power cut finds, from new seeds.
   *
   * @param seed of all seeds
   * @return the results
   */
  public static List<Bite> fromFreshSeeds(long seed) {
    List<Bite> bites = new ArrayList<>();
    for (Broken broken : BrokenSubjects.all()) {
      if (broken.trigger().crash() == Crash.POWER_CUT) {
        bites.add(hunt(broken, Seeds.of(seed, bites.size()), PATIENCE));
      }
    }
    return bites;
  }

  /**
   * Hunts one broken subject that a kind of crash must find.
   *
   * @param crash the kind
   * @return the result
   */
  public static Bite proveOne(Crash crash) {
    Broken first =
        BrokenSubjects.all().stream()
            .filter(broken -> broken.trigger().crash() == crash)
            .findFirst()
            .orElseThrow();
    return hunt(first, first.seed(), PATIENCE);
  }

  /**
   * Hunts the broken subject that a fault must find.
   *
   * @return the result
   */
  public static Bite proveFaults() {
    Broken broken = BrokenSubjects.of(BrokenSubjects.Trigger.FAILED_FORCE);
    return hunt(broken, broken.seed(), PATIENCE);
  }

  /**
   * Hunts one broken subject.
   *
   * @param broken the subject
   * @param seed of the first round
   * @param patience after this time no further round begins; the first five begin in any case
   * @return the result
   */
  public static Bite hunt(Broken broken, long seed, Duration patience) {
    return hunt(broken, seed, FEWEST_ROUNDS, patience);
  }

  /** Hunts with a number of rounds that begin in any case. */
  static Bite hunt(Broken broken, long seed, int fewestRounds, Duration patience) {
    long begun = System.nanoTime();
    long states = 0;
    for (int round = 0; ; round++) {
      Outcome outcome =
          round(
              broken,
              round == 0 ? seed : Seeds.of(seed, round),
              STATES_OF_THE_FIRST_ROUND << Math.min(round, 10));
      states += outcome.states() + outcome.kills();
      boolean found = outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
      Duration time = Duration.ofNanos(System.nanoTime() - begun);
      int rounds = round + 1;
      boolean over =
          rounds >= MOST_ROUNDS || (rounds >= fewestRounds && time.compareTo(patience) > 0);
      if (found || outcome.verdict() != Verdict.SURVIVED || over) {
        return new Bite(
            broken.name(),
            broken.broken(),
            seed,
            found,
            outcome.verdict(),
            states,
            time,
            story(outcome));
      }
    }
  }

  private static String story(Outcome outcome) {
    return outcome.failures().isEmpty()
        ? outcome.reason()
        : outcome.failures().getFirst().title() + "\n" + outcome.failures().getFirst().story();
  }

  private static Outcome round(Broken broken, long seed, int states) {
    try {
      return switch (broken.trigger()) {
        case POWER_CUT -> powerCuts(broken, seed, states);
        case DEATH_AND_POWER_CUT -> deaths(broken, seed, states);
        case FAILED_FORCE -> failedForces(broken, seed, states);
        case PROCESS_DEATH -> kills(broken, seed, states / STATES_FOR_A_KILL);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Outcome powerCuts(Broken broken, long seed, int states) throws IOException {
    Recording recording = new LifeRecorder<>(broken.maker(), seed, LIVES, LIMIT).record();
    PowerCutOptions options = options(broken, seed, states);
    return new PowerCutRun<>(broken.maker(), recording, options, new SeenImages()).run();
  }

  private static Outcome deaths(Broken broken, long seed, int states) throws IOException {
    List<Recording> recordings =
        new LifeRecorder<>(broken.maker(), seed, LIVES, LIMIT).recordDeaths(DEATHS);
    List<Outcome> outcomes = new ArrayList<>();
    for (Recording recording : recordings) {
      PowerCutOptions options = options(broken, seed, states / DEATHS);
      outcomes.add(new PowerCutRun<>(broken.maker(), recording, options, new SeenImages()).run());
    }
    return Outcome.sum(broken.name(), outcomes);
  }

  /** One worker, so that the same seed gives the same result. */
  private static PowerCutOptions options(Broken broken, long seed, int states) {
    return PowerCutOptions.of(broken.profile(), seed)
        .withStates(states)
        .withWorkers(1)
        .withLimit(LIMIT);
  }

  /** Forces of logs fail, each in its own life; later ones succeed and write nothing. */
  private static Outcome failedForces(Broken broken, long seed, int states) throws IOException {
    RandomGenerator random = new SplittableRandom(seed);
    FaultRule rule =
        FaultRule.of(new Fault.FailForce(/* clean= */ true))
            .kinds(FileOperation.Kind.FORCE)
            .path("log-*");
    List<FaultCase> cases = new ArrayList<>();
    for (int life = 0; life < LIVES; life++) {
      FaultRule once = rule.nth(1 + random.nextInt(FORCES_OF_A_LIFE));
      cases.add(
          new FaultCase(
              "a force fails once, its pages clean",
              once.toString(),
              () -> FaultPlan.of(once),
              FaultCase.Contract.NOTHING_LOST));
    }
    PowerCutOptions options = options(broken, seed, states);
    return new FaultRun<>(broken.maker(), options, cases).run();
  }

  private static Outcome kills(Broken broken, long seed, int kills) throws IOException {
    Path scratch = Files.createTempDirectory("teeth");
    try {
      return new ProcessDeathRun(
              broken.type(), Options.of(scratch, seed, kills).withStallLimit(LIMIT))
          .run();
    } finally {
      FileTrees.delete(scratch);
    }
  }
}
