package org.revenantdb.chaos.report;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The few numbers that summarise a {@link RunReport}, computed in one place so that page, console
 * and JSON agree.
 *
 * @param kills of all parts
 * @param states of all parts
 * @param verdicts of all parts, worst last
 * @param recoveryMillis of all parts, in order of size
 * @param statesPerSecond from the report; empty if it was not measured
 * @param teethFound the number of subjects broken on purpose that were found
 * @param losses the number of places of each kind
 */
record RunFigures(
    long kills,
    long states,
    Map<Verdict, Long> verdicts,
    double[] recoveryMillis,
    OptionalDouble statesPerSecond,
    long teethFound,
    Map<CoverageRow.Loss, Long> losses) {

  static RunFigures of(RunReport report) {
    long kills = report.parts().stream().mapToLong(Outcome::kills).sum();
    long states = report.parts().stream().mapToLong(Outcome::states).sum();
    double rate = report.statesPerSecond();
    return new RunFigures(
        kills,
        states,
        sum(report.parts().stream().map(Outcome::verdicts).toList()),
        sorted(
            report.parts().stream()
                .flatMapToDouble(part -> Arrays.stream(part.recoveryMillis()))
                .toArray()),
        rate > 0 && Double.isFinite(rate) ? OptionalDouble.of(rate) : OptionalDouble.empty(),
        report.teeth().stream().filter(ToothLine::found).count(),
        report.coverage().stream()
            .collect(
                Collectors.groupingBy(
                    CoverageRow::loss,
                    () -> new EnumMap<>(CoverageRow.Loss.class),
                    Collectors.counting())));
  }

  static Map<Verdict, Long> sum(Collection<Map<Verdict, Long>> many) {
    Map<Verdict, Long> sum = new EnumMap<>(Verdict.class);
    for (Map<Verdict, Long> one : many) {
      one.forEach((verdict, count) -> sum.merge(verdict, count, Long::sum));
    }
    sum.values().removeIf(count -> count == 0);
    return sum;
  }

  /** The usable values (finite, not negative), smallest first. */
  static double[] sorted(double[] values) {
    return Arrays.stream(values).filter(v -> Double.isFinite(v) && v >= 0).sorted().toArray();
  }

  /** The value that this share of all values does not exceed; empty without values. */
  static OptionalDouble percentile(double[] sorted, double share) {
    if (sorted.length == 0) {
      return OptionalDouble.empty();
    }
    int rank = (int) Math.ceil(share * sorted.length);
    return OptionalDouble.of(sorted[Math.clamp(rank - 1, 0, sorted.length - 1)]);
  }

  /** The number of places whose missing forces were not detected, for whatever reason. */
  long undetected() {
    return losses.values().stream().mapToLong(Long::longValue).sum()
        - losses(CoverageRow.Loss.NOTICED);
  }

  long losses(CoverageRow.Loss loss) {
    return losses.getOrDefault(loss, 0L);
  }

  OptionalDouble recovery(double share) {
    return percentile(recoveryMillis, share);
  }
}
