package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control groups in a folder that looks like theirs: files, which the system would interpret. */
class MemoryGroupTest {
  @TempDir private Path trees;

  @Test
  void version1_limitsAGroupBelowTheOwnOne() throws IOException {
    Path own = Files.createDirectories(trees.resolve("memory/a/b"));
    MemoryGroup group =
        MemoryGroup.make(trees, "5:cpu,cpuacct:/x\n4:memory:/a/b\n0::/c\n", "bench", 4096);
    assertEquals("4096", Files.readString(own.resolve("bench/memory.limit_in_bytes")));
    List<String> prefix = group.prefix();
    assertEquals(own.resolve("bench/cgroup.procs").toString(), prefix.get(prefix.size() - 1));
  }

  @Test
  void version2_passesTheResourceOnAndLimitsAGroupBelowTheOwnOne() throws IOException {
    Path own = Files.createDirectories(trees.resolve("a"));
    Files.writeString(own.resolve("cgroup.subtree_control"), "cpu");
    MemoryGroup.make(trees, "0::/a\n", "bench", 4096);
    assertEquals("+memory", Files.readString(own.resolve("cgroup.subtree_control")));
    assertEquals("4096", Files.readString(own.resolve("bench/memory.max")));
  }

  @Test
  void ownGroupThatIsNotShown_isTheTop() throws IOException {
    Files.createDirectories(trees.resolve("memory"));
    MemoryGroup.make(trees, "4:memory:/of/the/host\n", "bench", 4096);
    assertTrue(Files.isDirectory(trees.resolve("memory/bench")));
  }

  @Test
  void missingTree_isRefused() {
    assertThrows(IOException.class, () -> MemoryGroup.make(trees, "", "bench", 4096));
  }

  @Test
  void group_isRemovedInTheEnd() throws IOException {
    Path group = trees.resolve("memory/bench");
    Files.createDirectories(trees.resolve("memory"));
    MemoryGroup made = MemoryGroup.make(trees, "", "bench", 4096);
    Files.delete(group.resolve("memory.limit_in_bytes")); // the system removes its own files
    made.close();
    assertFalse(Files.exists(group));
  }
}
