package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.report.ConsoleSummary;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.report.RunJson;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** {@code ./revenant chaos --subject}, with small numbers. */
@Tag("slow")
class CountedRunTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int STATES = 40;

  /** So few that the lives of one seed do not have enough of them under all profiles. */
  private static final int STATES_OF_A_PROFILE = 5;

  @TempDir Path dir;

  private RunReport run(Set<Crash> crashes, int states, int kills) {
    System.out.println("CountedRunTest -Drevenant.chaos.seed=" + SEED);
    ChaosOptions options =
        new ChaosOptions(
            SEED,
            Duration.ofSeconds(1),
            crashes,
            dir.resolve("databases"),
            dir.resolve("failures"),
            /* histories= */ null);
    return new CountedRun(
            Variant.SEQUENCE, options, states, kills, STATES_OF_A_PROFILE, /* command= */ "")
        .run();
  }

  private static long sum(List<Outcome> parts, ToLongFunction<Outcome> count) {
    return parts.stream().mapToLong(count).sum();
  }

  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void a_run_makes_the_requested_number_of_crashes_and_reports_all_seeds() {
    RunReport report = run(Set.of(Crash.POWER_CUT, Crash.PROCESS_DEATH), STATES, 2);
    String story = ConsoleSummary.of(report);
    assertEquals(Verdict.SURVIVED, report.verdict(), story);
    assertTrue(sum(report.parts(), Outcome::states) >= STATES, story);
    assertEquals(2, sum(report.parts(), Outcome::kills), story);
    assertEquals(2, report.deaths().stream().mapToInt(death -> death.seeds().size()).sum(), story);
    long seeds =
        report.parts().stream()
            .map(Outcome::name)
            .filter(name -> name.startsWith("power cut, lives of seed "))
            .distinct()
            .count();
    assertTrue(seeds >= 2, "states of one seed alone:\n" + story);
    String json = RunJson.fill(report, new JsonReport()).toString();
    assertTrue(json.contains(Long.toString(SEED)), json);
  }

  @Test
  @Drawn(oneIn = 3)
  void a_kind_of_crash_that_was_not_requested_is_left_out() {
    List<Outcome> parts = run(Set.of(Crash.POWER_CUT), /* states= */ 1, /* kills= */ 1).parts();
    assertFalse(parts.isEmpty());
    assertTrue(parts.stream().allMatch(part -> part.name().startsWith("power cut")), "" + parts);
    assertEquals(0, sum(parts, Outcome::kills), "" + parts);
  }
}
