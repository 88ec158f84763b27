package org.revenantdb.engine.lifecycle;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
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
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.restart.KnownStates;
import org.revenantdb.recovery.restart.PageRange;
import org.revenantdb.recovery.restart.Restart;
import org.revenantdb.recovery.restart.RestartProgress;

/**
 * The first half of an open: compares the files of a database with each other, and changes nothing.
 * It refuses files that no crash can leave; {@code docs/format.md} §9 lists the comparisons.
 *
 * <p>Threads: one of the engine. Failure: a {@link FileException} with file, place and remedy.
 */
final class FileSurvey {
  private final DatabaseFiles files;
  private final IoStatistics io;
  private final StorageFile data;
  private final DataFileHeader header;
  private final ControlFile control;
  private final @Nullable DoubleWriteFile doubleWrite;

  /**
   * Opens data file and double-write file and compares their contents.
   *
   * @param opened receives each opened file, so that it is closed
   */
  FileSurvey(
      DatabaseFiles files, boolean readOnly, IoStatistics io, Consumer<AutoCloseable> opened) {
    this.files = files;
    this.io = io;
    OpenMode mode = readOnly ? OpenMode.READ : OpenMode.READ_WRITE;
    data = StorageFile.open(files.data(), mode, /* ownerOnly= */ true, io);
    opened.accept(data);
    header = DataFileHeader.read(data);
    control = ControlFile.read(data);
    refuseWrongSize(data, control.state());
    if (FileKinds.isFile(files.doubleWrite())) {
      DoubleWriteFile file =
          DoubleWriteFile.open(files.doubleWrite(), header.databaseId(), mode, io);
      opened.accept(file);
      doubleWrite = file;
    } else if (control.state().clean()) {
      doubleWrite = null; // nothing in it is needed
    } else {
      throw new MissingFileException(
          files.doubleWrite(),
          FileException.NO_OFFSET,
          "the double-write file is missing, and the database was not closed cleanly: pages may be"
              + " torn that only this file can repair",
          "bring it back, or restore the database from a copy",
          /* cause= */ null);
    }
  }

  /**
   * Analyses the log and compares it with data file and double-write file.
   *
   * @return the restart, to be continued
   */
  Restart analyse(RestartProgress progress) {
    Restart restart =
        Restart.analyse(
            files.log(),
            header.databaseId(),
            header.segmentSize(),
            control.state(),
            PageRange.ofFile(data.size()),
            io,
            progress,
            knownStates());
    if (doubleWrite != null) {
      doubleWrite.compare(data, restart.result().endOfLog());
    }
    return restart;
  }

  /**
   * Whether a restart could go on from the former control slot, if the newer one were lost.
   *
   * <p>Either the newer slot is on the medium, or the former one can be used: that is so at each
   * moment of a life, because what only the former one needs is removed after the newer one was
   * forced. So a former slot that cannot be used shows that the newer one is on the medium. It is
   * false only for what is certainly missing.
   */
  boolean isFormerSlotUsable(Restart restart) {
    ControlState former = control.former();
    return former != null // not whole: it was being written, so the newer one was forced before
        && restart.hasLog(
            Math.min(former.analysisPoint(), former.redoPoint()), control.state().redoPoint())
        && (former.checkpointLsn() != 0
            || Directories.exists(KnownStates.file(files.directory(), former.analysisPoint())))
        && data.size() >= former.highWaterPages() * Page.SIZE
        && (doubleWrite != null || former.clean());
  }

  /** Only a follower's data file has no checkpoint: it was folded (docs/protocols.md §50). */
  private @Nullable KnownStates knownStates() {
    ControlState state = control.state();
    return state.checkpointLsn() != 0
        ? null
        : KnownStates.read(files.directory(), header.databaseId(), state.analysisPoint(), io);
  }

  /**
   * The file is forced when it grows, before a control slot counts the pages. So a shorter file is
   * damage.
   */
  private static void refuseWrongSize(StorageFile data, ControlState state) {
    long known = state.highWaterPages() * Page.SIZE;
    if (data.size() < known) {
      throw new DamagedFileException(
          data.path(),
          data.size(),
          "the file ends here, but its control slot knows of "
              + state.highWaterPages()
              + " pages, "
              + known
              + " bytes");
    }
    if (data.size() / Page.SIZE > FileHeaderLayout.MOST_PAGES) {
      throw new DamagedFileException(
          data.path(),
          data.size(),
          "the file has " + data.size() + " bytes, more than a data file can have");
    }
  }

  StorageFile data() {
    return data;
  }

  DataFileHeader header() {
    return header;
  }

  ControlFile control() {
    return control;
  }

  /** Null if the file has to be created again. */
  @Nullable DoubleWriteFile doubleWrite() {
    return doubleWrite;
  }
}
