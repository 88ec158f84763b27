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
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * The spill files of an open database: volatile memory that happens to be on disk.
 *
 * <p>No file is there before there is need, none is ever forced or renamed, and none is read by
 * another life: the close deletes them, and what a crash leaves the next open deletes unread.
 *
 * <p>Threads: any. Only those of the engine touch files; {@link #call} has one of them do it, and
 * keeps an interrupt for later. Failure: {@link StorageException}; that a file cannot be deleted is
 * told to nobody, the next open tries again.
 */
public final class SpillFiles implements AutoCloseable {
  /** What a file holds. */
  public enum Kind {
    /** A run of older versions. */
    VERSIONS("versions-", 1),
    /** What a transaction with savepoints has overwritten. */
    OVERWRITTEN("savepoints-", 2);

    final String prefix;
    final int code;

    Kind(String prefix, int code) {
      this.prefix = prefix;
      this.code = code;
    }
  }

  private static final String SUFFIX = ".spill";

  /** So many threads of the engine at most are busy for callers. */
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
   * No files yet.
   *
   * @param directory of the database
   * @param databaseId sixteen bytes
   * @param life of the database
   * @param statistics where reads and writes are counted
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
   * Has the ownership checked before a file is made or deleted; said before the first is made.
   *
   * @param owner of the directory
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
   * What a former life has left; on a thread of the engine. Where the directory cannot be read,
   * there is nothing.
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
   * Deletes what a former life has left, unread; on a thread of the engine that has the directory
   * locked. One that cannot be deleted stays, and is in nobody's way.
   */
  public static void deleteLeftOvers(Path directory) {
    leftOvers(directory).forEach(SpillFiles::delete);
  }

  static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException stays) {
      // It is in nobody's way: the next open tries again.
    }
  }

  /** A new file; on a thread of the engine. */
  SpillFile create(Kind kind) {
    ownership.check();
    Path path;
    long number;
    do {
      number = lastNumber.incrementAndGet();
      path = directory.resolve(kind.prefix + number + SUFFIX);
    } while (Directories.exists(
        path)); // one that a former life has left and that could not be deleted
    SpillFile file = SpillFile.create(path, databaseId, life, kind, number, statistics);
    open.add(file);
    ownership.check(); // the directory may have been replaced meanwhile
    return file;
  }

  /** Takes a file away that nobody needs any more; on a thread of the engine. */
  void delete(SpillFile file) {
    file.close();
    open.remove(file);
    try {
      ownership.check();
    } catch (OwnershipLostException notOurs) {
      return; // what has this name now may be a file of another
    }
    delete(file.path());
  }

  /** Does something with files on a thread of the engine, and waits for it. */
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

  /** Trouble that is of the directory and no file in it. */
  public StorageIOException trouble(String reason, String cure, @Nullable Throwable cause) {
    return new StorageIOException(directory, StorageException.NO_OFFSET, reason, cure, cause);
  }

  /** Deletes all files; on a thread of the engine, and nobody uses one any more. */
  @Override
  public void close() {
    List.copyOf(open).forEach(this::delete);
  }
}
