package org.revenantdb.jmh.coupling;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No mode loses a change or accepts a torn read, with threads that meet on two leaves. Different
 * modes can be mixed, as when one turn follows another.
 */
class LatchModeTest {
  private static final int ROWS = 2 * Node.LEAF_ENTRIES;
  private static final int THREADS = 4;
  private static final int STEPS = 500;

  /** Two rows in each leaf, and those that their scans pass. */
  private static final int[] HOT = {5, 6, Node.LEAF_ENTRIES, Node.LEAF_ENTRIES + 1};

  private final long seed = Long.getLong("revenant.seed", new SplittableRandom().nextLong());

  @ParameterizedTest
  @EnumSource
  void mode_losesNothing(LatchMode mode) throws Exception {
    run(List.of(mode));
  }

  @Test
  void modes_goTogether() throws Exception {
    run(List.of(LatchMode.values()));
  }

  private void run(List<LatchMode> modes) throws Exception {
    System.out.println("seed " + seed);
    NodeTree tree = NodeTree.of(ROWS);
    List<Workload.Step> steps = new ArrayList<>();
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(seed + thread);
        List<Workload.Step> own = new ArrayList<>();
        for (Workload workload : Workload.all()) {
          LatchMode mode = modes.get((thread + own.size()) % modes.size());
          own.add(
              workload.step(tree, mode, () -> HOT[random.nextInt(HOT.length)], random.nextLong()));
        }
        steps.addAll(own);
        running.add(
            threads.submit(() -> {
              for (int i = 0; i < STEPS; i++) {
                own.forEach(Workload.Step::run);
              }
            }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    }
    assertEquals(steps.stream().mapToLong(Workload.Step::updates).sum(), tree.countChanges());
  }
}
