package org.revenantdb.chaos.junit;

import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FileAccess;
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
  public String tries() {
    return "each force is taken away, and some state must fail";
  }

  @Override
  Bite prove() {
    return prover.prove();
  }

  @Override
  Outcome measure() throws Exception {
    return run.run();
  }

  /** The test of power cuts warns of them. */
  @Override
  int repeated() {
    return 0;
  }
}
