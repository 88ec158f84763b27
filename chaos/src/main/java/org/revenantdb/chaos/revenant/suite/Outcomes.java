package org.revenantdb.chaos.revenant.suite;

import java.util.List;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** Several outcomes as one, of which there may be none. */
final class Outcomes {

  private Outcomes() {}

  /** The sum; nothing measured if there is none. */
  static Outcome sum(String name, List<Outcome> all) {
    return all.isEmpty()
        ? Outcome.of(name, Verdict.NOT_MEASURED, "there was no time for it")
        : Outcome.sum(name, all);
  }
}
