package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.report.RecoveryCostPoint;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The promise of constant-time recovery, in counted bytes. In usual builds {@link ChaosSuiteTest}
 * makes the same comparisons.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@Tag("slow")
class RecoveryCostTest {

  @Test
  void recovery_cost_does_not_depend_on_work_in_flight_and_is_at_most_twice_the_log()
      throws IOException {
    RecoveryCost cost = new RecoveryCost();
    cost.measure();
    assertEquals(Verdict.SURVIVED, cost.outcome().verdict(), cost.outcome().reason());
    assertCountedBytesGrowWithTheLog(cost.byLog());
  }

  static void assertCountedBytesGrowWithTheLog(List<RecoveryCostPoint> log) {
    assertTrue(
        log.getLast().logSinceCheckpoint() > 100 * log.getFirst().logSinceCheckpoint(),
        "the lengths of log should differ: " + log);
    assertTrue(
        log.getLast().bytes() > log.getFirst().bytes() + log.getLast().logSinceCheckpoint(),
        "what is counted should grow with the log: " + log);
  }
}
