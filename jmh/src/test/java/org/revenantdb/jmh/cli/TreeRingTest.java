package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.jmh.commit.LazyFork;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.testing.Drawn;

/** That the ring in a file is compared with one in memory. How fast they are is not asked. */
class TreeRingTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void fork_tellsAllPoints(@TempDir Path folder) throws IOException {
    Fork fork = new Fork(LazyFork.class, ShortForks.with(List.of()), LIMIT);
    Fork.Said said = fork.run(folder.toString(), "5", "20", "1");
    assertEquals("", said.failure());
    assertEquals(LazyFork.points(), List.copyOf(said.values().keySet()));
  }

  @Test
  void figure_isTheWorstPoint() throws CannotMeasureException {
    Map<String, Sample> samples = new HashMap<>();
    for (String point : LazyFork.points()) {
      samples.put(point + ",mapped file", Sample.of(List.of(90.0), "1/s"));
      samples.put(point + ",memory", Sample.of(List.of(90.0), "1/s"));
    }
    assertEquals(1, TreeRing.worst(samples));
    samples.put("lazy_commits,sessions=2,mapped file", Sample.of(List.of(45.0), "1/s"));
    assertEquals(0.5, TreeRing.worst(samples));
    samples.remove("lazy_commits,sessions=1,memory");
    assertThrows(CannotMeasureException.class, () -> TreeRing.worst(samples));
    assertTrue(new TreeBench().promises().contains("mapped_ring_ratio"));
  }
}
