package org.revenantdb.chaos.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;

/** The lives that show one kind of fault of the catalogue. */
public final class FaultCatalogue {

  private FaultCatalogue() {}

  /**
   * Divides the operations where a fault is possible into as many parts as there are lives. The
   * fault strikes one operation of each part.
   *
   * @param kind the fault
   * @param possible the number of these operations in a life without faults
   * @param seed of the choice
   * @param lives the number of lives, if there are as many operations
   * @return a case for each life; none if the fault is possible nowhere
   */
  public static List<FaultCase> cases(FaultKind kind, long possible, long seed, int lives) {
    SplittableRandom random = new SplittableRandom(seed ^ kind.name().hashCode());
    int count = (int) Math.min(possible, lives);
    List<FaultCase> cases = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long first = possible * i / count;
      long next = possible * (i + 1) / count;
      FaultPoint point = new FaultPoint(kind, 1 + random.nextLong(first, next));
      cases.add(
          new FaultCase(
              kind.title(),
              "operation %d of %d where that is possible".formatted(point.nth(), possible),
              point::injector,
              FaultCase.Contract.NOTHING_LOST));
    }
    return cases;
  }

  /**
   * Runs the lives of one kind of fault.
   *
   * @param kind the fault
   * @param run has the cases of that kind
   * @return the outcome, with the lives in what was seen; not measured if no life had the fault
   * @throws IOException if a disk cannot be made
   */
  public static Outcome run(FaultKind kind, FaultRun<?> run) throws IOException {
    Outcome outcome = run.run();
    int struck = run.rows().stream().mapToInt(FaultRow::struck).sum();
    int lives = run.rows().stream().mapToInt(FaultRow::lives).sum();
    Seen seen =
        Seen.NOTHING
            .with("the fault in %d of %d lives".formatted(struck, lives))
            .with(run.notRun())
            .withFaults(run.rows());
    Outcome told =
        struck == 0 && outcome.failures().isEmpty() && !run.rows().isEmpty()
            ? Outcome.of(
                kind.title(), Verdict.NOT_MEASURED, "the fault occurred in none of the lives")
            : outcome;
    return told.withSeen(seen.and(outcome.seen()));
  }

  /**
   * Returns the outcome of a kind of fault that no operation of the store can have.
   *
   * @param kind the fault
   * @return not measured
   */
  public static Outcome nowhere(FaultKind kind) {
    return Outcome.of(
        kind.title(),
        Verdict.NOT_MEASURED,
        "no operation of the store can have this fault: " + kind.title());
  }
}
