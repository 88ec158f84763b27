package org.revenantdb.gc.spill;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * The spill files of an open database: volatile data that is kept on disk.
 *
 * <p>A file is made only when it is needed, and is never forced or renamed. No other life reads it:
 * the close deletes the files, and the next open deletes unread what a crash has left.
 *
 * <p>Threads: any. Only threads of the engine access files. {@link #call} runs an action on one of
 * them, and keeps an interrupt for later. Failure: {@link FileException}. If a file cannot be
 * deleted, no error is reported; the next open tries again.
 */
public final class SpillFiles implements AutoCloseable {
  /** The content of a file. */
  public enum Kind {
    /** A run of older versions. */
    VERSIONS("versions-", 1, "older versions", OPEN_TRANSACTIONS),
    /** The rows that a transaction with savepoints has overwritten. */
    OVERWRITTEN("savepoints-", 2, "older versions", OPEN_TRANSACTIONS),
    /** Rows that are being sorted. */
    SORTED(
        "sorts-",
        3,
        "sorted rows",
        "check the device and repeat the load; the rows of the database are not affected");

    final String prefix;
    final int code;

    /** What a block has, for messages. */
    final String content;

    /** What to do if a block is damaged. */
    final String cure;

    Kind(String prefix, int code, String content, String cure) {
      this.prefix = prefix;
      this.code = code;
      this.content = content;
      this.cure = cure;
    }
  }

  private static final String OPEN_TRANSACTIONS =
      "check the device and end the open transactions; the rows in the data file are not affected";

  private static final String SUFFIX = ".spill";

  /** The greatest number of engine threads that work for callers. */
  private static final int AT_ONCE =
      Math.clamp(2L * Runtime.getRuntime().availableProcessors(), 4, 16);

  private final Path directory;
  private final byte[] databaseId;
  private final int life;
  private final IoStatistics statistics;
  private final AtomicLong lastNumber = new AtomicLong();
  private final Semaphore free = new Semaphore(AT_ONCE);
  private Ownership ownership = Ownership.none();
  private final Set<SpillFile> open = ConcurrentHashMap.newKeySet();

  /**
   * Makes an object without files.
   *
   * @param directory the directory of the database
   * @param databaseId sixteen bytes
   * @param life the life of the database
   * @param statistics counts reads and writes
   */
  public SpillFiles(Path directory, byte[] databaseId, int life, IoStatistics statistics) {
    this.directory = directory;
    this.databaseId = databaseId.clone();
    this.life = life;
    this.statistics = statistics;
  }

  /** The directory of the database. */
  public Path directory() {
    return directory;
  }

  /**
   * Sets the ownership that is checked before a file is made or deleted. Called before the first
   * file is made.
   *
   * @param owner the owner of the directory
   * @return this
   */
  public SpillFiles ownedBy(Ownership owner) {
    ownership = owner;
    return this;
  }

  /** Whether a file of this name is a spill file. */
  public static boolean isOne(String name) {
    if (!name.endsWith(SUFFIX)) {
      return false;
    }
    for (Kind kind : Kind.values()) {
      if (name.startsWith(kind.prefix)) {
        return isNumber(name.substring(kind.prefix.length(), name.length() - SUFFIX.length()));
      }
    }
    return false;
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty() && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
  }

  /**
   * The files that a former life has left; called on a thread of the engine. Empty if the directory
   * cannot be read.
   */
  public static List<Path> leftOvers(Path directory) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (isOne(String.valueOf(entry.getFileName()))) {
          found.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException unreadable) {
      return List.of();
    }
    return found;
  }

  /**
   * Deletes, without reading them, the files that a former life has left. Called on a thread of the
   * engine that has the directory locked. A file that cannot be deleted stays, and does no harm.
   */
  public static void deleteLeftOvers(Path directory) {
    for (Path file : leftOvers(directory)) {
      delete(file);
    }
  }

  static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException stays) {
      // It does no harm: the next open tries again.
    }
  }

  /** Makes a file; called on a thread of the engine. */
  SpillFile create(Kind kind) {
    ownership.check();
    Path path;
    long number;
    do {
      number = lastNumber.incrementAndGet();
      path = directory.resolve(kind.prefix + number + SUFFIX);
    } while (Directories.exists(
        path)); // a file that a former life has left and that could not be deleted
    SpillFile file = SpillFile.create(path, databaseId, life, kind, number, statistics);
    open.add(file);
    ownership.check(); // the directory may have been replaced meanwhile
    return file;
  }

  /**
   * Deletes a file that is no longer needed; called on a thread of the engine. The second call for
   * a file does nothing: its name may belong to another file by then.
   */
  void delete(SpillFile file) {
    if (!open.remove(file)) {
      return;
    }
    file.close();
    try {
      ownership.check();
    } catch (OwnershipLostException notOurs) {
      return; // the file that has this name now may belong to another database
    }
    delete(file.path());
  }

  /** Runs an action with files on a thread of the engine, and waits for it. */
  public <T> T call(Supplier<T> action) {
    if (FileThread.isCurrent()) {
      return action.get();
    }
    free.acquireUninterruptibly();
    try {
      return FileThread.call("revenant-spilled", action);
    } finally {
      free.release();
    }
  }

  /** An exception about the directory, not about a file in it. */
  public StorageIOException trouble(String reason, String cure, @Nullable Throwable cause) {
    return new StorageIOException(directory, FileException.NO_OFFSET, reason, cure, cause);
  }

  /** Deletes all files; called on a thread of the engine, when no file is in use any more. */
  @Override
  public void close() {
    List.copyOf(open).forEach(this::delete);
  }
}
