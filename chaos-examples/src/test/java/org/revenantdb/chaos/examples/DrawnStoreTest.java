package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.crash.Seeds;

/** Each store is recorded and crashed in some build, one of them in each. */
class DrawnStoreTest extends ExampleTests {
  private static final int STATES_OF_A_SLICE = 6;

  /** The seed says which store, and which crash. Two of the stores are in each build anyway. */
  @Test
  void a_drawn_store_is_seen_whole_and_accused_of_nothing_that_it_promises() throws IOException {
    Long given = Long.getLong("revenant.chaos.seed");
    long seed = given == null ? Seeds.fresh() : given;
    SplittableRandom random = new SplittableRandom(seed);
    List<Example> others = new ArrayList<>(Example.usual());
    others.removeAll(List.of(Example.MAPDB, Example.ROCKSDB));
    Example store = others.get(random.nextInt(others.size()));
    Part part = Part.values()[random.nextInt(Part.values().length)];

    Figures figures = run(List.of(store), List.of(part), seed, STATES_OF_A_SLICE, FAULT_LIVES);

    assertEquals(List.of(), figures.falseAlarms());
    assertEquals(0, figures.unmeasured(), () -> figures.rows().toString());
    assertTrue(figures.controlsEqual() >= 12, figures::text);
    assertTrue(figures.rows().stream().allMatch(row -> row.outcome().states() > 0), figures::text);
  }
}
