package org.revenantdb.suite.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The part of the fuzzer that runs in every build: 400 variants, under {@code -Plong} 20,000 with
 * the same seed. Others: {@code -Drevenant.fuzz.seed=N -Drevenant.fuzz.variants=N}.
 */
@Tag("slow")
class FuzzTest {

  private static final long SEED = Long.getLong("revenant.fuzz.seed", 20_261_125);
  private static final long VARIANTS =
      Long.getLong("revenant.fuzz.variants", Boolean.getBoolean("revenant.long") ? 20_000 : 400);

  @TempDir Path dir;

  @Test
  void no_damage_causes_wrong_answers_or_breaks_the_engine() throws Exception {
    System.out.printf(
        "FuzzTest -Drevenant.fuzz.seed=%d -Drevenant.fuzz.variants=%d%n", SEED, VARIANTS);
    FuzzRun run = new FuzzRun(FuzzOptions.of(SEED, Duration.ZERO, 0, VARIANTS, 2, dir));
    run.run(() -> {});
    String story = run.tally().table() + run.tally().findings("./revenant fuzz", 12);
    System.out.println(story);
    assertEquals(VARIANTS, run.tally().variants(), story);
    assertEquals(List.of(), run.faults(), story);
  }
}
