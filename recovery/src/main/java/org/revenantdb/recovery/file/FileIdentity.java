package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes a file or directory from any other one that later gets its name: by device and
 * number if the file system has them, else by the time of its creation.
 *
 * @param key equal for equal files
 * @param size in bytes, of no meaning for a directory
 */
record FileIdentity(Object key, long size) {
  /** The identity of the file that has this name now. */
  static FileIdentity of(Path path) throws IOException {
    return of(Files.readAttributes(path, BasicFileAttributes.class));
  }

  static FileIdentity of(BasicFileAttributes attributes) {
    @Nullable Object key = attributes.fileKey();
    return new FileIdentity(
        key != null ? key : attributes.isDirectory() + " " + attributes.creationTime(),
        attributes.size());
  }

  boolean isSameFile(FileIdentity other) {
    return key.equals(other.key);
  }
}
