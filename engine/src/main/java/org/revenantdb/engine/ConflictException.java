package org.revenantdb.engine;

/**
 * Another transaction wrote the row first: it has not ended, or it has committed since this one
 * began (first updater wins). The statement has changed nothing. Roll back and try again, as {@link
 * Database#run} does.
 */
public sealed class ConflictException extends RevenantException
    permits DeadlockException, LockTimeoutException, SerializationConflictException {
  private static final long serialVersionUID = 1L;

  /** LSN of the commit that was first; 0 if it has not ended. */
  private final long commitLsn;

  ConflictException(String message, long commitLsn) {
    super(message);
    this.commitLsn = commitLsn;
  }

  /**
   * LSN of the other's commit, which the next snapshot has to be at or above; 0 if it has not
   * ended.
   */
  long commitLsn() {
    return commitLsn;
  }

  /** Whether another attempt may come to more. */
  boolean isWorthAnotherAttempt() {
    return true;
  }
}
