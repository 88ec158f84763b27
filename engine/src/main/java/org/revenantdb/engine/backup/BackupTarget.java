package org.revenantdb.engine.backup;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.RebuiltLog;

/**
 * The directory of a copy. It becomes a database, or an increment, in one step, when everything in
 * it is forced; until then an open refuses it.
 *
 * <p>Threads: that of the backup.
 */
public final class BackupTarget {
  /*
   * State       empty       no directory, or an empty one
   *             unfinished  the mark is there: its name was forced before anything else was made
   *             database    the mark was renamed to the data file
   *             increment   the mark was renamed to that of an increment: an open refuses it
   *
   * A crash leaves one of these states; docs/protocols.md §47 has the table. The mark is the data file of the copy
   * under another name: so no moment has both, or none.
   */

  /** The data file of a copy that is not finished, or the stream of an increment. */
  public static final String UNFINISHED = "revenant.data.backup";

  /** The stream of an increment in a directory. */
  public static final String INCREMENT = "revenant.increment";

  private static final String ANOTHER = "choose a directory that is empty or does not exist";

  private final Path directory;
  private final BackupSource.Names names;
  private final IoStatistics statistics = new IoStatistics();
  private final boolean made;
  private boolean logMade;
  private final StorageFile data;

  private BackupTarget(Path directory, BackupSource.Names names, boolean made) {
    this.directory = directory;
    this.names = names;
    this.made = made;
    data = StorageFile.open(mark(), OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics);
  }

  /**
   * Makes the directory and the mark.
   *
   * @throws RevenantException if something is there; nothing was changed
   */
  public static BackupTarget make(Path directory, Path original, BackupSource.Names names) {
    refuseInside(directory, original);
    return make(directory, names);
  }

  /**
   * Makes the directory and the mark of a copy whose original is no directory.
   *
   * @throws RevenantException if something is there; nothing was changed
   */
  static BackupTarget make(Path directory, BackupSource.Names names) {
    refuseUnlessEmpty(directory);
    boolean made = Directories.createOwnerOnly(directory);
    BackupTarget target;
    try {
      target = new BackupTarget(directory, names, made);
    } catch (Throwable failed) {
      if (made) {
        takeAway(directory, failed);
      }
      throw failed;
    }
    try {
      if (!made) {
        Directories.forceName(directory);
      }
      Directories.force(directory, target.statistics);
      return target;
    } catch (Throwable failed) {
      target.remove(failed);
      throw failed;
    }
  }

  /** Refuses a target in a directory that is read. */
  static void refuseInside(Path directory, Path original) {
    if (directory.getFileSystem().equals(original.getFileSystem())
        && directory
            .toAbsolutePath()
            .normalize()
            .startsWith(original.toAbsolutePath().normalize())) {
      throw refused(
          directory, "it lies in " + original + ", which is to be read", "choose another one");
    }
  }

  private static void refuseUnlessEmpty(Path directory) {
    if (!Directories.exists(directory)) {
      return;
    }
    if (!Files.isDirectory(directory)) {
      throw refused(directory, "it is no directory", ANOTHER);
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        throw entry.endsWith(UNFINISHED)
            ? refused(
                directory,
                "it has an unfinished backup, or one that is being made",
                "if no backup is being made, delete the directory")
            : refused(directory, "it is not empty, there is " + entry.getFileName(), ANOTHER);
      }
    } catch (DirectoryIteratorException failed) {
      throw unlisted(directory, Objects.requireNonNull(failed.getCause()));
    } catch (IOException failed) {
      throw unlisted(directory, failed);
    }
  }

  private static FileException unlisted(Path directory, IOException failed) {
    return IoFailures.of(
        directory, FileException.NO_OFFSET, "listing the target of the backup", failed);
  }

  private static RevenantException refused(Path directory, String why, String cure) {
    return new org.revenantdb.engine.StorageException(
        org.revenantdb.engine.StorageException.Reason.BACKUP_TARGET,
        directory,
        FileException.NO_OFFSET,
        "this cannot be the target of a backup or restore: " + why,
        cure,
        /* cause= */ null);
  }

  /**
   * Refuses a directory with an unfinished backup, or with an increment.
   *
   * @throws NotADatabaseException that says what to do
   */
  public static void refuseUnfinished(Path directory) {
    if (Directories.exists(directory.resolve(INCREMENT))) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "this is an increment, which has only what has changed since another backup ("
              + INCREMENT
              + " is there)",
          "apply it to that backup, with the command apply or Database.applyBackups, and open the result",
          /* cause= */ null);
    }
    if (Directories.exists(directory.resolve(UNFINISHED))) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "this is an unfinished backup or restore: it was interrupted, or it is still being made ("
              + UNFINISHED
              + " is there)",
          "if nothing is being made, delete the directory and begin again",
          /* cause= */ null);
    }
  }

  private Path mark() {
    return directory.resolve(UNFINISHED);
  }

  public Path log() {
    return directory.resolve(names.log());
  }

  /** The data file, under the name of the mark. */
  public StorageFile data() {
    return data;
  }

  public IoStatistics statistics() {
    return statistics;
  }

  /** Makes the directory of the log, and a double-write file without pages. */
  public void makeRest(byte[] databaseId) {
    logMade = Directories.makeOwnerOnly(log());
    if (!logMade) {
      throw refused(directory, "somebody else writes to it", ANOTHER);
    }
    DoubleWriteFile.create(doubleWrite(), databaseId, statistics).close();
  }

  /** The log of the copy, in the directory that {@link #makeRest} has made. */
  public RebuiltLog rebuildLog(byte[] databaseId, int segmentSize) {
    return new RebuiltLog(log(), databaseId, segmentSize, statistics);
  }

  private Path doubleWrite() {
    return directory.resolve(names.doubleWrite());
  }

  /**
   * Writes the file header and the control slots, and gives the data file its size. Call it last of
   * all: before that, the file is not that of a database.
   */
  public void writeHeader(
      byte[] databaseId, int segmentSize, long createdMillis, ControlState state) {
    long size = state.highWaterPages() * Page.SIZE;
    if (data.size() > size) {
      data.truncate(size);
    } else {
      data.preallocate(data.size(), size);
    }
    DataFileHeader.create(data, databaseId, segmentSize, createdMillis);
    ControlFile.create(data, state);
  }

  /** Forces what is there, up to the mark. */
  public void force() {
    data.force();
    data.close();
    Directories.force(log(), statistics);
    Directories.force(directory, statistics);
  }

  /** Forces the stream of an increment, under the name of the mark. */
  void forceIncrement() {
    data.force();
    data.close();
    Directories.force(directory, statistics);
  }

  /** Makes it an increment. */
  void completeIncrement() {
    complete(directory.resolve(INCREMENT));
  }

  /** Makes it a database. */
  public void complete() {
    complete(directory.resolve(names.data()));
  }

  private void complete(Path finished) {
    move(mark(), finished);
    try {
      Directories.force(directory, statistics);
    } catch (FileException failed) {
      // No later force may write the name.
      try {
        move(finished, mark());
      } catch (FileException stays) {
        failed.addSuppressed(stays);
      }
      throw failed;
    }
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failed) {
      throw IoFailures.of(from, FileException.NO_OFFSET, "renaming", failed);
    }
  }

  /** Deletes what was made, the mark last; what stays is an unfinished backup. */
  public void remove(Throwable failed) {
    try {
      data.close();
      if (logMade) {
        try (DirectoryStream<Path> segments = Files.newDirectoryStream(log())) {
          for (Path segment : segments) {
            Files.delete(segment);
          }
        }
        Files.delete(log());
        Files.deleteIfExists(doubleWrite());
      }
      Directories.force(directory, statistics);
      Files.deleteIfExists(mark());
      if (made) {
        Files.delete(directory);
      }
    } catch (IOException | RuntimeException stays) {
      failed.addSuppressed(stays);
    }
  }

  private static void takeAway(Path directory, Throwable failed) {
    try {
      Files.delete(directory);
    } catch (IOException stays) {
      failed.addSuppressed(stays);
    }
  }
}
