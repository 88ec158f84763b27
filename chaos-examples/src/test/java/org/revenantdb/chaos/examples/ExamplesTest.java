package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.hooks.AnyRecorder;

/**
 * A slice of the stores; under {@code -Plong} all of them, with two thousand states of each kind of
 * crash.
 */
@Tag("slow")
class ExamplesTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_127);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", LONG ? 2_000 : 30);

  @TempDir private Path scratch;

  @BeforeEach
  void needsHooks() {
    assumeTrue(AnyRecorder.missing().isEmpty(), AnyRecorder.missing());
  }

  private Figures run(List<Example> stores) throws IOException {
    System.out.printf(
        "ExamplesTest -Drevenant.chaos.seed=%d -Drevenant.chaos.states=%d%n", SEED, STATES);
    List<ExampleRun> runs = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    for (Example store : stores) {
      ExampleRun run = new ExampleRun(store, SEED, STATES, /* budget= */ null, /* keep= */ null);
      rows.addAll(run.run(scratch, _ -> {}));
      runs.add(run);
    }
    return Figures.of(stores, runs, rows);
  }

  /** RocksDB leaves native threads behind, for which a JVM that ends would wait. */
  @Test
  void sound_stores_cause_no_false_alarm() throws IOException {
    List<Example> sound =
        LONG
            ? List.of(Example.REVENANT, Example.SQLITE, Example.ROCKSDB, Example.LUCENE)
            : List.of(Example.ROCKSDB);
    Figures figures = run(sound);
    assertEquals(0, figures.falseAlarms(), figures::text);
    assertEquals(0, figures.unmeasured(), figures::text);
    assertTrue(figures.controls() > 0, figures::text);
  }

  @Test
  void known_damage_is_found_unaided() throws IOException {
    Figures figures = run(LONG ? Example.usual() : List.of(Example.MAPDB));
    assertEquals(figures.known(), figures.found(), figures::text);
    assertTrue(!figures.known().isEmpty(), figures::text);
    assertTrue(figures.isGood(/* isComplete= */ true), figures::text);
  }
}
