package org.revenantdb.engine.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Copies the directory of a database that may be open. Meanwhile the engine renames and deletes
 * segments of the log that it no longer needs, and replaces its counters. So a copy counts only if
 * the directory had the same files before it and after it; otherwise it is made again.
 *
 * <p>The log comes last. So it may have more than the other files know of, as after a crash, but
 * never less.
 */
public final class LiveCopy {
  private LiveCopy() {}

  /** Copies all files; what the target had before is deleted. */
  public static void copy(Path from, Path to) throws IOException {
    copy(from, to, _ -> true);
  }

  /** Copies the files whose names are wanted; what the target had before is deleted. */
  public static void copy(Path from, Path to, Predicate<String> wanted) throws IOException {
    List<Path> files;
    do {
      files = list(from);
    } while (!tryCopy(from, to, files, wanted) || !files.equals(list(from)));
  }

  private static boolean tryCopy(Path from, Path to, List<Path> files, Predicate<String> wanted)
      throws IOException {
    delete(to);
    for (Path file : files) {
      Path target = to.resolve(from.relativize(file).toString());
      if (Files.isDirectory(file)) {
        Files.createDirectories(target);
      } else if (wanted.test(String.valueOf(file.getFileName()))) {
        try {
          Files.copy(file, target);
        } catch (NoSuchFileException gone) {
          return false;
        }
      }
    }
    return true;
  }

  /** Directories before what is in them, and files before those in deeper directories. */
  private static List<Path> list(Path from) throws IOException {
    while (true) {
      try (Stream<Path> files = Files.walk(from)) {
        return files
            .sorted(
                Comparator.<Path>comparingInt(Path::getNameCount)
                    .thenComparing(Comparator.naturalOrder()))
            .toList();
      } catch (UncheckedIOException gone) {
        if (!(gone.getCause() instanceof NoSuchFileException)) {
          throw gone.getCause();
        }
      }
    }
  }

  private static void delete(Path target) throws IOException {
    if (Files.notExists(target)) {
      return;
    }
    try (Stream<Path> files = Files.walk(target)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
