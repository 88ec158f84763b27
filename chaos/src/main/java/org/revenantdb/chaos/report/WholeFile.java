package org.revenantdb.chaos.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that is written in one step: a reader sees the old one or the new one. */
final class WholeFile {

  private WholeFile() {}

  /**
   * Writes a file.
   *
   * @param file the file; its folder is created if needed
   * @param text the content; a surrogate without its partner becomes a question mark
   * @throws IOException if writing fails
   */
  static void write(Path file, String text) throws IOException {
    Path target = file.toAbsolutePath().normalize();
    Path folder = target.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Path beside = target.resolveSibling(target.getFileName() + ".tmp");
    try {
      Files.write(beside, text.getBytes(StandardCharsets.UTF_8));
      try {
        Files.move(
            beside, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(beside, target, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      Files.deleteIfExists(beside); // exists only after a failure
    }
  }
}
