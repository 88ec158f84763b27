package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The database is already open, in this JVM or in another process. */
public final class DatabaseLockedException extends FileException {
  private static final long serialVersionUID = 1L;

  /** Process id of the holder, -1 where it is not known. */
  private final long holderPid;

  /**
   * A database that is open already.
   *
   * @param lockFile the lock file
   * @param reason which process holds it, as far as is known; a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param holderPid the process id of the holder, or -1 if it is not known
   * @param cause the error of the system, or null
   */
  public DatabaseLockedException(
      Path lockFile, String reason, String cure, long holderPid, @Nullable Throwable cause) {
    super(lockFile, NO_OFFSET, reason, cure, cause);
    this.holderPid = holderPid;
  }

  /**
   * The holder of the lock.
   *
   * @return the process id of the holder, or -1 if it is not known
   */
  public long holderPid() {
    return holderPid;
  }

  @Override
  protected FileException copy() {
    return new DatabaseLockedException(file(), reason(), cure(), holderPid, this);
  }
}
