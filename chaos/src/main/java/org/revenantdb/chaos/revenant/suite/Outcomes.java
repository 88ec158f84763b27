package org.revenantdb.chaos.revenant.suite;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** Several outcomes as one: counts added, the worst verdict with its reason. */
final class Outcomes {

  private Outcomes() {}

  /** The sum; nothing measured if there is none. */
  static Outcome sum(String name, List<Outcome> all) {
    if (all.isEmpty()) {
      return Outcome.of(name, Verdict.NOT_MEASURED, "there was no time for it");
    }
    Outcome worst = all.getFirst();
    Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    List<Failure> failures = new ArrayList<>();
    long states = 0;
    long kills = 0;
    for (Outcome one : all) {
      worst = one.verdict().compareTo(worst.verdict()) > 0 ? one : worst;
      one.verdicts().forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
      failures.addAll(one.failures());
      states += one.states();
      kills += one.kills();
    }
    double[] millis =
        all.stream().flatMapToDouble(one -> Arrays.stream(one.recoveryMillis())).toArray();
    return new Outcome(
        name, worst.verdict(), worst.reason(), verdicts, states, kills, millis, failures);
  }
}
