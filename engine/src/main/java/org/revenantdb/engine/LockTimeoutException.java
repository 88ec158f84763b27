package org.revenantdb.engine;

import org.revenantdb.engine.session.TransactionCore;

/**
 * Another transaction wrote the row first, and has not ended within the lock timeout; for a
 * {@linkplain Isolation#SERIALIZABLE serializable} one that reads, a prepared one has not. {@link
 * Database#run} does not try again after it: whoever sets a timeout has said how long he waits.
 */
public final class LockTimeoutException extends ConflictException {
  private static final long serialVersionUID = 1L;

  LockTimeoutException(String message) {
    super(ConflictReason.LOCK_TIMEOUT, message, /* cure= */ "", /* holder= */ 0);
  }

  @Override
  boolean isWorthAnotherAttempt(TransactionCore attempt) {
    return false;
  }

  @Override
  ConflictException fresh(String said, String ownCure, long ownHolder) {
    return new LockTimeoutException(said);
  }
}
