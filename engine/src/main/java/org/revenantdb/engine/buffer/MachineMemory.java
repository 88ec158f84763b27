package org.revenantdb.engine.buffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory this process can have, according to the system. */
final class MachineMemory {
  /** The result if the system does not report it. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private static final String TOTAL = "MemTotal:";

  private static final class Found {
    static final long BYTES =
        Math.min(
            total(Path.of("/proc/meminfo")),
            controlGroupLimit(Path.of("/sys/fs/cgroup/memory.max")));
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
