package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * The paths in options, checked before a run: a path that cannot be written is refused with the
 * option, the path and a hint.
 *
 * <p>Creates missing directories, including their parents.
 */
final class NamedPaths {

  private final CommandLine command;

  NamedPaths(CommandLine command) {
    this.command = command;
  }

  /** Where files will be made. */
  void directory(String option, Path path) {
    notEmpty(option, path, "directory");
    demandDirectory(option, path);
  }

  /** A file that will be written, or replaced by a rename. */
  void file(String option, Path path) {
    notEmpty(option, path, "file");
    if (Files.isDirectory(path)) {
      Path example = path.resolve("chaos.json");
      throw refused(option, path + " is a directory; choose a file, for instance " + example);
    }
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw refused(option, path + " is not a regular file; choose a regular file or a new one");
    }
    demandDirectory(option, parent(path));
  }

  /** A directory that is used only if there is something to write. */
  void directoryIfThere(String option, Path path) {
    if (Files.exists(path)) {
      demandDirectory(option, path);
    }
  }

  private void notEmpty(String option, Path path, String what) {
    if (path.toString().isEmpty()) {
      throw refused(option, "the name of a " + what + " is missing; give one");
    }
  }

  private void demandDirectory(String option, Path path) {
    for (@Nullable Path each = path.toAbsolutePath(); each != null; each = each.getParent()) {
      if (Files.exists(each) && !Files.isDirectory(each)) {
        throw refused(
            option, each + " is a file, and a directory is needed there; choose another path");
      }
    }
    try {
      Files.createDirectories(path);
      // A superuser may write anywhere according to the system, so the check writes a file.
      Files.delete(Files.createTempFile(path, ".revenant", ".tmp"));
    } catch (IOException e) {
      throw refused(
          option,
          "cannot write to %s; make it writable or choose another directory (%s)"
              .formatted(path, e));
    }
  }

  private static Path parent(Path path) {
    Path parent = path.toAbsolutePath().getParent();
    return parent == null ? path : parent;
  }

  /** The refusal of the value of an option. */
  UnusablePathException refused(String option, String sentence) {
    return new UnusablePathException(command, option + ": " + sentence);
  }
}
