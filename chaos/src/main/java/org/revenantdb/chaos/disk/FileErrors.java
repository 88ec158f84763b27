package org.revenantdb.chaos.disk;

import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The messages of Linux for errors without an exception class of their own in {@code
 * java.nio.file}.
 */
final class FileErrors {

  private FileErrors() {}

  static FileSystemException notADirectory(Path path, @Nullable Path other) {
    return error(path, other, "Not a directory");
  }

  static FileSystemException isADirectory(Path path, @Nullable Path other) {
    return error(path, other, "Is a directory");
  }

  static FileSystemException notEmpty(Path path, @Nullable Path other) {
    return error(path, other, "Directory not empty");
  }

  static FileSystemException invalid(Path path, @Nullable Path other) {
    return error(path, other, "Invalid argument");
  }

  static FileSystemException busy(Path path, @Nullable Path other) {
    return error(path, other, "Device or resource busy");
  }

  static FileSystemException notPermitted(Path path, @Nullable Path other) {
    return error(path, other, "Operation not permitted");
  }

  private static FileSystemException error(Path path, @Nullable Path other, String reason) {
    return new FileSystemException(
        path.toString(), other == null ? null : other.toString(), reason);
  }
}
