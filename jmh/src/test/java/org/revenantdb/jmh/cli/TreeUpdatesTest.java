package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.tree.BigUpdateFork;
import org.revenantdb.jmh.tree.RandomUpdatesFork;
import org.revenantdb.jmh.tree.WideRevenantTree;
import org.revenantdb.testing.Drawn;

/** That updates of random rows tell all their points, and what becomes of them. */
class TreeUpdatesTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource(names = {"OURS", "TUPL"})
  @Tag("slow")
  @Drawn(oneIn = 2)
  void engine_tellsAllPoints(TreeEngines engine) throws IOException {
    assertEquals(RandomUpdatesFork.points(), small(engine, engine.className()));
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void widestBound_tellsAllPoints() throws IOException {
    String wide = WideRevenantTree.class.getName();
    assertEquals(RandomUpdatesFork.points(), small(TreeEngines.OURS, wide));
  }

  private List<String> small(TreeEngines engine, String name) throws IOException {
    Fork fork = new Fork(RandomUpdatesFork.class, ShortForks.with(engine.flags("256m")), LIMIT);
    Fork.Said said = fork.run(name, folder.toString(), "3500", "33554432", "5", "20", "1");
    assertEquals("", said.failure());
    return List.copyOf(said.values().keySet());
  }

  /** The fork reads rows that it has updated, and fails if their values are others. */
  @ParameterizedTest
  @EnumSource(names = {"OURS", "TUPL"})
  @Tag("slow")
  @Drawn(oneIn = 2)
  void largeTransaction_isThereAfterwards(TreeEngines engine) throws IOException {
    Fork fork = new Fork(BigUpdateFork.class, ShortForks.with(engine.flags("256m")), LIMIT);
    Fork.Said said =
        fork.run(engine.className(), folder.toString(), "3500", "33554432", "2000", "2", "1");
    assertEquals("", said.failure());
    assertEquals(List.of("big_update", "big_update_slowest"), List.copyOf(said.values().keySet()));
  }

  @Test
  void figure_isTheWorstPoint_ofBothComparisons() throws CannotMeasureException {
    Map<String, Sample> samples = new HashMap<>();
    for (String point : RandomUpdatesFork.points()) {
      samples.put(point + ",ours", Sample.of(List.of(90.0), "1/s"));
      samples.put(point + ",tupl", Sample.of(List.of(45.0), "1/s"));
      samples.put(point + ",widest bound", Sample.of(List.of(90.0), "1/s"));
    }
    assertEquals(2, TreeUpdates.worst(samples, "tupl"));
    samples.put("random_updates,threads=2,ours", Sample.of(List.of(60.0), "1/s"));
    assertEquals(4.0 / 3, TreeUpdates.worst(samples, "tupl"));
    assertEquals(2.0 / 3, TreeUpdates.worst(samples, "widest bound"));
    samples.remove("random_updates,threads=1,tupl");
    assertThrows(CannotMeasureException.class, () -> TreeUpdates.worst(samples, "tupl"));
  }

  @Test
  void promises_nameTheFiguresOfUpdates() {
    List<String> figures =
        List.of("default_vs_wide", "default_update_vs_tupl", "big_update_vs_tupl");
    assertTrue(Collections.indexOfSubList(new TreeBench().promises(), figures) >= 0);
  }
}
