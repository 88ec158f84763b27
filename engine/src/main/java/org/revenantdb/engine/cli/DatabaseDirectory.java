package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.revenantdb.engine.backup.BackupTarget;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.DirectoryLock;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * The files of a database as they are, after a clean close or a crash: no file is opened for
 * writing, and nothing is repaired.
 *
 * <p>While this object is open, no process can open the database for writing. A database that is
 * open elsewhere is refused.
 */
final class DatabaseDirectory implements AutoCloseable {
  private final Path directory;
  private final DirectoryLock lock;
  private final StorageFile data;

  private DatabaseDirectory(Path directory, DirectoryLock lock, StorageFile data) {
    this.directory = directory;
    this.lock = lock;
    this.data = data;
  }

  static DatabaseDirectory open(Path directory) {
    Path file = directory.resolve("revenant.data");
    demandDatabase(directory);
    DirectoryLock lock = DirectoryLock.acquire(directory, /* shared= */ true);
    try {
      return new DatabaseDirectory(
          directory, lock, StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true));
    } catch (RuntimeException failed) {
      lock.close();
      throw failed;
    }
  }

  /** Refuses a directory without a database, with a message for a user at a shell. */
  static void demandDatabase(Path directory) {
    if (!Directories.exists(directory.resolve("revenant.data"))) {
      BackupTarget.refuseUnfinished(directory);
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "there is no database here",
          "name the directory of a database",
          null);
    }
  }

  Path dataFile() {
    return data.path();
  }

  /** The number of pages of the data file, including an incomplete last one. */
  long pages() {
    return (data.size() + Page.SIZE - 1) / Page.SIZE;
  }

  /** A copy of a page; zeros where the file ends. */
  MemorySegment page(long id) {
    MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);
    data.readUpTo(id * Page.SIZE, page);
    return page;
  }

  /** The header of the double-write file; zeros where it ends, or if there is none. */
  MemorySegment doubleWriteHeader() {
    Path file = directory.resolve("revenant.dw");
    return FileKinds.isFile(file)
        ? start(file, Page.SIZE)
        : MemorySegment.ofArray(new byte[Page.SIZE]);
  }

  /** The log segments, by number; none if the directory of the log is missing. */
  List<Path> segments() {
    Path log = directory.resolve("log");
    if (!FileKinds.isDirectory(log)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(log)) {
      return files.sorted().toList();
    } catch (IOException failed) {
      throw IoFailures.of(log, FileException.NO_OFFSET, "listing the log", failed);
    } catch (UncheckedIOException failed) {
      throw IoFailures.of(
          log,
          FileException.NO_OFFSET,
          "listing the log",
          Objects.requireNonNull(failed.getCause()));
    }
  }

  /** The first bytes of a file; zeros where it ends. */
  MemorySegment start(Path file, int bytes) {
    MemorySegment start = MemorySegment.ofArray(new byte[bytes]);
    try (StorageFile open = StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true)) {
      open.readUpTo(0, start);
    }
    return start;
  }

  /** The condition of a page according to its checksum. */
  static String condition(MemorySegment page, long id) {
    int stored = Page.getInt(page, 0);
    int computed = PageChecksum.compute(page);
    if (stored == computed && Integer.toUnsignedLong(Page.id(page)) == id) {
      return "good";
    }
    if (page.mismatch(MemorySegment.ofArray(new byte[Page.SIZE])) < 0) {
      return "never written";
    }
    return stored == computed
        ? "DAMAGED: this is page " + Integer.toUnsignedString(Page.id(page))
        : "DAMAGED: the bytes have checksum %08x".formatted(computed);
  }

  @Override
  public void close() {
    try {
      data.close();
    } finally {
      lock.close();
    }
  }
}
