package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what has a name: a file, a directory, or something else. It does so without opening it,
 * because opening a pipe blocks until a process opens its other end.
 *
 * <p>A file of the database must not be a symbolic link, and must not be the same file as another
 * one. Else a write to one of them, for example the text of the lock, would also change the other.
 * A directory may be reached by a symbolic link.
 *
 * <p>Failure: {@link DamagedFileException} for something of the wrong kind.
 */
public final class FileKinds {
  private FileKinds() {}

  /**
   * Checks that nothing but a file is there.
   *
   * @param path where a file of a database belongs
   * @return true if it is there, false if nothing is
   * @throws DamagedFileException if something else is there
   */
  public static boolean isFile(Path path) {
    return size(path) >= 0;
  }

  /**
   * Checks that nothing but a file is there.
   *
   * @param path where a file of a database belongs
   * @return its size in bytes, -1 if nothing is there
   * @throws DamagedFileException if something else is there
   */
  public static long size(Path path) {
    @Nullable BasicFileAttributes found = attributes(path, LinkOption.NOFOLLOW_LINKS);
    if (found == null) {
      return -1;
    }
    if (!found.isRegularFile()) {
      throw wrongKind(path, found, "a file");
    }
    return found.size();
  }

  /**
   * Checks that no two names are names of the same file, if the system can find out.
   *
   * @param paths files; those that do not exist are ignored
   * @throws DamagedFileException if two are the same
   */
  public static void areDistinct(Iterable<Path> paths) {
    Map<Object, Path> seen = new HashMap<>();
    for (Path path : paths) {
      @Nullable BasicFileAttributes found = attributes(path, LinkOption.NOFOLLOW_LINKS);
      @Nullable Object key = found == null ? null : found.fileKey();
      @Nullable Path other = key == null ? null : seen.put(key, path);
      if (other != null) {
        throw new DamagedFileException(
            path,
            FileException.NO_OFFSET,
            "this is the same file as " + other + ", under a second name",
            "delete the added name and put back the original file, or restore the database"
                + " from a copy",
            /* cause= */ null);
      }
    }
  }

  /**
   * Checks that nothing but a directory is there.
   *
   * @param path where a directory of a database belongs
   * @return true if it is there, false if nothing is
   * @throws DamagedFileException if something else is there
   */
  public static boolean isDirectory(Path path) {
    @Nullable BasicFileAttributes found = attributes(path);
    if (found == null) {
      return false;
    }
    if (!found.isDirectory()) {
      throw wrongKind(path, found, "a directory");
    }
    return true;
  }

  private static @Nullable BasicFileAttributes attributes(Path path, LinkOption... options) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, options);
    } catch (NoSuchFileException nothing) {
      return null;
    } catch (IOException failed) {
      throw IoFailures.of(
          path, FileException.NO_OFFSET, "looking for what is under this name", failed);
    }
  }

  private static DamagedFileException wrongKind(
      Path path, BasicFileAttributes found, String expected) {
    String kind =
        found.isDirectory()
            ? "a directory"
            : found.isRegularFile()
                ? "a file"
                : found.isSymbolicLink() ? "a symbolic link" : "a pipe, a socket or a device";
    return new DamagedFileException(
        path,
        FileException.NO_OFFSET,
        "this is " + kind + ", but " + expected + " of the database belongs here",
        "move it away and put back the original, or restore the database from a copy",
        /* cause= */ null);
  }
}
