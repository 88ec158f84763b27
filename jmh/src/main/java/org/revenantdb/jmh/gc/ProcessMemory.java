package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system says of the memory of this process. */
final class ProcessMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String OWN = "RssAnon:";

  private ProcessMemory() {}

  /** Bytes in memory that are of no file; 0 where the system does not say. */
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
