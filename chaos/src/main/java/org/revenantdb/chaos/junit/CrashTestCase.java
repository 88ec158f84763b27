package org.revenantdb.chaos.junit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.opentest4j.TestAbortedException;
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

  CrashTestCase(Class<?> subject, Crash crash, long seed) {
    this.subject = subject;
    this.crash = crash;
    this.seed = seed;
  }

  /** Sets what receives the outcome, besides JUnit. */
  void reportTo(Consumer<Outcome> reader) {
    report = reader;
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

  /** What was seen of the store, as far as it is known: files, operations, forces, places. */
  String seen() throws Exception {
    return "";
  }

  @Override
  public final void run() throws Exception {
    OutcomeText text = new OutcomeText(subject, name(), seed);
    Bite bite = prove();
    if (bite.verdict() == Verdict.NOT_MEASURED) {
      Outcome none = Outcome.of(name(), Verdict.NOT_MEASURED, bite.story());
      report.accept(none);
      System.out.println(text.line(none));
      throw new TestAbortedException(text.notMeasured(bite.story()));
    }
    if (!bite.found()) {
      String toothless = text.toothless(bite);
      report.accept(Outcome.of(name(), Verdict.HARNESS_BROKEN, toothless));
      throw new AssertionError(toothless);
    }
    Outcome outcome = measure();
    report.accept(outcome);
    System.out.println(text.line(outcome));
    String seen = isOfUse(outcome) ? seen() : "";
    if (!seen.isEmpty()) {
      System.out.println(text.seen(seen));
    }
    if (isOfUse(outcome) && repeated() > 0) {
      System.out.println(text.repeated(repeated()));
    }
    if (outcome.verdict() == Verdict.NOT_MEASURED) {
      throw new TestAbortedException(text.notMeasured(outcome.reason()));
    }
    if (outcome.verdict() != Verdict.SURVIVED) {
      throw new AssertionError(text.failure(outcome));
    }
  }

  private static boolean isOfUse(Outcome outcome) {
    return outcome.verdict() != Verdict.NOT_MEASURED && outcome.verdict() != Verdict.HARNESS_BROKEN;
  }
}
