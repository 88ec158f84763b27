package org.revenantdb.chaos.crash;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.Seen;
import org.revenantdb.chaos.subject.Verdict;

/** The results of the deaths so far. */
final class DeathTally {

  private static final int KEPT = 24;

  /** The limit of stalls, because each takes as long as the stall limit. */
  private static final int STALLS = 3;

  private final Options options;
  private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
  private final Set<Long> images = new HashSet<>();
  private final Set<String> kinds = new HashSet<>();
  private final List<Double> recoveryMillis = new ArrayList<>();
  private final List<Evidence> evidence = new ArrayList<>();
  private Verdict worst = Verdict.SURVIVED;
  private String reason = "";
  private List<Failure> broken = List.of();
  private long kills;
  private int stalls;

  DeathTally(Options options) {
    this.options = options;
  }

  /** The number of killed processes whose store was opened and checked. */
  long kills() {
    return kills;
  }

  Verdict worst() {
    return worst;
  }

  List<Evidence> evidence() {
    return evidence;
  }

  /**
   * Counts an opening after a crash. The seeds belong to the lives that ended since the last check.
   */
  void checked(long image, List<Long> seeds, String place, long openNanos) {
    images.add(image);
    kills += seeds.size();
    double millis = openNanos / 1e6;
    recoveryMillis.add(millis);
    options.listener().accept(new Options.Progressed(kills, seeds, place, millis, worst));
  }

  /** The median of the recoveries so far, to time the next kill. */
  long typicalOpenNanos() {
    if (recoveryMillis.isEmpty()) {
      return 1_000_000;
    }
    List<Double> sorted = recoveryMillis.stream().sorted().toList();
    return (long) (sorted.get(sorted.size() / 2) * 1e6);
  }

  void count(Verdict verdict, String why) {
    verdicts.merge(verdict, 1L, Long::sum);
    if (verdict.compareTo(worst) > 0) {
      worst = verdict;
      reason = why;
    }
  }

  /** Notes a failure. Returns whether it is the first of its kind. */
  boolean isNew(String kind, boolean stalled) {
    stalls += stalled ? 1 : 0;
    return kinds.add(kind);
  }

  /** Whether there are enough failures, so that more would only take time. */
  boolean hasEnough() {
    return evidence.size() >= KEPT || stalls >= STALLS;
  }

  void keep(Evidence item) {
    evidence.add(item);
  }

  /** Ends the run for a reason other than the store. */
  void broken(BrokenHarnessException e) {
    count(e.verdict(), e.reason());
    if (!e.story().isBlank()) {
      broken =
          List.of(
              new Failure(
                  e.verdict(), e.reason(), List.of(), e.story(), options.seed(), /* file= */ null));
    }
  }

  Outcome outcome(Seen seen) {
    double[] millis = recoveryMillis.stream().mapToDouble(Double::doubleValue).toArray();
    List<Failure> failures = new ArrayList<>(evidence.stream().map(Evidence::failure).toList());
    failures.addAll(broken);
    return new Outcome(
        ProcessDeathRun.NAME,
        worst,
        reason,
        verdicts,
        images.size(),
        kills,
        millis,
        failures,
        seen);
  }
}
