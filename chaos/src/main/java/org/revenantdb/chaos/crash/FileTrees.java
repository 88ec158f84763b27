package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Copies and deletes directories with everything in them. */
public final class FileTrees {

  private FileTrees() {}

  /**
   * Copies a directory and replaces the target. If the directory does not exist, only the target is
   * deleted.
   *
   * @param from the directory
   * @param to where
   */
  public static void copy(Path from, Path to) {
    delete(to);
    if (!Files.exists(from)) {
      return;
    }
    visit(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes)
              throws IOException {
            Files.createDirectories(to.resolve(from.relativize(dir)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(file, to.resolve(from.relativize(file)));
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Deletes a file or a directory. It need not exist.
   *
   * @param path the file or directory
   */
  public static void delete(Path path) {
    if (!Files.exists(path)) {
      return;
    }
    visit(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.delete(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static void visit(Path root, SimpleFileVisitor<Path> visitor) {
    try {
      Files.walkFileTree(root, visitor);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot copy or delete " + root, e);
    }
  }
}
