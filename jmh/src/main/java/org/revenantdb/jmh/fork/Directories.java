package org.revenantdb.jmh.fork;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directories that a measurement has filled. */
public final class Directories {
  private Directories() {}

  /**
   * Deletes a directory with all that is in it.
   *
   * @param directory that nobody uses any more
   * @throws IOException if something cannot be deleted; the rest may be gone
   */
  public static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
