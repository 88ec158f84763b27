package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Site;

class RunSummaryTest {

  private static RunReport.Builder small() {
    return RunReport.builder("small", 7)
        .ran(Instant.EPOCH, Duration.ofSeconds(10))
        .surroundings(new Surroundings("m", "j", "c"));
  }

  private static Outcome part(long states, long kills, double... recoveryMillis) {
    return new Outcome(
        "a part",
        Verdict.SURVIVED,
        "",
        Map.of(Verdict.SURVIVED, states + kills, Verdict.LOST, 0L),
        states,
        kills,
        recoveryMillis,
        List.of());
  }

  @Test
  void json_holdsTheFigures() {
    RunReport report =
        small()
            .statesPerSecond(5)
            .part(part(30, 0, 4, 1, 3))
            .part(part(20, 5, 2, Double.NaN, 9))
            .tooth(new ToothLine("t", true, 1, 2, ""))
            .coverage(new CoverageRow(new Site("C", "m", 1, "log"), 1, 1, "X: LOST", true))
            .coverage(new CoverageRow(new Site("C", "m", 2, "log"), 0, 0, "", false))
            .build();
    String json = RunJson.fill(report, new JsonReport()).toString();
    assertTrue(
        json.startsWith(
            """
            {
              "verdict": "SURVIVED",
              "kills": 5,
              "states": 50,
              "verdicts": {
                "SURVIVED": 55
              },
              "seed": 7,
              "teeth": 1,
              "teeth_total": 1,
              "recovery_ms": {
                "p50": 3.0,
                "max": 9.0
              },
              "states_per_second": 5.0,
              "force_sites": 2,
              "force_sites_undetected": 1,
              "detail": {
                "title": "small",
            """),
        json);
  }

  @Test
  void json_containsTheSeedsOfAllDeaths() {
    DeathLine line = new DeathLine(List.of(3L, 8L), "was killed in its work", 1.5);
    String json = RunJson.fill(small().death(line).build(), new JsonReport()).toString();
    String flat = json.replaceAll("\\s+", " ");
    assertTrue(
        flat.contains(
            "\"deaths\": [{ \"seeds\": [3, 8], \"place\": \"was killed in its work\", "
                + "\"recovery_ms\": 1.5 }]"),
        flat);
  }

  @Test
  void json_hasNoFieldForUnmeasuredFigures() {
    String json = RunJson.fill(small().build(), new JsonReport()).toString();
    for (String name :
        List.of("teeth", "recovery_ms", "states_per_second", "force_sites", "faults")) {
      assertFalse(json.contains(name), json);
    }
    assertTrue(json.contains("\"verdict\": \"NOT_MEASURED\""), json);
  }

  @Test
  void percentile_isAValueThatWasMeasured() {
    double[] four = {1, 2, 3, 4};
    assertEquals(2, RunFigures.percentile(four, 0.5).orElseThrow());
    assertEquals(4, RunFigures.percentile(four, 1).orElseThrow());
    assertEquals(1, RunFigures.percentile(four, 0).orElseThrow());
    assertTrue(RunFigures.percentile(new double[0], 0.5).isEmpty());
  }

  @Test
  void console_showsFailuresFirstAndFiguresLast() {
    String text = ConsoleSummary.of(SampleReport.full(Path.of("target")));
    assertTrue(text.startsWith("LOST  power cut, STRICT_POSIX: power cut at operation 4711"), text);
    assertTrue(text.contains("    LOST: key <k-17>, transaction 93, durable at 4702\n"), text);
    assertTrue(
        text.contains("--replay " + Path.of("target", "failures", "power cut #1.zip")), text);
    assertTrue(
        text.contains(
            "states                            22,294, 31.2/s while they were opened and checked\n"),
        text);
    assertTrue(text.contains("2 of 3 found\n"), text);
    assertTrue(
        text.contains(
            "  4: loss of 1 detected, of 1 not detected, of 1 undecided for lack of time,"
                + " 1 not reached\n"),
        text);
    assertTrue(
        text.contains("  undecided                       store.Store.create:31 (.), states 60\n"),
        text);
    assertTrue(
        text.contains(
            "  not detected                    store.Store.rename:77 (.), states 4,210\n"),
        text);
    assertTrue(text.contains(" store.Backup.lambda$copy$0:12\n"), text);
    assertTrue(text.contains("9,811 SURVIVED, 3 LOST)\n"), text);
  }

  @Test
  void statesPerSecond_isTheSameOnPageConsoleAndJson() {
    RunReport report = small().statesPerSecond(133.5).part(part(30, 0, 1)).build();
    assertTrue(HtmlReport.of(report).toString().contains("<b>134</b><span>distinct states a"));
    assertTrue(ConsoleSummary.of(report).contains("30, 134/s while they were opened"));
    String json = RunJson.fill(report, new JsonReport()).toString();
    assertTrue(json.contains("\"states_per_second\": 133.5"), json);
  }

  @Test
  void statesPerSecond_notMeasured_areNotComputedFromTheDurationOfTheRun() {
    RunReport report = small().part(part(30, 0, 1)).build();
    assertFalse(ConsoleSummary.of(report).contains("/s"));
    assertFalse(HtmlReport.of(report).toString().contains("states a second"));
  }

  @Test
  void console_withoutResults_reportsThatNothingWasMeasured() {
    String text = ConsoleSummary.of(small().build());
    assertTrue(text.contains("small  NOT_MEASURED\n"), text);
    assertEquals(4, text.lines().count(), text);
  }
}
