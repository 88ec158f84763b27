package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.history.AnomalyKind;
import org.revenantdb.history.CheckResult;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.history.Precedence;

/** Checks histories at all levels that a store promises, and combines the results. */
final class HistoryVerdicts {

  private static final Set<AnomalyKind> LOSSES =
      EnumSet.of(AnomalyKind.LOST_WRITE, AnomalyKind.TORN, AnomalyKind.NOT_A_PREFIX);

  private final String name;
  private final IsolationLevel level;
  private final long seed;
  private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
  private final List<Failure> failures = new ArrayList<>();
  private long transactions;

  HistoryVerdicts(String name, IsolationLevel level, long seed) {
    this.name = name;
    this.level = level;
    this.seed = seed;
  }

  /** Checks a history at its level and those below it, with real time. */
  void judge(History history, String where) {
    transactions += history.size();
    for (IsolationLevel one : IsolationLevel.values()) {
      if (one.compareTo(level) <= 0) {
        CheckResult result = HistoryChecker.check(history, one, Precedence.REAL_TIME);
        if (!result.holds()) {
          boolean lost = LOSSES.containsAll(result.counts().keySet());
          fail(
              lost ? Verdict.LOST : Verdict.CORRUPT,
              where + ": " + one + " forbids " + result.counts(),
              result.toString());
          return;
        }
      }
    }
    verdicts.merge(Verdict.SURVIVED, 1L, Long::sum);
  }

  /** Notes that the store itself failed after a crash. */
  void threw(String where, Throwable failure) {
    fail(Verdict.CORRUPT, where + ": " + failure, CallStack.text(failure));
  }

  private void fail(Verdict verdict, String title, String story) {
    verdicts.merge(verdict, 1L, Long::sum);
    failures.add(new Failure(verdict, title, List.of(), story, seed, /* file= */ null));
  }

  boolean hasFailed() {
    return !failures.isEmpty();
  }

  Outcome outcome(long states, long kills) {
    Verdict worst = Verdict.SURVIVED;
    String reason = "";
    for (Failure failure : failures) {
      if (failure.verdict().compareTo(worst) > 0) {
        worst = failure.verdict();
        reason = failure.title();
      }
    }
    if (transactions == 0) {
      return Outcome.of(name, Verdict.NOT_MEASURED, "no transaction was recorded");
    }
    return new Outcome(name, worst, reason, verdicts, states, kills, new double[0], failures);
  }
}
