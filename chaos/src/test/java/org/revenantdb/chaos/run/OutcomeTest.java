package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.Verdict;

/** Results of several runs as one. */
class OutcomeTest {

  private static Outcome saw(Seen seen) {
    return Outcome.of("a part", Verdict.SURVIVED, "").withSeen(seen);
  }

  @Test
  void a_sum_has_seen_what_each_part_has_seen_and_otherwise_nothing() {
    Seen with = Seen.NOTHING.with("files", 2).with("places", 4);
    Seen without = Seen.NOTHING.with("files", 2).with("operations are not recorded");
    assertEquals(with, Outcome.sum("equal", List.of(saw(with), saw(with))).seen());
    assertEquals(Seen.NOTHING, Outcome.sum("other", List.of(saw(without), saw(with))).seen());
  }
}
