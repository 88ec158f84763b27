package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of a store that is not open. */
public final class StoreFiles {
  private StoreFiles() {}

  /**
   * How long they are together.
   *
   * @param directory of the store
   * @return the sum, in bytes
   * @throws IOException if a file cannot be read
   */
  public static double bytes(Path directory) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(directory)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file);
    }
    return bytes;
  }
}
