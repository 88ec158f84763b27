package org.revenantdb.chaos.junit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.teeth.Bite;

/** One kind of fault. */
final class FaultTestCase extends CrashTestCase {

  /** Lets operations of the store fail. */
  interface Run {
    Outcome of(FaultKind kind, KnownFailures known) throws Exception;
  }

  private static final Map<FileAccess, Bite> PROVED = new ConcurrentHashMap<>();

  private final FaultKind kind;
  private final FileAccess files;
  private final Run run;
  private final Prover prover;

  FaultTestCase(Class<?> type, CrashTestSettings settings, FaultKind kind, Run run, Prover prover) {
    super(type, Crash.POWER_CUT, settings.seed());
    this.kind = kind;
    this.files = settings.files();
    this.run = run;
    this.prover = prover;
  }

  @Override
  public String name() {
    return "FAULT, " + kind + (files == FileAccess.ANY ? ", files = " + files : "");
  }

  @Override
  public String tries() {
    return kind.title();
  }

  @Override
  Bite prove() {
    return PROVED.computeIfAbsent(files, _ -> prover.prove());
  }

  @Override
  Outcome measure() throws Exception {
    return run.of(kind, known());
  }

  /** The test of power cuts warns of them. */
  @Override
  int repeated() {
    return 0;
  }
}
