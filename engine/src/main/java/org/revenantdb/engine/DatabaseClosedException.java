package org.revenantdb.engine;

/** The database was closed; a transaction that was open then has been rolled back. */
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
