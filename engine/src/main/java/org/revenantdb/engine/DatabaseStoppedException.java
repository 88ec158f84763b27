package org.revenantdb.engine;

/**
 * The engine has stopped after an error that leaves memory and disk in doubt, such as a failed
 * force. It takes no more work.
 *
 * <p>What was acknowledged as durable is kept. Lazy commits may be lost. Close the database, remove
 * the cause that the message has, and open the database again.
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
