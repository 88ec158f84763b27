package org.revenantdb.engine.buffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much memory this process can have, according to the system. It is read once: a limit that
 * changes later is not noticed.
 *
 * @param total of the machine
 * @param limit of the control groups: the system kills a process to enforce it
 * @param high of the control groups: above it the system takes memory back and slows the process
 *     down
 */
record MachineMemory(long total, long limit, long high) {
  /** The result if the system does not report it. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private static final String TOTAL = "MemTotal:";
  private static final String MEMORY = "memory";
  private static final String LIMIT = "memory.max";
  private static final String HIGH = "memory.high";
  private static final String LIMIT_OF_VERSION_1 = "memory.limit_in_bytes";

  /** Null until it is known. Threads that ask at the same time find the same. */
  private static volatile @Nullable MachineMemory found;

  private static MachineMemory found() {
    MachineMemory known = found;
    if (known == null) {
      known =
          find(Path.of("/proc/meminfo"), Path.of("/sys/fs/cgroup"), Path.of("/proc/self/cgroup"));
      found = known;
    }
    return known;
  }

  /**
   * Reads the files of the system.
   *
   * @param info the file with the memory of the machine
   * @param trees the folder with the trees of control groups
   * @param own the file with the groups of this process, one line a tree: {@code 4:memory:/a/b}, or
   *     {@code 0::/a/b}
   */
  static MachineMemory find(Path info, Path trees, Path own) {
    return new MachineMemory(
        total(info),
        Math.min(
            least(trees, own, LIMIT, /* isVersion1= */ false),
            least(trees.resolve(MEMORY), own, LIMIT_OF_VERSION_1, /* isVersion1= */ true)),
        least(trees, own, HIGH, /* isVersion1= */ false));
  }

  /** The machine's memory or the limit of the control group, whichever is smaller. */
  static long bytes() {
    return Math.min(found().total, found().limit);
  }

  /** As {@link #bytes}, and without what the system would take back again. */
  static long usable() {
    return found().usableBytes();
  }

  /** What control groups leave to this process, if it is not more than the machine has. */
  static long share() {
    return found().shareBytes();
  }

  long usableBytes() {
    return Math.min(total, Math.min(limit, high));
  }

  long shareBytes() {
    long share = Math.min(limit, high);
    return share <= total ? share : UNKNOWN;
  }

  /** Parses the line {@code MemTotal: 24689764 kB}. */
  static long total(Path memoryInfo) {
    try {
      String text = Files.readString(memoryInfo);
      int name = text.indexOf(TOTAL);
      int unit = text.indexOf(" kB", name);
      return name < 0
          ? UNKNOWN
          : Long.parseLong(text.substring(name + TOTAL.length(), unit).strip()) * 1024;
    } catch (IOException | RuntimeException unreadable) {
      return UNKNOWN;
    }
  }

  /**
   * The smallest value of a file in the control group of this process and in those above it. The
   * system has two kinds of groups: a tree for each resource (version 1), or one tree for all.
   */
  private static long least(Path tree, Path own, String file, boolean isVersion1) {
    long least = controlGroupLimit(tree.resolve(file));
    for (String line : lines(own)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3
          && (isVersion1
              ? List.of(parts[1].split(",", -1)).contains(MEMORY)
              : parts[1].isEmpty())) {
        least = Math.min(least, upTo(tree, parts[2], file));
      }
    }
    return least;
  }

  /** A group that the system does not show here, as in a container, has no file. */
  private static long upTo(Path tree, String group, String file) {
    long least = UNKNOWN;
    try {
      Path at = tree.resolve(group.substring(Math.min(1, group.length())));
      for (; at != null && at.startsWith(tree); at = at.getParent()) {
        least = Math.min(least, controlGroupLimit(at.resolve(file)));
      }
    } catch (RuntimeException noPath) {
      // a name that is no path in the character set of this process
    }
    return least;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException | RuntimeException unreadable) {
      return List.of();
    }
  }

  /** Reads a file with a number of bytes or the word {@code max}. */
  static long controlGroupLimit(Path limit) {
    try {
      String text = Files.readString(limit).strip();
      return text.equals("max") ? UNKNOWN : Long.parseLong(text);
    } catch (IOException | RuntimeException unreadable) {
      return UNKNOWN;
    }
  }
}
