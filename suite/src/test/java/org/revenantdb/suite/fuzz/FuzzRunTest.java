package org.revenantdb.suite.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.testing.Drawn;

/** The parent detects what a child cannot report itself. */
@Tag("slow")
class FuzzRunTest {

  /** Half of them belong to one child, the others to the other one. */
  private static final int VARIANTS = 10;

  /** For all tests, because each family of databases is created once in a directory. */
  @TempDir static Path dir;

  /** The limit for a child that hangs: longer than a healthy child is silent on a quiet machine. */
  private static final Duration IMPATIENT = Duration.ofSeconds(3);

  private FuzzRun run(long variants) {
    return run(variants, FuzzOptions.LIMIT);
  }

  private FuzzRun run(long variants, Duration limit) {
    return new FuzzRun(
        new FuzzOptions(
            7, Duration.ZERO, 0, variants, 1, limit, dir, PlantedOpener.class.getName()));
  }

  @Test
  @Drawn(oneIn = 2)
  void a_child_that_hangs_is_killed_and_its_variant_is_reported() throws Exception {
    String hang = "7/0/0 stray: create plant-hang 1";
    FuzzRun run = run(1, IMPATIENT);
    run.one(hang);
    assertEquals(List.of(Outcome.HANGS), run.faults());
  }

  @Test
  void a_child_that_ends_in_a_variant_is_a_death_of_the_jvm() throws Exception {
    FuzzRun run = run(1);
    run.one("7/0/0 stray: create plant-halt 1");
    assertEquals(List.of(Outcome.JVM_DEATHS), run.faults());
    String json = run.tally().fill(new JsonReport()).toString();
    assertTrue(json.contains("\"jvm_deaths\": 1"), json);
    assertTrue(json.contains("\"case\": \"7/0/0 stray: create plant-halt 1\""), json);
    assertTrue(run.tally().findings("fuzz", 0).contains("7/0/0 stray: create plant-halt 1"));
  }

  @Test
  void a_report_without_faults_has_no_findings() {
    String json = run(1).tally().fill(new JsonReport()).toString();
    assertTrue(json.contains("\"findings\": []"), json);
  }

  @Test
  void a_text_that_is_not_a_case_is_refused() {
    assertThrows(IllegalArgumentException.class, () -> run(1).one("nonsense"));
  }

  @Test
  @Drawn(oneIn = 2)
  void the_requested_number_of_variants_is_run() throws Exception {
    FuzzRun run =
        new FuzzRun(
            new FuzzOptions(
                7,
                Duration.ZERO,
                Families.CHUNK - 5,
                VARIANTS,
                2,
                FuzzOptions.LIMIT,
                dir,
                PlantedOpener.class.getName()));
    run.run(() -> {});
    assertEquals(VARIANTS, run.tally().variants());
  }
}
