package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.tree.SpillFork;
import org.revenantdb.jmh.tree.TreeFork;

/**
 * Each engine of {@code bench tree} returns the right rows on this JDK, with its flags: the forks
 * check every value that they read, and fail if it is wrong. The numbers are not checked.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
class TreeEnginesTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void engine_reportsAllPoints(TreeEngines engine) throws IOException {
    Fork fork = new Fork(TreeFork.class, ShortForks.with(engine.flags("256m")), LIMIT);
    Fork.Said said =
        fork.run(engine.className(), folder.toString(), "3500", "33554432", "5", "20", "1");
    assertEquals("", said.failure());
    List<String> points = new ArrayList<>(List.of("load", "settle_ms"));
    points.addAll(TreeMemory.READS);
    points.addAll(List.of("bytes_per_read,per_tx=1", "bytes_per_read,open"));
    if (engine.isOrdered()) {
      points.addAll(TreeMemory.SCANS);
    }
    points.addAll(TreeMemory.UPDATES);
    points.addAll(List.of(TreeMemory.MIX_95, TreeMemory.MIX_50));
    if (engine == TreeEngines.OURS || engine == TreeEngines.LMDB) {
      points.add("load_sorted");
    }
    if (engine == TreeEngines.OURS) {
      points.add("load_unsorted");
    }
    assertEquals(points, List.copyOf(said.values().keySet()));
  }

  /** The smallest pool there is, 2 MiB, is a fifth of as few as these. */
  @Test
  @Tag("slow")
  void pagesARead_areAboutWhatTheoryAllows() throws IOException {
    Fork fork = new Fork(SpillFork.class, TreeEngines.OURS.flags("256m"), LIMIT);
    Fork.Said said =
        fork.run(TreeEngines.OURS.className(), folder.toString(), "95000", "50", "200", "1");
    assertEquals("", said.failure());
    double theory = said.values().getOrDefault("theoretical_pages_per_read", 0.0);
    double counted = said.values().getOrDefault("pages_per_read", 0.0);
    assertTrue(theory > 0.7 && theory < 1, said::toString);
    assertTrue(counted > 0.8 * theory && counted < 1.5 * theory, said::toString);
  }

  @Test
  void ours_getsNoFlagButTheHeap() {
    assertEquals(List.of("-Xms1g", "-Xmx1g"), TreeEngines.OURS.flags("1g"));
  }

  @Test
  void versions_areFound() {
    Figures figures = new Figures();
    for (TreeEngines engine : TreeEngines.values()) {
      engine.describe(figures);
    }
    assertEquals(4, figures.versions().size());
    figures.versions().values().forEach(version -> assertNotEquals("not there", version));
    assertEquals(TreeEngines.values().length, figures.settings().size());
  }

  @Test
  void figure_isTheWorstPoint() throws CannotMeasureException {
    Map<String, Sample> samples =
        Map.of(
            "a,ours", Sample.of(List.of(10.0), ""),
            "a,lmdb", Sample.of(List.of(20.0), ""),
            "b,ours", Sample.of(List.of(90.0), ""),
            "b,lmdb", Sample.of(List.of(30.0), ""));
    assertEquals(0.5, TreeMemory.worst(samples, TreeEngines.LMDB, List.of("a", "b")));
    assertEquals(3, TreeMemory.worst(samples, TreeEngines.LMDB, List.of("b")));
  }

  @Test
  void figure_withoutThePeer_isNotMeasured() {
    Map<String, Sample> samples = Map.of("a,ours", Sample.of(List.of(10.0), ""));
    assertThrows(
        CannotMeasureException.class,
        () -> TreeMemory.worst(samples, TreeEngines.LMDB, List.of("a")));
  }
}
