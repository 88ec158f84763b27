package org.revenantdb.engine.backup;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * A whole backup in a directory, as the base of increments: its pages. Its log is not needed.
 *
 * <p>Threads: one.
 */
final class WholeDirectory implements AutoCloseable {
  /** Both slots were written once, one after the other, by the backup. */
  private static final long SEQUENCE_OF_COPY = 2;

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[Page.SIZE]);

  private final StorageFile data;
  private final DataFileHeader header;
  private final ControlState state;

  private WholeDirectory(StorageFile data) {
    this.data = data;
    header = DataFileHeader.read(data);
    state = stateOfCopy();
  }

  /**
   * Opens a backup.
   *
   * @throws StorageException if it was opened for writing since it was made
   */
  static WholeDirectory open(Path directory, BackupSource.Names names) {
    Path file = directory.resolve(names.data());
    if (!Directories.exists(file)) {
      BackupTarget.refuseUnfinished(directory);
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "there is no backup here",
          "name the directory of a backup, or a file with one",
          /* cause= */ null);
    }
    StorageFile data =
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true, new IoStatistics());
    try {
      return new WholeDirectory(data);
    } catch (Throwable failed) {
      data.close();
      throw failed;
    }
  }

  private ControlState stateOfCopy() {
    ControlState found = ControlFile.read(data).state();
    if (found.clean() || found.sequence() != SEQUENCE_OF_COPY) {
      throw new StorageException(
          StorageException.Reason.BACKUP_BASE,
          data.path(),
          StorageException.NO_OFFSET,
          "this is not a backup as it was made: it was opened for writing since, or it is no backup",
          "use another copy of the backup, or make a new whole one; a backup that is to be used is copied first",
          /* cause= */ null);
    }
    return found;
  }

  /** What is known of it. */
  BackupOutput.Start start() {
    return new BackupOutput.Start(
        header.databaseId(),
        header.segmentSize(),
        header.createdMillis(),
        state.redoPoint(),
        state.life(),
        /* base= */ null);
  }

  /** Hands its pages over. */
  void read(StreamReader.Receiver to) {
    int end = (int) state.highWaterPages();
    to.begin(start());
    MemorySegment pages = MemorySegment.ofArray(new byte[PageCopy.AT_ONCE * Page.SIZE]);
    for (int next = SpaceMapPage.POSITION; next < end; next += PageCopy.AT_ONCE) {
      int count = Math.min(PageCopy.AT_ONCE, end - next);
      MemorySegment piece = pages.asSlice(0, (long) count * Page.SIZE);
      data.read((long) next * Page.SIZE, piece);
      for (int i = 0; i < count; i++) {
        judge(next + i, piece.asSlice((long) i * Page.SIZE, Page.SIZE));
      }
      to.pages(next, count, piece);
    }
    to.end(stateOfCopy(), /* logBytes= */ 0); // again: somebody may have opened it meanwhile
  }

  private void judge(int pageId, MemorySegment page) {
    String problem = null;
    if (PageChecksum.isGood(page, pageId)) {
      if (Page.lsn(page) > state.durableLsn()) {
        problem = "it was written after the backup was made";
      }
    } else if (page.mismatch(ZEROS) >= 0) {
      problem = "its checksum is wrong";
    }
    if (problem != null) {
      throw new DamagedFileException(
          data.path(),
          (long) pageId * Page.SIZE,
          "page " + pageId + " of the backup is damaged: " + problem,
          "use another copy of the backup, or make a new whole one",
          /* cause= */ null);
    }
  }

  @Override
  public void close() {
    data.close();
  }
}
