package org.revenantdb.chaos.run;

import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Trace;

/**
 * What a subject did to its disk in one or more lives, and what it promised meanwhile.
 *
 * @param trace what it did
 * @param promises what it promised; places from the trace's clock
 * @param verdict {@link Verdict#SURVIVED} if it can be used, else why not
 * @param reason in a sentence, with the stack; empty if it can be used
 * @param end the last place of the clock
 * @param from the first place at which the power may be cut: in the life behind the last death of a
 *     process; 0 if none died
 */
public record Recording(
    Trace trace, PromiseLog promises, Verdict verdict, String reason, long end, long from) {

  /**
   * A recording in which no process died.
   *
   * @param trace what it did
   * @param promises what it promised
   * @param verdict whether it can be used
   * @param reason why not
   * @param end the last place of the clock
   */
  public Recording(Trace trace, PromiseLog promises, Verdict verdict, String reason, long end) {
    this(trace, promises, verdict, reason, end, 0);
  }

  /**
   * Which of its states are wanted: as it must be for its promises.
   *
   * @param seed of all that is drawn
   * @param states how many at most
   * @return the plan
   */
  CrashPlan plan(long seed, int states) {
    return CrashPlan.of(seed, states).preferring(promises.places()).from(from);
  }

  /**
   * Whether crash states may be built from it.
   *
   * @return true if so
   */
  public boolean usable() {
    return verdict == Verdict.SURVIVED;
  }

  /** No recording: of what did not end. */
  static Recording nothing(PromiseLog promises) {
    Trace nothing = new Trace(new DiskImage(), List.of(), List.of(), List.of());
    return new Recording(nothing, promises, Verdict.NOT_MEASURED, "it did not end", 1);
  }
}
