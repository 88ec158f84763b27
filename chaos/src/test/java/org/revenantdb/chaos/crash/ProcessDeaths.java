package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;

/** The runs of all tests of {@link ProcessDeathRun}. */
abstract class ProcessDeaths {
  /** The limit for a child that hangs: longer than a healthy child is silent on a quiet machine. */
  static final Duration IMPATIENT = Duration.ofSeconds(3);

  static final Duration PATIENT = Duration.ofSeconds(20);

  /** The deaths of a store that must survive, where one shows what a test is about. */
  static final int FEW = Boolean.getBoolean("revenant.long") ? 2 : 1;

  @TempDir Path scratch;

  final long seed = Seeds.fresh();

  Options options(int kills) {
    return options(seed, kills);
  }

  Options options(long ofRun, int kills) {
    System.out.println("seed " + ofRun);
    return Options.of(scratch, ofRun, kills).withStallLimit(PATIENT);
  }

  static Outcome run(Class<? extends CrashSubject<?>> subject, Options options) {
    Outcome outcome = new ProcessDeathRun(subject, options).run();
    System.out.println(outcome.verdict() + " " + outcome.verdicts() + " " + outcome.reason());
    return outcome;
  }

  static void assertReason(String part, Outcome outcome) {
    assertTrue(outcome.reason().contains(part), outcome.reason());
  }

  void assertHarnessBroken(Class<? extends CrashSubject<?>> subject, String reason) {
    Outcome outcome = run(subject, options(10));
    assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome.reason());
    assertReason(reason, outcome);
  }
}
