package org.example.notes;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;

/**
 * Backups of notes. One that was interrupted is never taken for a whole one: a file has its name
 * only when it is whole and on the disk, and the engine does the same in a directory.
 */
public final class Backups {
  static final String ENDING = ".notes";
  private static final String UNFINISHED = ".part";

  private Backups() {}

  static boolean isFile(Path target) {
    return target.getFileName().toString().endsWith(ENDING);
  }

  /** Writes a file. */
  interface Writing {
    void to(OutputStream out) throws IOException;
  }

  /** Writes a file that takes the place of a former one when it is whole. */
  static void write(Path file, Writing writing) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + UNFINISHED);
    try {
      try (FileChannel channel =
          FileChannel.open(
              part,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        writing.to(Channels.newOutputStream(channel));
        channel.force(true);
      }
      Files.move(
          part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      force(file.toAbsolutePath().getParent());
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Has the names in a directory on the disk. */
  private static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (AccessDeniedException windows) {
      return; // which has no such call, and does not need it
    }
  }

  /**
   * Makes notes of a backup, in a directory that does not exist or is empty. The backup stays as it
   * is.
   *
   * @throws StorageException if it is no whole backup, or the directory is in use
   */
  public static void restore(Path backup, Path directory) throws IOException {
    if (Files.isDirectory(backup)) {
      copy(backup, directory);
    } else {
      try (InputStream in = Files.newInputStream(backup)) {
        Database.unpackBackup(in, directory);
      }
    }
    Notes.open(directory).close(); // so that a backup that is not whole is refused now
  }

  /** Copies a directory under another name, which becomes the right one when all is on the disk. */
  private static void copy(Path backup, Path directory) throws IOException {
    Path part = directory.resolveSibling(directory.getFileName() + UNFINISHED);
    try (Stream<Path> there = Files.exists(directory) ? Files.list(directory) : Stream.empty()) {
      if (there.findAny().isPresent()) {
        throw new FileAlreadyExistsException(directory + " is not empty; choose another directory");
      }
    }
    delete(part);
    for (Path from : all(backup)) { // a directory comes before its files
      Path to = part.resolve(backup.relativize(from));
      if (Files.isDirectory(from)) {
        Files.createDirectory(to);
      } else {
        Files.copy(from, to);
        try (FileChannel channel = FileChannel.open(to, StandardOpenOption.WRITE)) {
          channel.force(true);
        }
      }
    }
    for (Path to : all(part)) {
      if (Files.isDirectory(to)) {
        force(to);
      }
    }
    Files.deleteIfExists(directory);
    Files.move(part, directory, StandardCopyOption.ATOMIC_MOVE);
    force(directory.toAbsolutePath().getParent());
  }

  static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      for (Path each : all(directory).reversed()) {
        Files.delete(each);
      }
    }
  }

  private static List<Path> all(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.toList();
    }
  }
}
