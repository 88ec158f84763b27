package org.revenantdb.engine;

/**
 * The database was closed, or is being closed, so that the call is not possible.
 *
 * <p>The call has changed nothing. A transaction that was open has been rolled back. Open the
 * database again if it was not meant to be closed.
 */
public final class DatabaseClosedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public DatabaseClosedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new DatabaseClosedException(message());
  }
}
