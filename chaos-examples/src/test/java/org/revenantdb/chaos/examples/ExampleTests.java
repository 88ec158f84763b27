package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.hooks.AnyRecorder;

/**
 * A slice of the stores; under {@code -Plong} all of them, with two thousand states of each kind of
 * crash, and one life with each kind of fault. Some classes, which run at the same time.
 */
@Tag("slow")
abstract class ExampleTests {
  static final boolean LONG = Boolean.getBoolean("revenant.long");
  static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_127);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", LONG ? 2_000 : 30);

  static final int FAULT_LIVES = LONG ? 1 : 0;

  @TempDir private Path scratch;

  @BeforeEach
  void needsHooks() {
    assumeTrue(AnyRecorder.missingHooks().isEmpty(), AnyRecorder.missingHooks());
  }

  final Figures run(List<Example> stores) throws IOException {
    return run(stores, List.of(Part.values()));
  }

  final Figures run(List<Example> stores, List<Part> parts) throws IOException {
    return run(stores, parts, SEED, STATES, FAULT_LIVES);
  }

  final Figures run(List<Example> stores, List<Part> parts, long seed, int states, int faultLives)
      throws IOException {
    System.out.printf(
        "%s -Drevenant.chaos.seed=%d -Drevenant.chaos.states=%d: %s, %s%n",
        getClass().getSimpleName(), seed, states, stores, parts);
    List<StoreResult> results = new ArrayList<>();
    for (Example store : stores) {
      ExampleRun run =
          new ExampleRun(
              store,
              seed,
              states,
              /* budget= */ null,
              /* keep= */ scratch,
              /* isTimed= */ false,
              faultLives);
      results.add(run.only(parts).run(scratch, _ -> {}, _ -> {}));
    }
    return new Figures(results, seed, states);
  }
}
