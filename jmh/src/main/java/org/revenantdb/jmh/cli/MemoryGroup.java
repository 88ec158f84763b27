package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A control group that limits the memory of a JVM as a whole: heap, memory off the heap, and its
 * pages in the cache of the system.
 *
 * <p>It is made below the group of this process, so limits of that one stay in force. Linux has two
 * kinds. Version 1 has one tree for each resource. Version 2 has one tree for all, and a group that
 * contains processes passes no limit on. Both need the rights of an administrator, or a group that
 * was handed over to this user.
 */
final class MemoryGroup implements AutoCloseable {
  private static final String MEMORY = "memory";

  /** Where the system shows the trees of its control groups. */
  private static final Path TREES = Path.of("/sys/fs/cgroup");

  /** The groups of this process, one line for each tree. */
  private static final Path OWN = Path.of("/proc/self/cgroup");

  private static final String NEEDED =
      "; this needs Linux, and the right to make a memory control group: root, or a group that was"
          + " handed over to this user (systemd-run --user --scope -p Delegate=yes)";

  private final Path folder;

  private MemoryGroup(Path folder) {
    this.folder = folder;
  }

  /**
   * Makes one.
   *
   * @param name no other one has it
   * @param bytes the limit
   * @throws CannotMeasureException if this process may not
   */
  static MemoryGroup make(String name, long bytes) throws CannotMeasureException {
    try {
      return make(TREES, Files.readString(OWN), name, bytes);
    } catch (IOException | RuntimeException e) {
      throw new CannotMeasureException("no limit of memory could be set: " + e + NEEDED, e);
    }
  }

  /**
   * Makes one in given trees.
   *
   * @param trees where they are
   * @param own the groups of this process
   */
  static MemoryGroup make(Path trees, String own, String name, long bytes) throws IOException {
    boolean isFirst = Files.isDirectory(trees.resolve(MEMORY));
    Path above = above(isFirst ? trees.resolve(MEMORY) : trees, path(own, isFirst));
    if (!isFirst && !Files.readString(above.resolve("cgroup.subtree_control")).contains(MEMORY)) {
      write(above.resolve("cgroup.subtree_control"), "+" + MEMORY);
    }
    MemoryGroup group = new MemoryGroup(Files.createDirectory(above.resolve(name)));
    try {
      write(
          group.folder.resolve(isFirst ? "memory.limit_in_bytes" : "memory.max"),
          Long.toString(bytes));
      return group;
    } catch (IOException e) {
      group.close();
      throw e;
    }
  }

  /** The group of this process, or the top where the system shows only that. */
  private static Path above(Path tree, @Nullable String path) {
    Path group = path == null ? tree : tree.resolve(path.substring(1));
    return Files.isDirectory(group) ? group : tree;
  }

  /** The path in the line {@code 4:memory:/a/b}, or {@code 0::/a/b}; null if there is none. */
  private static @Nullable String path(String own, boolean isFirst) {
    for (String line : own.lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3
          && parts[2].startsWith("/")
          && (isFirst ? List.of(parts[1].split(",", -1)).contains(MEMORY) : parts[1].isEmpty())) {
        return parts[2];
      }
    }
    return null;
  }

  private static void write(Path file, String text) throws IOException {
    Files.write(file, text.getBytes(StandardCharsets.US_ASCII));
  }

  /** What stands before a command so that it runs in the group from its first page on. */
  List<String> prefix() {
    return List.of(
        "sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", folder.resolve("cgroup.procs").toString());
  }

  /** Removes it. Its processes must have ended. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      System.err.println("the control group " + folder + " stays: " + e.getMessage());
    }
  }
}
