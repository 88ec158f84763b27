package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.jmh.space.MapMemoryFork;
import org.revenantdb.testing.Drawn;

/** That the JVM which looks at its heap finds what there is, and what becomes of it. */
class SpaceMapMemoryTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path directory;

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void fork_findsTheMemoryOfMaps() throws Exception {
    Fork.Said said =
        new Fork(MapMemoryFork.class, SpaceMapMemory.OPEN, LIMIT)
            .run(directory.toString(), "3", "4", "100", "500");
    assertEquals("", said.failure());
    Map<String, Double> values = said.values();
    assertEquals(3, values.get("space_maps"));
    assertTrue(values.get("context_bytes") >= 2 * Long.BYTES, "two LSNs: " + values);
    assertTrue(values.get("frame_bytes") > values.get("context_bytes"), values.toString());
    assertTrue(values.get("claims_bytes") > 0, values.toString());
    assertTrue(values.get("space_bytes") > values.get("claims_bytes"), values.toString());
    assertTrue(values.get("space_peak_bytes") >= values.get("space_bytes"), values.toString());
    assertTrue(values.get("marks_bytes") > 0, values.toString());
  }

  @Test
  void figure_isTheContext_andWhatGrows() throws CannotMeasureException {
    assertEquals(16 + 20, SpaceMapMemory.ofOne(samples(10_000, 10_160), 10));
    assertEquals(16, SpaceMapMemory.ofOne(samples(10_000, 9_000), 10));
  }

  @Test
  void partsThatDoNotGrow_areReportedToo() throws CannotMeasureException {
    assertEquals(16 + 1_016, SpaceMapMemory.all(samples(10_000, 10_160), 10));
  }

  @Test
  void figure_withoutAPoint_isNotMeasured() {
    for (String point : samples(1, 1).keySet()) {
      Map<String, Sample> samples = samples(1, 1);
      samples.remove(point);
      if (!point.equals("context_bytes," + SpaceMapMemory.name(2))) {
        assertThrows(CannotMeasureException.class, () -> SpaceMapMemory.ofOne(samples, 10), point);
      }
    }
  }

  /** Of two maps, and of ten. */
  private static Map<String, Sample> samples(double few, double many) {
    Map<String, Sample> samples = new HashMap<>();
    for (int maps : List.of(2, 10)) {
      String name = "," + SpaceMapMemory.name(maps);
      samples.put("context_bytes" + name, Sample.of(List.of(16.0), "B"));
      samples.put("space_bytes" + name, Sample.of(List.of(maps == 2 ? few : many), "B"));
      samples.put("space_maps" + name, Sample.of(List.of((double) maps), ""));
    }
    return samples;
  }
}
