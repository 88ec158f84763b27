package org.revenantdb.engine;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A file or directory of the database cannot be used as it is. {@link #reason} has the cause,
 * {@link #file} and {@link #offset} the place, and {@link #cure} what to do. The message has all of
 * them.
 *
 * <p>A statement that throws this has not done its work. Roll the transaction back. If the engine
 * has stopped, later calls throw {@link DatabaseStoppedException}. An {@link Database#open} that
 * throws this leaves nothing open.
 */
public sealed class StorageException extends RevenantException permits CorruptDataException {
  private static final long serialVersionUID = 1L;

  /** The offset if the exception is about a whole file. */
  public static final long NO_OFFSET = -1;

  /** Why the file cannot be used. */
  public enum Reason {
    /** The operating system refused an operation. */
    IO,
    /** The device or the quota is full: make room. Open again if the engine has stopped. */
    DISK_FULL,
    /**
     * This process may not read or write the file, or the file system is read-only: correct the
     * permissions or the mount.
     */
    ACCESS_DENIED,
    /** A force failed: close the database, check the device, open the database again. */
    FORCE_FAILED,
    /**
     * The files were moved, replaced or deleted, or another engine has opened the database: find
     * the other program, then open the database at its place.
     */
    OWNERSHIP_LOST,
    /** This or another process has the database open: share it, or close it there. */
    LOCKED,
    /** The directory has other files, or has no database where one has to exist: check the path. */
    NOT_A_DATABASE,
    /** The format has another version: use the version of the library that wrote it. */
    FORMAT_VERSION,
    /** A file of the database, or the directory, is missing: restore it, or check the path. */
    MISSING_FILE,
    /**
     * The target of a backup is not an empty directory, or lies in the database: choose another
     * one.
     */
    BACKUP_TARGET,
    /**
     * Writers needed the files of the log before a backup had copied them: use a faster target, or
     * a larger {@link DatabaseOptions#maxLogSize}.
     */
    BACKUP_TOO_SLOW,
    /**
     * The stream to unpack is not a backup, is damaged, or ends early: use another copy of it, or
     * make another backup.
     */
    BACKUP_STREAM,
    /**
     * An increment does not belong to the backup that it was to be made since or applied to: name
     * the right one, or make a whole backup.
     */
    BACKUP_BASE,
    /**
     * The archive belongs to another database, or to another history of this one: choose another
     * directory for the archive.
     */
    ARCHIVE_FOREIGN,
    /** The archive does not have the requested moment: choose another one. */
    ARCHIVE_LACKS_MOMENT,
    /** The directory is that of a follower, which only follows: promote it to write. */
    FOLLOWER,
    /**
     * A follower of the archive was promoted and has taken the database over: use the promoted
     * database.
     */
    FENCED,
    /** The file is damaged; the exception is a {@link CorruptDataException}. */
    DAMAGED
  }

  /** Why. */
  private final Reason reason;

  private final transient Path file;

  /** The position in the file, in bytes, or {@link #NO_OFFSET}. */
  private final long offset;

  /** What is wrong. */
  private final String problem;

  /** What to do. */
  private final String cure;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param reason why
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param problem what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the exception that the engine received, if any
   */
  public StorageException(
      Reason reason,
      Path file,
      long offset,
      String problem,
      String cure,
      @Nullable Throwable cause) {
    super(
        file + (offset < 0 ? "" : " at byte " + offset) + ": " + problem + "; " + cure + ".",
        cause);
    this.reason = Objects.requireNonNull(reason, "reason must not be null");
    this.file = file;
    this.offset = offset;
    this.problem = problem;
    this.cure = cure;
  }

  /**
   * Why the file cannot be used.
   *
   * @return the reason
   */
  public final Reason reason() {
    return reason;
  }

  /**
   * The file or directory.
   *
   * @return its path, as it was given to the engine
   */
  public final Path file() {
    return file;
  }

  /**
   * Where in the file.
   *
   * @return the byte, or {@link #NO_OFFSET} if the exception is about the whole file
   */
  public final long offset() {
    return offset;
  }

  /**
   * What is wrong.
   *
   * @return a clause
   */
  public final String problem() {
    return problem;
  }

  /**
   * What the user can do.
   *
   * @return a clause
   */
  public final String cure() {
    return cure;
  }

  @Override
  RevenantException copy() {
    return new StorageException(reason, file, offset, problem, cure, this);
  }
}
