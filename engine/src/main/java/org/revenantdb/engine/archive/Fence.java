package org.revenantdb.engine.archive;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * The file in an archive that says that a follower has taken the database over ({@code
 * docs/protocols.md} §51). Who writes to the archive stops when it is there.
 *
 * <p>Threads: one that may access files.
 */
final class Fence {
  static final String NAME = "revenant.fence";
  private static final long MAGIC = ArchiveLayout.magic("RVNTFENC");

  private Fence() {}

  static Path file(ArchiveFiles files) {
    return files.directory().resolve(NAME);
  }

  static boolean isIn(ArchiveFiles files) {
    return Directories.exists(file(files));
  }

  /** What a former writer is told. */
  static StorageException refusal(ArchiveFiles files) {
    return new StorageException(
        StorageException.Reason.FENCED,
        file(files),
        StorageException.NO_OFFSET,
        "a follower of this archive was promoted, and has taken the database over",
        "use the promoted database; do not write to this one, whose commits it does not get",
        /* cause= */ null);
  }

  /**
   * Makes the fence, durably. Only one follower can.
   *
   * @param databaseId of the archive
   * @param followerId of the database that the follower becomes
   * @param lsn how far it has the log
   * @param life the life there
   * @throws StorageException if another follower has made one
   */
  static void make(ArchiveFiles files, byte[] databaseId, byte[] followerId, long lsn, int life) {
    if (isIn(files)) {
      refuseOther(files, followerId);
      forceAgain(files); // whoever made it may have been killed before, or its force failed
      return;
    }
    ByteBuffer sector = ArchiveLayout.sector(MAGIC, databaseId);
    sector.put(ArchiveLayout.BODY, followerId);
    int at = ArchiveLayout.BODY + 16;
    sector.putLong(at, lsn);
    sector.putInt(at + 8, life);
    sector.putLong(at + 16, System.currentTimeMillis());
    StorageFile made;
    try {
      made =
          StorageFile.open(
              file(files), OpenMode.CREATE_NEW, /* ownerOnly= */ true, files.statistics());
    } catch (FileException failed) {
      if (isIn(files)) {
        refuseOther(files, followerId);
      }
      throw failed;
    }
    try (made) {
      writeForced(made, ArchiveLayout.sealed(sector));
    } catch (RuntimeException | Error failed) {
      takeBack(files, failed);
      throw failed;
    }
    files.force();
  }

  /** A fence that could not be written must not stop the writer. */
  private static void takeBack(ArchiveFiles files, Throwable why) {
    try {
      Directories.delete(file(files));
      files.force();
    } catch (RuntimeException | Error failed) {
      why.addSuppressed(failed);
    }
  }

  /** What the cache shows may not be on the medium (R6): it is written once more. */
  private static void forceAgain(ArchiveFiles files) {
    byte[] sector = files.loadSector(file(files));
    try (StorageFile made =
        StorageFile.open(
            file(files), OpenMode.READ_WRITE, /* ownerOnly= */ true, files.statistics())) {
      writeForced(made, sector);
    }
    files.force();
  }

  private static void writeForced(StorageFile fence, byte[] sector) {
    fence.write(0, MemorySegment.ofArray(sector));
    fence.force();
  }

  private static void refuseOther(ArchiveFiles files, byte[] followerId) {
    byte[] sector = files.loadSector(file(files));
    if (!ArchiveLayout.isGood(sector, MAGIC)) {
      throw refused(
          files,
          "a promotion was interrupted while it made this file, or is making it",
          "if no promotion is under way, delete the file and promote again");
    }
    byte[] id =
        ArchiveLayout.id(ArchiveLayout.read(sector, MAGIC, file(files)), ArchiveLayout.BODY);
    if (!Arrays.equals(id, followerId)) {
      throw refused(
          files,
          "another follower of this archive was promoted",
          "use that one; close this follower, and follow the archive of the promoted database");
    }
  }

  private static StorageException refused(ArchiveFiles files, String problem, String cure) {
    return new StorageException(
        StorageException.Reason.FENCED,
        file(files),
        StorageException.NO_OFFSET,
        problem,
        cure,
        /* cause= */ null);
  }
}
