package org.revenantdb.jmh.backup;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** The files of a copy. */
public final class CopiedFiles {
  private CopiedFiles() {}

  private static List<Path> all(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.toList();
    }
  }

  /**
   * Forces all files and directories, as a copy has to be that is to survive a power cut.
   *
   * @param directory the copy
   * @throws IOException if one cannot be forced
   */
  public static void force(Path directory) throws IOException {
    for (Path file : all(directory)) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }
}
