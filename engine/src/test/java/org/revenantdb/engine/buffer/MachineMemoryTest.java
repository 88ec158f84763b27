package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineMemoryTest {
  private static final long MIB = 1L << 20;

  @TempDir Path directory;

  @Test
  void theMemoryOfTheMachineIsRead() throws IOException {
    Path info = write("meminfo", "MemTotal:       24689764 kB\nMemFree:         1689764 kB\n");
    assertEquals(24_689_764L * 1024, MachineMemory.total(info));
    assertEquals(MachineMemory.UNKNOWN, MachineMemory.total(directory.resolve("nothing")));
    assertEquals(MachineMemory.UNKNOWN, MachineMemory.total(write("meminfo", "MemTotal: much kB")));
    assertEquals(MachineMemory.UNKNOWN, MachineMemory.total(write("meminfo", "nothing of that")));
  }

  @Test
  void theLimitOfTheGroupAndOfEachAboveItCounts() throws IOException {
    write("groups/memory.max", "max\n");
    write("groups/a/memory.max", "1048576\n");
    write("groups/a/b/memory.max", "2097152\n");
    assertEquals(MIB, limit("0::/a/b\n"));
    assertEquals(MIB, limit("0::/a\n"));
    assertEquals(MachineMemory.UNKNOWN, limit("0::/\n"));
    write("groups/a/b/memory.max", "524288\n");
    assertEquals(MIB / 2, limit("3:cpu,cpuacct:/x\n0::/a/b\n"));
  }

  @Test
  void aContainerThatSeesOnlyItsOwnGroupFindsItsLimit() throws IOException {
    write("groups/memory.max", "4194304");
    assertEquals(4 * MIB, limit("0::/\n"));
    assertEquals(4 * MIB, limit("0::/docker/1f\n"));
    assertEquals(4 * MIB, limit("0::/../other\n"));
  }

  @Test
  void theFirstVersionHasAHierarchyForMemory() throws IOException {
    write("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("groups/memory/a/memory.limit_in_bytes", "3145728\n");
    write("groups/memory.max", "1"); // of another hierarchy
    assertEquals(3 * MIB, limit("7:pids:/a\n5:memory:/a\n1:name=systemd:/b\n"));
    assertEquals(3 * MIB, limit("5:cpu,memory:/a/c\n"));
    assertEquals(9_223_372_036_854_771_712L, limit("5:memory:/\n"));
  }

  @Test
  void filesThatCannotBeReadAreNoLimit() throws IOException {
    write("groups/memory.max", "a lot");
    assertEquals(MachineMemory.UNKNOWN, limit("0::/a\n"));
    assertEquals(MachineMemory.UNKNOWN, limit("0:\n\nnothing\n:::\n"));
    assertEquals(
        MachineMemory.UNKNOWN,
        MachineMemory.controlGroupLimit(directory.resolve("none"), directory.resolve("groups")));
  }

  @Test
  void thePoolHasAnEighthOfTheMemoryByDefault() {
    assertEquals(64 * MIB, BufferPoolOptions.defaultBytes(100 * MIB));
    assertEquals(128 * MIB, BufferPoolOptions.defaultBytes(1024 * MIB));
    assertEquals(1024 * MIB, BufferPoolOptions.defaultBytes(64L * 1024 * MIB));
    assertEquals(128 * MIB, BufferPoolOptions.defaultBytes(MachineMemory.UNKNOWN));
    assertTrue(MachineMemory.bytes() > 0);
  }

  private long limit(String groups) throws IOException {
    return MachineMemory.controlGroupLimit(write("cgroup", groups), directory.resolve("groups"));
  }

  private Path write(String name, String content) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }
}
