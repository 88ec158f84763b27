package org.revenantdb.engine;

/**
 * The database was not closed cleanly and has to be opened for writing once, which recovers it,
 * before it can be opened read-only.
 */
public final class NotCleanlyClosedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public NotCleanlyClosedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new NotCleanlyClosedException(message());
  }
}
