package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

class ConclusionTest {

  private static final Outcome HELD = Outcome.of("faults", Verdict.SURVIVED, "");

  private static Conclusion of(Outcome... parts) {
    RunReport.Builder report = RunReport.builder("t", 7).command("./revenant chaos --seed 7");
    for (Outcome part : parts) {
      report.part(part);
    }
    return Conclusion.of(report.build(), 3);
  }

  @Test
  void run_thatSurvived_reportsIt() {
    assertEquals(new Conclusion("All checks passed.", 0), of(HELD));
  }

  @Test
  void run_thatFailed_containsTheCommandThatRepeatsIt() {
    Outcome lost = Outcome.of("power cut", Verdict.LOST, "a key is not there");
    assertEquals(new Conclusion("repeat: ./revenant chaos --seed 7", 1), of(HELD, lost));
  }

  @Test
  void part_withoutTime_isReported_andMoreTimeIsAdvised() {
    Conclusion end = of(HELD, Outcomes.notMeasured("power cut, NAMES_LOST"));
    assertEquals(
        "All that was measured passed; not measured: power cut, NAMES_LOST (not enough time)."
            + "\nGive it more time: --seconds 30",
        end.text());
    assertEquals(0, end.exitCode());
  }

  @Test
  void part_thatTheMachineCannotMeasure_failsNothing_andTimeDoesNotHelp() {
    Conclusion end = of(HELD, Outcome.of("kills", Verdict.NOT_MEASURED, "nothing can be killed"));
    assertEquals(
        "All that was measured passed; not measured: kills (nothing can be killed).", end.text());
    assertEquals(0, end.exitCode());
  }

  @Test
  void run_thatMeasuredNothing_doesNotReportSuccess() {
    String text = of(Outcomes.notMeasured("power cut")).text();
    assertTrue(text.startsWith("Nothing was measured: power cut"), text);
    assertFalse(text.contains("held"), text);
  }
}
