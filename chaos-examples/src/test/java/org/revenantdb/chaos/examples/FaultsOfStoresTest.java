package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Site;

/** What a run with faults does with a store, without a store. Under {@code -Plong} all have one. */
class FaultsOfStoresTest {
  private static ExampleRun run(int states) {
    return new ExampleRun(
        Example.SQLITE,
        /* seed= */ 7,
        states,
        /* budget= */ null,
        /* keep= */ null,
        /* isTimed= */ false,
        /* faultLives= */ 1);
  }

  @Test
  void each_kind_of_fault_is_tried_with_a_part_of_the_states_of_a_power_cut() throws IOException {
    List<FaultKind> tried = new ArrayList<>();
    List<PowerCutOptions> options = new ArrayList<>();
    List<FaultLine> told = new ArrayList<>();
    List<FaultLine> lines =
        run(/* states= */ 1_000)
            .fail(
                (kind, cuts, how) -> {
                  tried.add(kind);
                  options.add(cuts);
                  how.accept("in 1 of 1 lives");
                  return Outcome.of(kind.title(), Verdict.LOST, "a reason");
                },
                FaultKind.values(),
                told::add);

    assertEquals(List.of(FaultKind.values()), tried);
    assertEquals(lines, told);
    assertEquals(
        Arrays.stream(FaultKind.values()).map(FaultKind::title).toList(),
        lines.stream().map(FaultLine::fault).toList());
    assertTrue(
        lines.stream()
            .allMatch(line ->
                line.store() == Example.SQLITE
                    && line.isFinding()
                    && line.seen().equals("in 1 of 1 lives")
                    && line.first().equals("a reason")));
    assertTrue(
        options.stream()
            .allMatch(cuts ->
                cuts.states() == 40
                    && cuts.seed() == 7
                    && cuts.profile() == PlatformProfile.EXT4_ORDERED));
  }

  @Test
  void a_short_run_has_twenty_states_of_each_kind_all_the_same() throws IOException {
    List<Integer> states = new ArrayList<>();
    var _ =
        run(/* states= */ 30)
            .fail(
                (kind, cuts, _) -> {
                  states.add(cuts.states());
                  return Outcome.of(kind.title(), Verdict.SURVIVED, "");
                },
                new FaultKind[] {FaultKind.FORCE_FAILS},
                _ -> {});
    assertEquals(List.of(20), states);
  }

  @Test
  void places_without_whose_forces_nothing_fails_are_those_that_are_not_needed() {
    ForceLine line =
        ForceLine.of(
            Example.SQLITE,
            List.of(
                row("a.B", "it is gone"), row("c.D", /* detectedBy= */ ""), row("e.F", "lost")));
    assertEquals(2, line.needed());
    assertEquals(3, line.places());
    assertEquals(1, line.unneeded().size());
    assertTrue(line.unneeded().getFirst().contains("c.D"), line.unneeded()::toString);
    assertEquals(3, line.json().get("force_places"));
    assertEquals(2, line.json().get("force_places_needed"));
    assertEquals(line.unneeded(), line.json().get("force_places_not_needed"));
  }

  private static CoverageRow row(String place, String detectedBy) {
    return new CoverageRow(
        new Site(place, "force", 1, "log"), /* forces= */ 3, /* states= */ 9, detectedBy, true);
  }
}
