package org.revenantdb.chaos.run;

import org.revenantdb.chaos.oracle.PromiseLog;
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
 */
public record Recording(
    Trace trace, PromiseLog promises, Verdict verdict, String reason, long end) {

  /**
   * Whether crash states may be built from it.
   *
   * @return true if so
   */
  public boolean usable() {
    return verdict == Verdict.SURVIVED;
  }
}
