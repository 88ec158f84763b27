package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files as the system shows them. */
class MachineMemoryTest {
  private static final long TOTAL = 1L << 30;

  @TempDir private Path folder;

  private MachineMemory find(String own) throws IOException {
    Path info = folder.resolve("meminfo");
    Files.writeString(info, "MemTotal:        1048576 kB\nMemFree: 12 kB\n");
    Path groups = Files.writeString(folder.resolve("own"), own);
    return MachineMemory.find(info, folder.resolve("trees"), groups);
  }

  private long limit(String own) throws IOException {
    return find(own).limit();
  }

  private void set(String file, String text) throws IOException {
    Path path = folder.resolve("trees").resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void the_limit_of_a_nested_group_of_version_2_is_found() throws IOException {
    set("memory.max", "max\n");
    set("a/memory.max", "max\n");
    set("a/b/memory.max", "4096\n");
    assertEquals(4096, limit("0::/a/b\n"));
    assertEquals(MachineMemory.UNKNOWN, limit("0::/a\n"));
  }

  @Test
  void the_smallest_limit_above_a_group_of_version_1_counts() throws IOException {
    set("memory/memory.limit_in_bytes", "9223372036854771712\n");
    set("memory/a/memory.limit_in_bytes", "8192\n");
    set("memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    assertEquals(8192, limit("5:cpu,cpuacct:/x\n4:hugetlb,memory:/a/b\n"));
  }

  @Test
  void in_a_container_that_shows_only_its_own_group_the_top_counts() throws IOException {
    set("memory/memory.limit_in_bytes", "4096\n");
    assertEquals(4096, limit("4:memory:/docker/0123\n"));
    set("memory.max", "2048\n");
    assertEquals(2048, limit("0::/\n"));
  }

  @Test
  void nothing_readable_is_no_limit() throws IOException {
    assertEquals(MachineMemory.UNKNOWN, limit(""));
    assertEquals(MachineMemory.UNKNOWN, limit("4:memory\n0:::/../x\nnonsense\n"));
    set("memory.max", "no number\n");
    assertEquals(MachineMemory.UNKNOWN, limit("0::/\n"));
    Path nothing = folder.resolve("nothing");
    assertEquals(
        new MachineMemory(MachineMemory.UNKNOWN, MachineMemory.UNKNOWN, MachineMemory.UNKNOWN),
        MachineMemory.find(nothing, nothing, nothing));
  }

  @Test
  void a_group_whose_name_is_no_path_here_is_passed_over() throws IOException {
    set("memory.max", "4096\n");
    assertEquals(4096, limit("0::/a\0b\n"));
  }

  @Test
  void the_mark_above_which_the_system_slows_a_group_down_is_no_limit_but_counts()
      throws IOException {
    set("a/memory.max", "8192\n");
    set("a/memory.high", "4096\n");
    MachineMemory found = find("0::/a\n");
    assertEquals(8192, found.limit());
    assertEquals(4096, found.usableBytes());
    assertEquals(4096, found.shareBytes());
  }

  @Test
  void a_limit_counts_as_a_share_unless_the_machine_has_less() throws IOException {
    assertEquals(MachineMemory.UNKNOWN, find("0::/\n").shareBytes());
    set("memory.max", Long.toString(TOTAL + 1));
    assertEquals(MachineMemory.UNKNOWN, find("0::/\n").shareBytes());
    assertEquals(TOTAL, find("0::/\n").usableBytes());
    set("memory.max", Long.toString(TOTAL)); // where /proc shows the limit as the machine
    assertEquals(TOTAL, find("0::/\n").shareBytes());
  }
}
