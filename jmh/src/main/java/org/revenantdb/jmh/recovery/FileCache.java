package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The cache of the system for files. Java cannot drop a file from it, but {@code dd} can, without
 * the rights of an administrator, where it knows {@code nocache} (GNU, on Linux).
 */
public final class FileCache {
  private static final Path IO = Path.of("/proc/self/io");
  private static final String FETCHED = "read_bytes:";

  private FileCache() {}

  /**
   * Drops forced files from the cache. The system may ignore the advice; {@link #fetchedBytes} of
   * the reading process shows whether it did.
   *
   * @param files that no process has mapped
   * @return false if there is no {@code dd} that can do it
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public static boolean drop(List<Path> files) throws InterruptedException {
    for (Path file : files) {
      ProcessBuilder dd =
          new ProcessBuilder(
                  "dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD);
      try {
        if (dd.start().waitFor() != 0) {
          return false;
        }
      } catch (IOException notThere) {
        return false;
      }
    }
    return true;
  }

  /**
   * Bytes that the system has fetched from a device for this process; -1 if the system does not
   * report it.
   *
   * @return their number
   */
  public static long fetchedBytes() {
    try {
      for (String line : Files.readAllLines(IO, StandardCharsets.US_ASCII)) {
        if (line.startsWith(FETCHED)) {
          return Long.parseLong(line.substring(FETCHED.length()).strip());
        }
      }
    } catch (IOException notLinux) {
      return -1;
    }
    return -1;
  }
}
