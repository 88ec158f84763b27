package org.revenantdb.engine.lifecycle;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.backup.BackupNotes;
import org.revenantdb.engine.backup.BackupSource;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SlottedEdit;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.recovery.checkpoint.CheckpointSource;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.file.StorageIOException;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.log.RingFile;
import org.revenantdb.recovery.restart.Restart;

/**
 * The directory of a database: its files, and its creation.
 *
 * <p>Runs on a thread of the engine, under the directory's lock.
 */
public final class DatabaseFiles {
  /*
   * Creation, protocols.md §12. A crash
   *   before the rename is durable   leaves no revenant.data: the next open deletes the files and
   *                                  begins again; or it leaves revenant.data, and the next open
   *                                  forces its name before anything depends on it
   *   after it                       leaves a database that was closed cleanly
   */
  public static final String DATA = "revenant.data";
  static final String NEW_DATA = "revenant.data.new";
  static final String DOUBLE_WRITE = "revenant.dw";
  static final String NEW_DOUBLE_WRITE = "revenant.dw.new";
  static final String LOCK = "revenant.lock";
  static final String LOG = "log";

  /** What a copy has. */
  public static final BackupSource.Names NAMES = new BackupSource.Names(DATA, DOUBLE_WRITE, LOG);

  /** Pages of a new data file. */
  private static final int FIRST_PAGES = ExtentMapPage.PAGES;

  /**
   * Including the counters of a former database whose data file was deleted since, and its spill
   * files.
   */
  private static final Set<String> OURS =
      Set.of(
          NEW_DATA,
          DOUBLE_WRITE,
          NEW_DOUBLE_WRITE,
          RingFile.NAME,
          RingFile.UNFINISHED,
          LOCK,
          LOG,
          BackupNotes.NAME,
          BackupNotes.NEW_NAME,
          CountersFile.FILE_NAME);

  /** The files in the log directory during a creation; used only after an interrupted creation. */
  private static final String SEGMENT = "[0-9a-f]{16}\\.log(\\.tmp)?";

  private final Path directory;
  private final IoStatistics statistics;

  DatabaseFiles(Path directory, IoStatistics statistics) {
    this.directory = directory;
    this.statistics = statistics;
  }

  Path directory() {
    return directory;
  }

  Path data() {
    return directory.resolve(DATA);
  }

  Path doubleWrite() {
    return directory.resolve(DOUBLE_WRITE);
  }

  Path log() {
    return directory.resolve(LOG);
  }

  boolean exists() {
    return Directories.exists(data());
  }

  /**
   * Refuses a directory in which one of our names belongs to another kind of file. Nothing is
   * opened for this check, because opening a pipe blocks.
   */
  void refuseOtherKinds() {
    List<Path> ours = new ArrayList<>(SpillFiles.leftOvers(directory));
    for (String name :
        List.of(
            LOCK,
            DATA,
            NEW_DATA,
            DOUBLE_WRITE,
            NEW_DOUBLE_WRITE,
            RingFile.NAME,
            RingFile.UNFINISHED,
            BackupNotes.NAME,
            BackupNotes.NEW_NAME,
            CountersFile.FILE_NAME)) {
      ours.add(directory.resolve(name));
    }
    for (Path file : ours) {
      FileKinds.isFile(file);
    }
    FileKinds.areDistinct(ours);
    FileKinds.isDirectory(log());
  }

  /**
   * Creates the directory if it is missing. Its name is durable then, even if an earlier attempt
   * created it and was killed.
   */
  void createDirectory() {
    if (Directories.exists(directory) && !Files.isDirectory(directory)) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "this is a file, but a database is a directory",
          "check the path",
          null);
    }
    if (!Directories.createOwnerOnly(directory) && !exists()) {
      Directories.forceName(directory);
    }
  }

  /**
   * Makes the names of an existing database durable, because its creator may have been killed, or
   * refused, between the rename and the force.
   */
  void forceNames() {
    Directories.force(directory, statistics);
  }

  LogOptions logOptions(DatabaseOptions options, int segmentBytes) {
    return new LogOptions(
        segmentBytes,
        LogOptions.DEFAULT_BUFFER_CAPACITY,
        ApiAccess.api().logBytes(options, segmentBytes),
        "revenant",
        statistics);
  }

  /** Creates an empty database in the locked directory. */
  void create(DatabaseOptions options) {
    removeLeftOvers();
    byte[] id = new byte[16];
    new SecureRandom().nextBytes(id);
    // The new data file is created first: it distinguishes an interrupted creation from a
    // lost data file.
    Path fresh = directory.resolve(NEW_DATA);
    try (StorageFile data =
        StorageFile.open(fresh, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics)) {
      Directories.force(directory, statistics);
      // In this form a failure of the log's close does not hide an earlier one.
      try (Log log =
          Restart.createFirst(log(), id, logOptions(options, options.logSegmentBytes()))) {
        DoubleWriteFile.create(doubleWrite(), id, statistics).close();
        fill(data, id, options);
        LogSpace space =
            new LogSpace(
                log::tail, options.maxRecoveryLog(), options.maxRecoveryLog() / 8, () -> {});
        ControlFile control = ControlFile.create(data, firstState(log));
        Checkpointer checkpointer =
            new Checkpointer(
                log,
                new RecoverySpace(space, PageSpace.unlimited()),
                control,
                EMPTY,
                options.maxRecoveryLog(),
                "revenant");
        checkpointer.closeCleanly();
      }
    }
    Directories.force(directory, statistics);
    try {
      Files.move(fresh, data(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw failed(data(), "the new data file could not be renamed", e);
    }
    try {
      Directories.force(directory, statistics);
    } catch (FileException failed) {
      renameBack(fresh, failed);
      throw failed;
    }
  }

  /** After a failed force no further force may write the name: the next open begins anew. */
  private void renameBack(Path fresh, FileException failed) {
    try {
      Files.move(data(), fresh, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException stays) {
      failed.addSuppressed(stays);
    }
  }

  private static ControlState firstState(Log log) {
    long start = log.durableLsn();
    return ControlState.notClosed(
        start, start, /* checkpointLsn= */ 0, start, log.life(), FIRST_PAGES);
  }

  private static void fill(StorageFile data, byte[] id, DatabaseOptions options) {
    data.preallocate(0, (long) FIRST_PAGES * Page.SIZE);
    DataFileHeader.create(data, id, options.logSegmentBytes(), System.currentTimeMillis());
    MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);
    Page.setId(page, SpaceMapPage.POSITION);
    Page.putByte(page, Page.TYPE, Page.SPACE_MAP);
    for (int first = 0; first < ExtentMapPage.PAGES; first++) {
      int used = first <= Catalog.ROOT ? SpaceMapPage.ALLOCATED : 0;
      Page.putByte(page, SpaceMapPage.offset(first), used | SpaceMapPage.MIXED);
    }
    write(data, page);
    page.fill((byte) 0);
    Page.setId(page, ExtentMapPage.POSITION);
    Page.putByte(page, Page.TYPE, Page.GAM);
    Page.putByte(page, ExtentMapPage.offset(0), ExtentMapPage.mask(0));
    write(data, page);
    page.fill((byte) 0);
    SlottedEdit.formatEmptyLeaf(page, Catalog.TABLE);
    Page.setId(page, Catalog.ROOT);
    write(data, page);
  }

  private static void write(StorageFile data, MemorySegment page) {
    PageChecksum.seal(page);
    data.write((long) Page.id(page) * Page.SIZE, page);
  }

  /**
   * A creation ends before the first life does, so a new data file of a later life was renamed.
   * Treating it as the rest of an interrupted creation would delete a database.
   */
  private void refuseRenamedDatabase() {
    Path fresh = directory.resolve(NEW_DATA);
    String reason = "";
    try (StorageFile file = StorageFile.open(fresh, OpenMode.READ, /* ownerOnly= */ true)) {
      if (file.size() > (long) FIRST_PAGES * Page.SIZE) {
        reason = "it has " + file.size() + " bytes, more than a new one";
      } else if (ControlFile.read(file).state().life() > 1) {
        reason = "it was opened after it had been created";
      }
    } catch (DamagedFileException unfinished) {
      return; // an early interrupted creation has written no control slot
    }
    if (!reason.isEmpty()) {
      throw refused(fresh, reason);
    }
  }

  private DamagedFileException refused(Path file, String reason) {
    return new DamagedFileException(
        file,
        FileException.NO_OFFSET,
        "there is no " + DATA + ", and this is not what an interrupted creation leaves: " + reason,
        file.endsWith(NEW_DATA)
            ? "if it is the data file of this database, rename it to "
                + DATA
                + "; else move it away"
            : "if "
                + NEW_DATA
                + " is the data file of this database, rename that to "
                + DATA
                + "; else move this file away",
        /* cause= */ null);
  }

  private void refuseForeignLog() throws IOException {
    if (!FileKinds.isDirectory(log())) {
      return;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(log())) {
      for (Path entry : entries) {
        if (!Pattern.matches(SEGMENT, String.valueOf(entry.getFileName()))
            || !FileKinds.isFile(entry)) {
          throw refused(entry, "a new log has only segments");
        }
      }
    }
  }

  /**
   * A ring is made in the first lazy commit, when the name of the data file is durable. It has
   * commits that may be nowhere else.
   */
  private void refuseRing() {
    for (String name : List.of(RingFile.NAME, RingFile.UNFINISHED)) {
      Path ring = directory.resolve(name);
      if (Directories.exists(ring)) {
        throw refused(ring, "a creation makes no ring of the log");
      }
    }
  }

  /**
   * Refuses to create a database beside files that are not ours. It is called before anything is
   * made, the lock file included.
   */
  void refuseForeignFiles() {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        refuseForeign(String.valueOf(entry.getFileName()));
      }
    } catch (IOException e) {
      throw failed(directory, "the files of the directory could not be listed", e);
    }
  }

  private void refuseForeign(String name) {
    if (!OURS.contains(name) && !SpillFiles.isOne(name)) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "there is no " + DATA + ", but there is " + name,
          "name a directory that is empty or does not exist, or the directory of a database",
          null);
    }
  }

  /** Deletes the files of an interrupted creation, and refuses anything else. */
  private void removeLeftOvers() {
    List<Path> found = new ArrayList<>();
    boolean interrupted = false;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        refuseForeign(name);
        interrupted |= name.equals(NEW_DATA);
        if (!name.equals(LOCK)) {
          found.add(entry);
        }
      }
      if (!found.isEmpty() && !interrupted) {
        throw new MissingFileException(
            data(),
            FileException.NO_OFFSET,
            "the data file is missing, but other files of a database are there",
            "bring the data file back, or restore the whole directory from a copy",
            null);
      }
      if (interrupted) {
        refuseRenamedDatabase();
        refuseForeignLog();
        refuseRing();
      }
      // The proof of an interrupted creation is deleted last, when the rest is gone for good.
      Path proof = directory.resolve(NEW_DATA);
      for (Path entry : found) {
        if (!entry.equals(proof)) {
          delete(entry);
        }
      }
      if (!found.isEmpty()) {
        Directories.force(directory, statistics);
        Files.delete(proof);
      }
    } catch (IOException e) {
      throw failed(directory, "what an interrupted creation left could not be cleared", e);
    }
  }

  private static StorageIOException failed(Path file, String reason, IOException cause) {
    return new StorageIOException(
        file,
        FileException.NO_OFFSET,
        reason + " (" + cause + ")",
        "remove the cause and open it again",
        cause);
  }

  private void delete(Path entry) throws IOException {
    if (Files.isDirectory(entry)) {
      try (DirectoryStream<Path> inner = Files.newDirectoryStream(entry)) {
        for (Path file : inner) {
          Files.delete(file);
        }
      }
    }
    Files.delete(entry);
  }

  /** A database without pages or transactions. */
  private static final CheckpointSource EMPTY =
      new CheckpointSource() {
        @Override
        public void flushDirtyBefore(long lsn) {}

        @Override
        public long oldestDirtyLsn() {
          return Long.MAX_VALUE;
        }

        @Override
        public TransactionImage transactions() {
          return new TransactionImage(0, new long[0], new long[0], new long[0]);
        }

        @Override
        public List<RefusedPage> refusedPages() {
          return List.of();
        }

        @Override
        public long highWaterPages() {
          return FIRST_PAGES;
        }
      };
}
