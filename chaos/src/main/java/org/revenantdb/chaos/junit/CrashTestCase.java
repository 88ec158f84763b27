package org.revenantdb.chaos.junit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.Bite;
import org.revenantdb.chaos.teeth.Teeth;

/**
 * One kind of crash for one subject: proves that the framework finds a broken store (the teeth),
 * makes the crashes, prints a line with the result, and maps the verdict to JUnit.
 */
abstract class CrashTestCase implements NamedCase {

  /** Proved once in a JVM for each kind of crash, by the first test of that kind. */
  private static final Map<Crash, Bite> PROVED = new ConcurrentHashMap<>();

  private final Class<?> subject;
  private final Crash crash;
  private final long seed;
  private Consumer<Outcome> report = outcome -> {};
  private @Nullable Baseline baseline;
  private KnownFailures known = KnownFailures.NONE;

  CrashTestCase(Class<?> subject, Crash crash, long seed) {
    this.subject = subject;
    this.crash = crash;
    this.seed = seed;
  }

  /** Sets what receives the outcome, besides JUnit. */
  void reportTo(Consumer<Outcome> reader) {
    report = reader;
  }

  /** Sets the failures that are accepted; null: none. */
  void accept(@Nullable Baseline failures) {
    baseline = failures;
  }

  /** The accepted failures of this test, and which of them it has seen. */
  final KnownFailures known() {
    return known;
  }

  /** Makes the crashes. */
  abstract Outcome measure() throws Exception;

  /**
   * How many values were given to one key more than once. The oracle cannot tell such writes apart.
   */
  abstract int repeated() throws Exception;

  /** Proves once in a JVM that this kind of crash is found. */
  Bite prove() {
    return prove(crash);
  }

  /** Proves once in a JVM that a kind of crash is found. */
  static Bite prove(Crash kind) {
    return PROVED.computeIfAbsent(kind, Teeth::proveOne);
  }

  @Override
  public final void run() throws Exception {
    OutcomeText text = new OutcomeText(subject, name(), seed);
    Bite bite = prove();
    if (bite.verdict() == Verdict.NOT_MEASURED) {
      Outcome none = Outcome.of(name(), Verdict.NOT_MEASURED, bite.story());
      report.accept(none);
      System.out.println(text.line(none));
      throw new TestAbortedException(text.notMeasured(bite.story(), /* seen= */ ""));
    }
    if (!bite.found()) {
      String toothless = text.toothless(bite);
      report.accept(Outcome.of(name(), Verdict.HARNESS_BROKEN, toothless));
      throw new AssertionError(toothless);
    }
    if (baseline != null) {
      known = baseline.of(subject, name());
    }
    Outcome outcome = measure();
    Outcome left = baseline == null ? outcome : withoutKnown(outcome);
    report.accept(withKnown(outcome, left));
    System.out.println(text.line(outcome));
    if (baseline != null) {
      tellKnown(baseline, text);
    }
    String seen = outcome.seen().text();
    if (!seen.isEmpty()) {
      System.out.println(text.seen(seen));
    }
    if (isOfUse(outcome) && repeated() > 0) {
      System.out.println(text.repeated(repeated()));
    }
    if (left.verdict() == Verdict.NOT_MEASURED) {
      throw new TestAbortedException(text.notMeasured(left.reason(), seen));
    }
    if (left.verdict() != Verdict.SURVIVED) {
      throw new AssertionError(text.failure(left));
    }
  }

  /** The outcome without accepted failures, with the verdict of the others. */
  private Outcome withoutKnown(Outcome outcome) {
    List<Failure> others =
        outcome.failures().stream()
            .filter(one -> one.verdict() == Verdict.NOT_MEASURED || !known.explain(one))
            .toList();
    boolean isOfTheStore =
        outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
    if (!isOfTheStore || known.seen().isEmpty()) {
      return outcome.withFailures(others);
    }
    Verdict worst = Verdict.SURVIVED;
    String reason = "";
    for (Failure one : others) {
      if (one.verdict().compareTo(worst) > 0) {
        worst = one.verdict();
        reason = one.title();
      }
    }
    return new Outcome(
        outcome.name(),
        worst,
        reason,
        outcome.verdicts(),
        outcome.states(),
        outcome.kills(),
        outcome.recoveryMillis(),
        others,
        outcome.seen());
  }

  /** The outcome for the report: accepted failures are in it, as what they are. */
  private Outcome withKnown(Outcome outcome, Outcome left) {
    List<Failure> all = new ArrayList<>(left.failures());
    known
        .seen()
        .forEach((cause, verdict) ->
            all.add(
                new Failure(
                    verdict,
                    verdict + ", known and accepted: " + Baseline.line(cause),
                    List.of(),
                    "",
                    seed,
                    /* file= */ null)));
    return outcome.withFailures(all);
  }

  private void tellKnown(Baseline failures, OutcomeText text) {
    failures.add(subject, name(), known.learned());
    known
        .seen()
        .forEach((cause, verdict) ->
            System.out.println(
                text.known(
                    failures.file(),
                    verdict,
                    Baseline.line(cause),
                    known.learned().contains(cause))));
    for (Set<String> cause : known.unseen()) {
      System.out.println(text.unseen(failures.file(), Baseline.line(cause)));
    }
  }

  private static boolean isOfUse(Outcome outcome) {
    return outcome.verdict() != Verdict.NOT_MEASURED && outcome.verdict() != Verdict.HARNESS_BROKEN;
  }
}
