package org.revenantdb.engine;

/** The database was opened read-only. */
public final class ReadOnlyDatabaseException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public ReadOnlyDatabaseException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new ReadOnlyDatabaseException(message());
  }
}
