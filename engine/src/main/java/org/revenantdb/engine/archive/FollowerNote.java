package org.revenantdb.engine.archive;

import java.nio.file.Path;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.NotADatabaseException;

/**
 * The file that makes a directory that of a follower, and says of which archive ({@code
 * docs/protocols.md} §50).
 *
 * <p>Threads: one that may access files.
 */
public final class FollowerNote {
  static final String NAME = "revenant.follower";
  private static final long MAGIC = ArchiveLayout.magic("RVNTFOLW");

  private FollowerNote() {}

  private static Path file(Path directory) {
    return directory.resolve(NAME);
  }

  static boolean isIn(Path directory) {
    return Directories.exists(file(directory));
  }

  /**
   * Refuses to write to the directory of a follower.
   *
   * @throws StorageException with {@link StorageException.Reason#FOLLOWER}
   */
  public static void refuse(Path directory) {
    if (isIn(directory)) {
      throw new StorageException(
          StorageException.Reason.FOLLOWER,
          directory,
          StorageException.NO_OFFSET,
          "this is the directory of a follower (" + NAME + " is there), which only follows",
          "use Database.follow, and promote it to write; or open it read-only while nobody follows",
          /* cause= */ null);
    }
  }

  /** Makes it, durably. */
  static void put(Path directory, byte[] archiveId, IoStatistics statistics) {
    new ArchiveFiles(directory, statistics)
        .put(file(directory), ArchiveLayout.sealed(ArchiveLayout.sector(MAGIC, archiveId)));
  }

  /** The id of the archive. */
  static byte[] read(Path directory, IoStatistics statistics) {
    if (!isIn(directory)) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "this is a database, but not a follower: it was promoted, or it never followed",
          "open it with Database.open; follow into a directory that is empty or does not exist",
          /* cause= */ null);
    }
    byte[] sector = new ArchiveFiles(directory, statistics).loadSector(file(directory));
    return ArchiveLayout.databaseId(ArchiveLayout.read(sector, MAGIC, file(directory)));
  }

  /** Makes the directory that of a database, durably. */
  static void delete(Path directory, IoStatistics statistics) {
    Directories.delete(file(directory));
    Directories.force(directory, statistics);
  }
}
