package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file for results. It is checked before any measurement, so that a missing folder is not
 * reported only after a quarter of an hour. It is written at the end, all of it or nothing.
 */
final class Output {
  private final Path target;
  private final Path folder;
  private final String name;

  private Output(Path target, Path folder, String name) {
    this.target = target;
    this.folder = folder;
    this.name = name;
  }

  /**
   * Checks that a file can be written, by writing another one into its folder.
   *
   * @param file relative to the working directory; it may exist
   * @throws IOException with the reason as a sentence
   */
  static Output to(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Path folder = target.getParent();
    Path name = target.getFileName();
    if (folder == null || name == null || Files.isDirectory(target)) {
      throw new IOException(file + " is a folder, not a file to write");
    }
    if (!Files.isDirectory(folder)) {
      throw new IOException("there is no folder " + folder + " to write " + name + " into");
    }
    Output output = new Output(target, folder, name.toString());
    try {
      Files.delete(output.unfinished());
    } catch (IOException e) {
      throw new IOException("nothing can be written into " + folder + ": " + e.getMessage(), e);
    }
    return output;
  }

  /**
   * Checks that a file can be written into a folder, which is made if there is none.
   *
   * @throws IOException with the reason as a sentence
   */
  static Output in(Path folder, String name) throws IOException {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new IOException("there is no folder " + folder + " and none can be made", e);
    }
    return to(folder.resolve(name));
  }

  /** Writes to a temporary file and renames it, so that no reader sees half a file. */
  void write(String text) throws IOException {
    Path unfinished = unfinished();
    try {
      Files.writeString(unfinished, text);
      Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private Path unfinished() throws IOException {
    // Not createTempFile: other users could not read the result.
    String unique = name + "." + ProcessHandle.current().pid() + ".unfinished";
    return Files.createFile(folder.resolve(unique));
  }

  @Override
  public String toString() {
    return target.toString();
  }
}
