package org.revenantdb.chaos.run;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Site;
import org.revenantdb.chaos.trace.Trace;

/**
 * The file operations of a subject in one or more lives, and its promises.
 *
 * @param trace the file operations
 * @param promises the promises, with places from the trace's clock
 * @param verdict {@link Verdict#SURVIVED} if it is usable, otherwise why not
 * @param reason a sentence with the stack; empty if it is usable
 * @param end the last place of the clock
 * @param from the first place at which the power may be cut: in the life after the last death of a
 *     process; 0 if none died
 */
public record Recording(
    Trace trace, PromiseLog promises, Verdict verdict, String reason, long end, long from) {

  /**
   * Creates a recording in which no process died.
   *
   * @param trace the file operations
   * @param promises the promises
   * @param verdict whether it is usable
   * @param reason why not
   * @param end the last place of the clock
   */
  public Recording(Trace trace, PromiseLog promises, Verdict verdict, String reason, long end) {
    this(trace, promises, verdict, reason, end, 0);
  }

  /**
   * The plan for its states, which depends on its promises.
   *
   * @param seed of all random choices
   * @param states the maximum number
   * @return the plan
   */
  CrashPlan plan(long seed, int states) {
    return CrashPlan.of(seed, states).preferring(promises.places()).from(from);
  }

  /**
   * Returns what was recorded, for reports.
   *
   * @return numbers of files, operations, forces, places in the code and promises
   */
  public Seen seen() {
    Set<Integer> files = new HashSet<>();
    Set<String> places = new HashSet<>();
    int forces = 0;
    for (Operation operation : trace.operations()) {
      if (operation instanceof Operation.Force) {
        forces++;
      } else if (operation instanceof Operation.Create made && !made.directory()) {
        files.add(made.node());
      }
      Site site = Site.of(operation.origin().stack(), List.of(), /* fileKind= */ "");
      places.add(operation.getClass().getSimpleName() + " " + site);
    }
    long untried = untriedPromises();
    return Seen.NOTHING
        .with("files", files.size())
        .with("operations", trace.operations().size())
        .with("forces", forces)
        .with("places", places.size())
        .with("promises", promises.places().size())
        .with(
            untried == 0
                ? ""
                : "%d promises amid stores into mapped memory, where no process death is tried"
                    .formatted(untried));
  }

  /** The number of promises behind which the death of a process would be a guess. */
  long untriedPromises() {
    return promises.places().stream().filter(place -> trace.isAmidALook(place + 1)).count();
  }

  /**
   * Returns whether crash states may be built from it.
   *
   * @return true if they may
   */
  public boolean usable() {
    return verdict == Verdict.SURVIVED;
  }

  /**
   * Returns the same recording as one that must not be used, for reports of what was seen.
   *
   * @param why not {@link Verdict#SURVIVED}
   * @param sentence the reason
   * @return another recording
   */
  public Recording unusable(Verdict why, String sentence) {
    return new Recording(trace, promises, why, sentence, end, from);
  }

  /** The recording of a life that did not end. */
  static Recording nothing(PromiseLog promises) {
    Trace nothing = new Trace(new DiskImage(), List.of(), List.of(), List.of());
    return new Recording(nothing, promises, Verdict.NOT_MEASURED, "it did not end", 1);
  }
}
