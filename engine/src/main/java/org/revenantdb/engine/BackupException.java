package org.revenantdb.engine;

/**
 * A backup was refused or has ended early; {@link #reason} has the cause.
 *
 * <p>The database is unharmed. What was written of the copy is deleted; what could not be deleted
 * is an unfinished backup, which no open takes for a database. Failures of files are a {@link
 * StorageException} with the file.
 */
public final class BackupException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** Why there is no backup. */
  public enum Reason {
    /** The listener has returned false. */
    CANCELLED,
    /** The calling thread was interrupted; its interrupt status is set. */
    INTERRUPTED,
    /** Another backup of this database is being made: wait for its end. */
    RUNNING,
    /** The target is not an empty directory, or lies in the database: name another one. */
    TARGET,
    /**
     * Writers needed the files of the log before they were copied: use a faster target, or a larger
     * {@link DatabaseOptions#maxLogSize}.
     */
    LOG_TOO_FAST,
    /**
     * The database is open read-only, and was not closed cleanly: open it for writing, which
     * recovers it.
     */
    NOT_RECOVERED
  }

  /** Why there is no backup. */
  private final Reason reason;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param reason why there is no backup
   * @param message what happened, and what to do
   */
  public BackupException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * Why there is no backup.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }

  @Override
  RevenantException copy() {
    return new BackupException(reason, message());
  }
}
