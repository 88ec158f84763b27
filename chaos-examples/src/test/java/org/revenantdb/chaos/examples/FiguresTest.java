package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** What the table and the JSON tell of faults and forces. */
class FiguresTest {

  private static Outcome outcome(Verdict verdict, long states) {
    List<Failure> failures =
        verdict == Verdict.SURVIVED
            ? List.of()
            : List.of(new Failure(verdict, "it is gone", List.of(), "", 1, /* file= */ null));
    return new Outcome(
        "a part", verdict, "", Map.of(verdict, states), states, 0, new double[0], failures);
  }

  private static Figures figures(List<FaultLine> faults, List<ForceLine> forces) {
    return new Figures(
        List.of(new Row(Example.SQLITE, Part.DEATH, outcome(Verdict.SURVIVED, 30), 1)),
        List.of(),
        List.of(),
        /* falseAlarms= */ 0,
        /* controls= */ 12,
        /* unmeasured= */ 0,
        Map.of(),
        Map.of(),
        faults,
        forces);
  }

  @Test
  void faults_and_forces_are_counted_and_decide_nothing() {
    Outcome impossible = Outcome.of("x", Verdict.NOT_MEASURED, "hooks cannot interrupt a thread");
    Figures figures =
        figures(
            List.of(
                new FaultLine(
                    Example.SQLITE, "a force fails", outcome(Verdict.LOST, 40), "in 3 of 3"),
                new FaultLine(
                    Example.SQLITE, "a write fails", outcome(Verdict.SURVIVED, 50), "in 2"),
                new FaultLine(Example.SQLITE, "an interrupt", impossible, "")),
            List.of(new ForceLine(Example.SQLITE, 2, List.of("a.B.c"))));
    assertTrue(
        figures
            .text()
            .endsWith(
                "faults: 3 kinds in 1 stores, 90 states, 1 with findings; forces: 2 of 3 places needed"),
        figures::text);
    assertTrue(figures.isGood(/* isComplete= */ true));
    String json = figures.json().toString();
    for (String field :
        List.of(
            "\"fault_states\": 90",
            "\"fault_findings\": 1",
            "\"force_places\": 3",
            "\"force_places_needed\": 2",
            "\"process_deaths\": 30",
            "it is gone",
            "hooks cannot interrupt a thread",
            "a.B.c")) {
      assertTrue(json.contains(field), json);
    }
  }

  @Test
  void without_faults_the_figures_have_none() {
    Figures figures = figures(List.of(), List.of());
    assertFalse(figures.text().contains("faults"), figures::text);
    assertFalse(figures.json().toString().contains("fault_"));
    assertEquals("", new FaultLine(Example.SQLITE, "f", outcome(Verdict.SURVIVED, 1), "").first());
  }
}
