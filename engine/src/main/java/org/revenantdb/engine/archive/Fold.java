package org.revenantdb.engine.archive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * Makes a data file that has all changes up to the position of a view, in place of one that lacks
 * some ({@code docs/protocols.md} §50).
 *
 * <p>Threads: that of the follower.
 */
final class Fold {
  static final String UNFINISHED = "revenant.data.fold";
  private static final long AT_ONCE = 128L * Page.SIZE;

  private Fold() {}

  /**
   * Writes and forces the file.
   *
   * @param path a file that does not exist
   * @param from the data file that the view reads
   * @param state redo point and analysis point are the position of the view
   */
  static void make(
      Path path,
      StorageFile from,
      DataFileHeader header,
      FollowedView view,
      ControlState state,
      IoStatistics statistics) {
    try (StorageFile made =
            StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics);
        Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(AT_ONCE, 4096);
      long end = state.highWaterPages() * Page.SIZE;
      from.copyTo(made, (long) SpaceMapPage.POSITION * Page.SIZE, end, buffer);
      MemorySegment page = buffer.asSlice(0, Page.SIZE);
      for (int pageId : view.lacking()) {
        view.copy(pageId, page);
        PageChecksum.seal(page);
        made.write((long) pageId * Page.SIZE, page);
      }
      DataFileHeader.create(
          made, header.databaseId(), header.segmentSize(), header.createdMillis());
      ControlFile.create(made, state); // forces all of it
    } catch (RuntimeException | Error failed) {
      try {
        Directories.delete(path);
      } catch (RuntimeException stays) {
        failed.addSuppressed(stays);
      }
      throw failed;
    }
  }
}
