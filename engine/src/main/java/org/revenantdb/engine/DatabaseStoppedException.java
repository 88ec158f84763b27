package org.revenantdb.engine;

/**
 * The engine has stopped after an error that leaves memory and disk in doubt, such as a failed
 * force; nothing that was acknowledged as durable is lost. Close the database and open it again.
 */
public final class DatabaseStoppedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public DatabaseStoppedException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new DatabaseStoppedException(message(), this);
  }
}
