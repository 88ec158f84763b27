package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Counts verdicts, times and failures of many threads.
 *
 * <p>Threads: any.
 */
final class Tally {

  /** Further kinds of failure are counted, not reported. */
  static final int KINDS = 12;

  /** The title of the failure that stands for those of further kinds, if some are accepted. */
  static final String MORE =
      "there are further kinds of failure, which were counted and not looked at; mend some of the"
          + " known ones first";

  private final KnownFailures known;
  private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
  private final List<Failure> failures = new ArrayList<>();
  private final Set<String> kinds = new HashSet<>();
  private double[] millis = new double[1024];
  private int times;
  private long states;
  private boolean hasMore;

  Tally(KnownFailures known) {
    this.known = known;
  }

  synchronized void count(StateResult result) {
    verdicts.merge(result.verdict(), 1L, Long::sum);
    if (result.openNanos() > 0) {
      if (times == millis.length) {
        millis = Arrays.copyOf(millis, 2 * times);
      }
      millis[times++] = result.openNanos() / 1e6;
    }
  }

  synchronized void count(Verdict verdict) {
    verdicts.merge(verdict, 1L, Long::sum);
  }

  synchronized void countState() {
    states++;
  }

  /** Whether a failure is to be reported: the first of its kind, and not too many kinds. */
  synchronized boolean isNew(String kind) {
    hasMore |= kinds.size() == KINDS && !kinds.contains(kind);
    return kinds.size() < KINDS && kinds.add(kind);
  }

  synchronized void add(Failure failure) {
    failures.add(failure);
  }

  synchronized long failed() {
    return verdicts.entrySet().stream()
        .filter(e -> e.getKey() != Verdict.SURVIVED && e.getKey() != Verdict.NOT_MEASURED)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  synchronized Outcome outcome(String name, long kills) {
    Verdict worst = Verdict.SURVIVED;
    for (Verdict verdict : verdicts.keySet()) {
      worst = worst.worse(verdict);
    }
    if (verdicts.isEmpty()) {
      return Outcome.of(name, Verdict.HARNESS_BROKEN, "nothing was checked");
    }
    if (hasMore && known.areUsed()) {
      failures.add(new Failure(worst, MORE, List.of(), "", /* seed= */ 0, /* file= */ null));
    }
    String reason = failures.isEmpty() ? "" : failures.getFirst().title();
    return new Outcome(
        name,
        worst,
        reason,
        verdicts,
        states,
        kills,
        Arrays.copyOf(millis, times),
        Failure.oneOfEachCause(failures));
  }
}
