package org.revenantdb.engine;

/**
 * The transaction would wait for the end of another one which, itself or through others, waits for
 * this. The message tells who waits for whom, and where. Roll back, so that the others can go on,
 * and try again: {@link Database#run} does, unless the cycle goes through another transaction of
 * the same thread, which only this thread can end.
 */
public final class DeadlockException extends ConflictException {
  private static final long serialVersionUID = 1L;

  /** Whether another transaction of the same thread is part of the cycle. */
  private final boolean isOwnThreads;

  DeadlockException(String message, boolean isOwnThreads) {
    super(ConflictReason.DEADLOCK, message);
    this.isOwnThreads = isOwnThreads;
  }

  @Override
  boolean isWorthAnotherAttempt() {
    return !isOwnThreads;
  }
}
