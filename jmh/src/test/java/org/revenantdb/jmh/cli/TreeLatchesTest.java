package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.jmh.coupling.CouplingFork;
import org.revenantdb.testing.Drawn;

/** The tree under four kinds of latches gives all its points, and they are processed. */
class TreeLatchesTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The fork checks what it reads and what it has changed, and fails if that is wrong. */
  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void fork_reportsAllPoints() throws IOException {
    Fork.Said said =
        new Fork(CouplingFork.class, TreeLatches.FLAGS, LIMIT).run("3000", "3", "20", "1");
    assertEquals("", said.failure());
    assertEquals(CouplingFork.points(), List.copyOf(said.values().keySet()));
  }

  @Test
  void figure_isTheWorstPoint() throws CannotMeasureException {
    Map<String, Sample> samples = samples();
    assertEquals(1, TreeLatches.worst(samples));
    samples.put(
        "hybrid_vs_best,scans,updates=50,threads=2,one_tree",
        Sample.of(List.of(0.5, 0.7, 0.9), ""));
    assertEquals(0.7, TreeLatches.worst(samples));
  }

  @Test
  void figure_withoutAPoint_isNotMeasured() {
    Map<String, Sample> samples = samples();
    samples.remove("hybrid_vs_best,reads,updates=0,threads=1,one_tree");
    assertThrows(CannotMeasureException.class, () -> TreeLatches.worst(samples));
  }

  private static Map<String, Sample> samples() {
    Map<String, Sample> samples = new HashMap<>();
    for (String point : CouplingFork.points()) {
      samples.put(point + ",one_tree", Sample.of(List.of(1.0), ""));
    }
    return samples;
  }
}
