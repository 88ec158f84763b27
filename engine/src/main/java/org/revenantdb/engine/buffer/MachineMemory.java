package org.revenantdb.engine.buffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How much memory this process can have, according to the system. */
final class MachineMemory {
  /** The result if the system does not report it. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private static final String TOTAL = "MemTotal:";

  private static final class Found {
    static final long BYTES =
        Math.min(
            total(Path.of("/proc/meminfo")),
            controlGroupLimit(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup")));
  }

  private MachineMemory() {}

  /** The machine's memory or the limit of the control group, whichever is smaller. */
  static long bytes() {
    return Found.BYTES;
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
   * The smallest limit of the control groups of a process.
   *
   * @param groups the file with lines as {@code 0::/user.slice/shell} of version 2 and {@code
   *     5:memory:/docker/1f} of version 1
   * @param mounted where the control groups are. A container may see its own as the first one, so
   *     groups that are not there are left out
   */
  static long controlGroupLimit(Path groups, Path mounted) {
    long least = UNKNOWN;
    try {
      for (String line : Files.readAllLines(groups)) {
        String[] fields = line.split(":", 3);
        if (fields.length == 3 && fields[1].isEmpty()) {
          least = Math.min(least, least(mounted, fields[2], "memory.max"));
        } else if (fields.length == 3 && List.of(fields[1].split(",")).contains("memory")) {
          Path memory = mounted.resolve("memory");
          least = Math.min(least, least(memory, fields[2], "memory.limit_in_bytes"));
        }
      }
    } catch (IOException | RuntimeException unreadable) {
      return least;
    }
    return least;
  }

  /** The smallest limit of a group and of those that contain it. */
  private static long least(Path mounted, String group, String file) {
    long least = limit(mounted.resolve(file));
    @Nullable Path path = mounted.resolve(group.substring(1)).normalize();
    while (path != null && path.startsWith(mounted) && !path.equals(mounted)) {
      least = Math.min(least, limit(path.resolve(file)));
      path = path.getParent();
    }
    return least;
  }

  /** Reads a file with a number of bytes or the word {@code max}. */
  static long limit(Path file) {
    try {
      String text = Files.readString(file).strip();
      return text.equals("max") ? UNKNOWN : Long.parseLong(text);
    } catch (IOException | RuntimeException unreadable) {
      return UNKNOWN;
    }
  }
}
