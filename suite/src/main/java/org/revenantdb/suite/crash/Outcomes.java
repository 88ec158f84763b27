package org.revenantdb.suite.crash;

import java.util.List;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** Combines outcomes, of which there may be none. */
final class Outcomes {

  /** The reason why a part was not measured. */
  static final String NO_TIME = "not enough time";

  /** The reason why a part that was begun has no result. */
  static final String NO_TIME_FOR_MORE = "and not enough time for more";

  private Outcomes() {}

  /** The combined outcome; not measured if there is none. */
  static Outcome sum(String name, List<Outcome> all) {
    return all.isEmpty() ? notMeasured(name) : Outcome.sum(name, all);
  }

  /** Whether a part was not measured for want of time. */
  static boolean hurried(Outcome part) {
    return part.reason().equals(NO_TIME) || part.reason().endsWith(NO_TIME_FOR_MORE);
  }

  /** A part whose turn did not come. */
  static Outcome notMeasured(String name) {
    return Outcome.of(name, Verdict.NOT_MEASURED, NO_TIME);
  }
}
