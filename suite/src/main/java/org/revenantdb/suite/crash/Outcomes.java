package org.revenantdb.suite.crash;

import java.util.List;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** Several outcomes as one, of which there may be none. */
final class Outcomes {

  /** Why a part was not measured that could have been. */
  static final String NO_TIME = "not enough time";

  /** Why what was begun did not come to anything. */
  static final String NO_TIME_FOR_MORE = "and not enough time for more";

  private Outcomes() {}

  /** The sum; nothing measured if there is none. */
  static Outcome sum(String name, List<Outcome> all) {
    return all.isEmpty() ? notMeasured(name) : Outcome.sum(name, all);
  }

  /** Whether more time would have measured a part that was not. */
  static boolean hurried(Outcome part) {
    return part.reason().equals(NO_TIME) || part.reason().endsWith(NO_TIME_FOR_MORE);
  }

  /** A part whose turn did not come. */
  static Outcome notMeasured(String name) {
    return Outcome.of(name, Verdict.NOT_MEASURED, NO_TIME);
  }
}
