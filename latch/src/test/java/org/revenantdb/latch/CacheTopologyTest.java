package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheTopologyTest {
  @TempDir private Path root;

  @Test
  void twoSockets_areTwoNodes() throws IOException {
    // Numbers as Linux gives them: first threads of the cores, socket by socket, then their twins.
    for (int i = 0; i < 8; i++) {
      processor(i, i % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
    }
    noise();
    CacheTopology topology = CacheTopology.parse(root);
    assertEquals(2, topology.nodes());
    int[] expected = {0, 0, 1, 1, 0, 0, 1, 1};
    for (int i = 0; i < 8; i++) {
      assertEquals(expected[i], topology.nodeOf(i), "processor " + i);
    }
    assertEquals(-1, topology.nodeOf(8), "no such processor");
    assertEquals(-1, topology.nodeOf(-1), "unknown");
    assertEquals(-1, topology.nodeOf(Integer.MAX_VALUE), "no such processor");
    assertEquals("CacheTopology[0: 0 1 4 5, 1: 2 3 6 7]", topology.toString());
  }

  @Test
  void sixteenComplexes_areSixteenNodesNumberedByTheirLowestProcessor() throws IOException {
    for (int i = 0; i < 128; i++) {
      int first = i % 64 / 4 * 4;
      processor(i, "%d-%d,%d-%d".formatted(first, first + 3, first + 64, first + 67));
    }
    CacheTopology topology = CacheTopology.parse(root);
    assertEquals(16, topology.nodes());
    for (int i = 0; i < 128; i++) {
      assertEquals(i % 64 / 4, topology.nodeOf(i), "processor " + i);
    }
  }

  @Test
  void hybrid_withOneCacheForAllIsFlat() throws IOException {
    for (int i = 0; i < 12; i++) {
      processor(i, "0-11");
    }
    assertFlat();
  }

  @Test
  void hybrid_withCoresOutsideOfTheCacheIsFlat() throws IOException {
    twoNodes();
    cache(4, 0, "1", "4");
    cache(4, 2, "2", "4-5");
    assertFlat();
  }

  @Test
  void level_isReadAndNotTakenFromTheIndex() throws IOException {
    for (int i = 0; i < 4; i++) {
      cache(i, 3, "2", "0-3");
      cache(i, 2, "3", i < 2 ? "0-1" : "2-3");
      cache(i, 4, "4", "0-3");
    }
    assertEquals(2, CacheTopology.parse(root).nodes());
  }

  @Test
  void holesInTheNumbers_areNoProcessors() throws IOException {
    processor(0, "0");
    processor(9, "9");
    CacheTopology topology = CacheTopology.parse(root);
    assertEquals(2, topology.nodes());
    assertEquals(-1, topology.nodeOf(5));
    assertEquals(1, topology.nodeOf(9));
  }

  @Test
  void offlineProcessor_makesItFlat() throws IOException {
    twoNodes();
    Files.createDirectories(root.resolve("cpu4"));
    Files.writeString(root.resolve("cpu4/online"), "0\n");
    assertFlat();
  }

  @Test
  void listsThatOverlap_makeItFlat() throws IOException {
    processor(0, "0-1");
    processor(1, "0-2");
    processor(2, "2");
    assertFlat();
  }

  @Test
  void listWithoutItsOwner_makesItFlat() throws IOException {
    twoNodes();
    processor(4, "0-1");
    assertFlat();
  }

  @Test
  void listWithAProcessorThatIsNotThere_makesItFlat() throws IOException {
    twoNodes();
    processor(4, "4-5");
    assertFlat();
  }

  @Test
  void twoCachesOfLevelThree_makeItFlat() throws IOException {
    twoNodes();
    cache(0, 4, "3", "0-1");
    assertFlat();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",",
        "0,",
        "-",
        "0-",
        "-1",
        "1-0",
        "0,0",
        "0-1,1-3",
        "0x1",
        "zero",
        "0 1",
        "0\n1",
        "0-99999999999999999999",
        "99999999999",
        "0-65536",
        "2147483648",
        "0-999999999",
        "\u0000",
        "0--1",
        "0-1-2",
        "٠-١"
      })
  void garbageInAList_makesItFlat(String list) throws IOException {
    twoNodes();
    processor(0, list);
    assertFlat();
    assertThrows(IOException.class, () -> CacheTopology.parseList(list));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "three", "33", "-3", "3 3"})
  void garbageInALevel_makesItFlat(String level) throws IOException {
    twoNodes();
    cache(0, 3, level, "0-1");
    assertFlat();
  }

  @Test
  void hugeNumberOfAProcessor_makesItFlat() throws IOException {
    twoNodes();
    cache(99_999_999, 3, "3", "99999999");
    assertFlat();
  }

  @Test
  void hugeFile_makesItFlat() throws IOException {
    twoNodes();
    processor(0, "0-1" + " ".repeat(1 << 20));
    assertFlat();
  }

  @Test
  void directoryInPlaceOfAFile_makesItFlat() throws IOException {
    twoNodes();
    Path list = root.resolve("cpu0/cache/index3/shared_cpu_list");
    Files.delete(list);
    Files.createDirectory(list);
    assertFlat();
  }

  @Test
  void nothingThere_isFlat() throws IOException {
    assertFlat();
    assertSame(CacheTopology.FLAT, CacheTopology.parse(root.resolve("missing")));
    Path file = Files.writeString(root.resolve("file"), "no directory");
    assertSame(CacheTopology.FLAT, CacheTopology.parse(file));
  }

  @Test
  void failureThatIsNoIoException_isFlat() throws IOException {
    FileSystem closed =
        FileSystems.newFileSystem(root.resolve("closed.zip"), Map.of("create", "true"));
    Path inside = closed.getPath("/");
    closed.close();
    assertSame(CacheTopology.FLAT, CacheTopology.parse(inside));
  }

  @Test
  void flat_hasOneNodeForEveryProcessor() {
    assertEquals(1, CacheTopology.FLAT.nodes());
    assertEquals(0, CacheTopology.FLAT.nodeOf(0));
    assertEquals(0, CacheTopology.FLAT.nodeOf(100_000));
    assertEquals(-1, CacheTopology.FLAT.nodeOf(-1));
  }

  @Test
  void randomBytes_neverThrow() throws IOException {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    Random random = new Random(seed);
    String alphabet = "0123456789-,, \n\tx";
    for (int round = 0; round < 60; round++) {
      StringBuilder list = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        list.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      twoNodes();
      processor(random.nextInt(4), list.toString());
      CacheTopology topology =
          assertDoesNotThrow(() -> CacheTopology.parse(root), () -> "seed " + seed + ": " + list);
      assertTrue(topology.nodes() >= 1 && topology.nodes() <= 4, () -> "seed " + seed);
    }
  }

  @Test
  void thisMachine_hasANodeForTheCurrentProcessor() {
    CacheTopology topology = CacheTopology.detect();
    assertSame(topology, CacheTopology.detect(), "read once");
    int node = topology.nodeOf(CurrentProcessor.get());
    assertTrue(node >= -1 && node < topology.nodes(), () -> topology + ", node " + node);
  }

  private void assertFlat() {
    assertSame(CacheTopology.FLAT, CacheTopology.parse(root));
  }

  private void twoNodes() throws IOException {
    for (int i = 0; i < 4; i++) {
      processor(i, i < 2 ? "0-1" : "2-3");
    }
    assertEquals(2, CacheTopology.parse(root).nodes(), "before it is damaged");
  }

  private void processor(int number, String shared) throws IOException {
    cache(number, 0, "1", String.valueOf(number));
    cache(number, 1, "1", String.valueOf(number));
    cache(number, 2, "2", String.valueOf(number));
    cache(number, 3, "3", shared);
  }

  private void cache(int processor, int index, String level, String shared) throws IOException {
    Path directory = root.resolve("cpu" + processor + "/cache/index" + index);
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("level"), level + "\n");
    Files.writeString(directory.resolve("shared_cpu_list"), shared + "\n");
  }

  /** What else lies in such a directory. */
  private void noise() throws IOException {
    Files.createDirectories(root.resolve("cpufreq"));
    Files.createDirectories(root.resolve("cpu0x"));
    Files.createDirectories(root.resolve("cpuidle"));
    Files.writeString(root.resolve("possible"), "0-127\n");
    Files.writeString(root.resolve("cpu0/cache/uevent"), "");
  }
}
