package org.revenantdb.engine;

/**
 * The transaction would wait for the end of another one which, itself or through others, waits for
 * this. The message tells who waits for whom, and where. Roll back, so that the others can go on,
 * and try again: {@link Database#run} does, unless another transaction of the same thread is part
 * of the cycle and is still open, since only this thread can end it.
 */
public final class DeadlockException extends ConflictException {
  private static final long serialVersionUID = 1L;

  DeadlockException(String message, String cure, long holder) {
    super(ConflictReason.DEADLOCK, message, cure, holder);
  }

  @Override
  ConflictException fresh(String said, String ownCure, long ownHolder) {
    return new DeadlockException(said, ownCure, ownHolder);
  }
}
