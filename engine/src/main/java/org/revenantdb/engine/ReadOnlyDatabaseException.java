package org.revenantdb.engine;

/**
 * A call would write, and the database was opened with {@link DatabaseOptions#readOnly}.
 *
 * <p>The call has changed nothing. Open the database for writing.
 */
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
