package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The memory of this process according to the system. */
final class ProcessMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String OWN = "RssAnon:";

  private ProcessMemory() {}

  /** Bytes in memory that belong to no file; 0 if the system does not report it. */
  static long own() throws IOException {
    if (!Files.exists(STATUS)) {
      return 0;
    }
    for (String line : Files.readAllLines(STATUS)) {
      if (line.startsWith(OWN)) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    return 0;
  }
}
