package org.revenantdb.engine.buffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How much memory this process can have, according to the system. */
final class MachineMemory {
  /** The result if the system does not report it. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private static final String TOTAL = "MemTotal:";
  private static final String MEMORY = "memory";

  private static final class Found {
    static final long TOTAL_BYTES = total(Path.of("/proc/meminfo"));
    static final long LIMIT = limit(Path.of("/sys/fs/cgroup"), Path.of("/proc/self/cgroup"));
  }

  private MachineMemory() {}

  /** The machine's memory or the limit of the control group, whichever is smaller. */
  static long bytes() {
    return Math.min(Found.TOTAL_BYTES, Found.LIMIT);
  }

  /** The limit of the control group, if it is smaller than the machine's memory. */
  static long limit() {
    return Found.LIMIT < Found.TOTAL_BYTES ? Found.LIMIT : UNKNOWN;
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
   * The smallest limit of a control group of this process, and of those above it. The system has
   * two kinds: a tree for each resource (version 1), or one tree for all.
   *
   * @param trees the folder with the trees
   * @param own the file with the groups of this process, one line a tree: {@code 4:memory:/a/b}, or
   *     {@code 0::/a/b}
   */
  static long limit(Path trees, Path own) {
    Path first = trees.resolve(MEMORY);
    long least =
        Math.min(
            controlGroupLimit(trees.resolve("memory.max")),
            controlGroupLimit(first.resolve("memory.limit_in_bytes")));
    for (String line : text(own).lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        least = Math.min(least, limitUpTo(trees, parts[2], "memory.max"));
      } else if (parts.length == 3 && List.of(parts[1].split(",", -1)).contains(MEMORY)) {
        least = Math.min(least, limitUpTo(first, parts[2], "memory.limit_in_bytes"));
      }
    }
    return least;
  }

  /** A group that the system does not show here, as in a container, has no file. */
  private static long limitUpTo(Path tree, String path, String file) {
    long least = UNKNOWN;
    Path group = tree.resolve(path.substring(Math.min(1, path.length())));
    for (; group != null && group.startsWith(tree); group = group.getParent()) {
      least = Math.min(least, controlGroupLimit(group.resolve(file)));
    }
    return least;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException | RuntimeException unreadable) {
      return "";
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
