package org.revenantdb.chaos.junit;

import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.Bite;

/** Shows which forces of the store the test needs. */
final class ForceCoverageCase extends CrashTestCase {

  /** Removes forces. */
  interface Run {
    Outcome run() throws Exception;
  }

  private final FileAccess files;
  private final Run run;
  private final Prover prover;
  private String seen = "";

  /**
   * Creates a case.
   *
   * @param prover proves that power cuts find a missing force
   */
  ForceCoverageCase(Class<?> type, CrashTestSettings settings, Run run, Prover prover) {
    super(type, Crash.POWER_CUT, settings.seed());
    this.files = settings.files();
    this.run = run;
    this.prover = prover;
  }

  @Override
  public String name() {
    return "FORCE_COVERAGE" + (files == FileAccess.ANY ? ", files = " + files : "");
  }

  @Override
  Bite prove() {
    return prover.prove();
  }

  @Override
  Outcome measure() throws Exception {
    Outcome outcome = run.run();
    long needed = outcome.verdicts().getOrDefault(Verdict.SURVIVED, 0L);
    seen = needed + " places with a force, all needed";
    return outcome;
  }

  @Override
  String seen() {
    return seen;
  }

  /** The test of power cuts warns of them. */
  @Override
  int repeated() {
    return 0;
  }
}
