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

/** What directories are to us: names that last only once their directory was forced. */
public final class Directories {
  private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

  private Directories() {}

  /**
   * Whether there is a file or directory. {@link Files#exists} says no, too, where the system does
   * not let this user look, or the path goes in a circle.
   *
   * @param path which one
   * @return false if it is not there, or a part of its path is not
   * @throws StorageException if the system does not tell
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
      throw IoFailures.of(path, StorageException.NO_OFFSET, "looking for it", failed);
    }
  }

  /**
   * Makes the names in a directory durable: those created, renamed and deleted before.
   *
   * <p>Where the file system has no POSIX view and does not let a directory be opened (Windows),
   * names are the system's affair and nothing is done.
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
   * @param statistics where the force is counted
   */
  public static void force(Path directory, IoStatistics statistics) {
    FileChannel channel;
    try {
      channel = FileChannel.open(directory, StandardOpenOption.READ);
    } catch (IOException | UnsupportedOperationException refused) {
      if (refused instanceof NoSuchFileException missing) {
        throw IoFailures.of(
            directory, StorageException.NO_OFFSET, "forcing the directory", missing);
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
   * Creates a directory, with the missing ones above it, that only its owner may enter, and makes
   * their names durable.
   *
   * <p>One whose name cannot be made durable is taken away again: it would look like any other to
   * the next try.
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
      } catch (StorageException failed) {
        takeAway(directory, failed);
        throw failed;
      }
    }
    return true;
  }

  /**
   * Renames a file over whatever has the new name; durable once the directory was forced.
   *
   * @param from the file
   * @param to its new name
   */
  public static void rename(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw IoFailures.of(from, StorageException.NO_OFFSET, "renaming", failed);
    }
  }

  /**
   * Deletes a file; that it is not there is no failure.
   *
   * @param file the file
   */
  public static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (NoSuchFileException gone) {
      return;
    } catch (IOException failed) {
      throw IoFailures.of(file, StorageException.NO_OFFSET, "deleting", failed);
    }
  }

  private static void takeAway(Path directory, StorageException failed) {
    try {
      Files.delete(directory);
    } catch (IOException stays) {
      failed.addSuppressed(stays);
    }
  }

  /**
   * Makes the name of a directory durable that was there already: whoever made it may have been
   * killed before that. A directory above it that may not be read is somebody else's, and so is the
   * name.
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
   * Creates a directory that only its owner may enter; its name lasts once the directory above it
   * was forced.
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
      throw IoFailures.of(directory, StorageException.NO_OFFSET, "creating the directory", exists);
    } catch (IOException failed) {
      throw IoFailures.of(
          directory, StorageException.NO_OFFSET, "creating the directory", failed, /* room= */ 1);
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
