package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * Operations on directories. A name in a directory is durable only after the directory was forced.
 */
public final class Directories {
  private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

  private Directories() {}

  /**
   * Whether a file or directory exists. In contrast, {@link Files#exists} also returns false if
   * this user has no permission to look, or if the path is a circle of links.
   *
   * @param path its path
   * @return false if it, or a part of its path, does not exist
   * @throws FileException if the system cannot find out
   */
  public static boolean exists(Path path) {
    try {
      Files.readAttributes(path, BasicFileAttributes.class);
      return true;
    } catch (NoSuchFileException missing) {
      return false;
    } catch (IOException failed) {
      if (Trouble.of(failed) == Trouble.NO_DIRECTORY) {
        return false;
      }
      throw IoFailures.of(path, FileException.NO_OFFSET, "looking for it", failed);
    }
  }

  /**
   * Makes the names in a directory durable: those created, renamed and deleted before.
   *
   * <p>If the file system has no POSIX view and does not allow a directory to be opened (Windows),
   * the system takes care of names, and the method does nothing.
   *
   * @param directory the directory
   */
  public static void force(Path directory) {
    force(directory, new IoStatistics());
  }

  /**
   * Makes the names in a directory durable, and counts the force.
   *
   * @param directory the directory
   * @param statistics counts the force
   */
  public static void force(Path directory, IoStatistics statistics) {
    FileChannel channel;
    try {
      channel = FileChannel.open(directory, StandardOpenOption.READ);
    } catch (IOException | UnsupportedOperationException refused) {
      if (refused instanceof NoSuchFileException missing) {
        throw IoFailures.of(directory, FileException.NO_OFFSET, "forcing the directory", missing);
      }
      if (knowsPosix(directory)) {
        throw forceFailed(directory, refused);
      }
      return;
    }
    try (channel) {
      channel.force(/* metaData= */ true);
      statistics.countForce();
    } catch (IOException failed) {
      throw forceFailed(directory, failed);
    }
  }

  private static ForceFailedException forceFailed(Path directory, Exception failure) {
    return new ForceFailedException(
        directory, "forcing the directory failed (" + IoFailures.said(failure) + ")", failure);
  }

  /**
   * Creates a directory that only its owner may enter, with the missing directories above it, and
   * makes their names durable.
   *
   * <p>A directory whose name cannot be made durable is removed again, because the next attempt
   * could not distinguish it from a durable one.
   *
   * @param directory the directory
   * @return false if it was there already
   */
  public static boolean createOwnerOnly(Path directory) {
    if (Files.isDirectory(directory)) {
      return false;
    }
    @Nullable Path parent = directory.toAbsolutePath().getParent();
    if (parent != null && !createOwnerOnly(parent)) {
      forceName(parent);
    }
    if (!makeOwnerOnly(directory)) {
      return false;
    }
    if (parent != null) {
      try {
        force(parent);
      } catch (FileException failed) {
        takeAway(directory, failed);
        throw failed;
      }
    }
    return true;
  }

  /**
   * Renames a file, and replaces any file that has the new name. The change is durable after the
   * directory was forced.
   *
   * @param from the file
   * @param to its new name
   */
  public static void rename(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw IoFailures.of(from, FileException.NO_OFFSET, "renaming", failed);
    }
  }

  /**
   * Deletes a file. It is no failure if the file does not exist.
   *
   * @param file the file
   */
  public static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (NoSuchFileException gone) {
      return;
    } catch (IOException failed) {
      throw IoFailures.of(file, FileException.NO_OFFSET, "deleting", failed);
    }
  }

  private static void takeAway(Path directory, FileException failed) {
    try {
      Files.delete(directory);
    } catch (IOException stays) {
      failed.addSuppressed(stays);
    }
  }

  /**
   * Makes the name of an existing directory durable: the process that made it may have been killed
   * before it could do so. If the directory above must not be read, it belongs to another user.
   * That user is then responsible for the name as well.
   *
   * @param directory the directory
   */
  public static void forceName(Path directory) {
    @Nullable Path parent = directory.toAbsolutePath().getParent();
    if (parent != null && Files.isReadable(parent)) {
      force(parent);
    }
  }

  /**
   * Creates a directory that only its owner may enter. Its name is durable after the directory
   * above it was forced.
   *
   * @param directory the directory; the one above it exists
   * @return false if it was there already
   */
  public static boolean makeOwnerOnly(Path directory) {
    try {
      Files.createDirectory(directory, ownerOnly(directory, "rwx------"));
    } catch (FileAlreadyExistsException exists) {
      if (Files.isDirectory(directory)) {
        return false;
      }
      throw IoFailures.of(directory, FileException.NO_OFFSET, "creating the directory", exists);
    } catch (IOException failed) {
      throw IoFailures.of(
          directory, FileException.NO_OFFSET, "creating the directory", failed, /* room= */ 1);
    } catch (ReadOnlyFileSystemException readOnly) {
      throw IoFailures.readOnly(directory, "creating the directory", readOnly);
    }
    return true;
  }

  static FileAttribute<?>[] ownerOnly(Path path, String permissions) {
    if (!knowsPosix(path)) {
      return NO_ATTRIBUTES;
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
    };
  }

  private static boolean knowsPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
