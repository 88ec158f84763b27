package org.revenantdb.engine;

/**
 * The engine met something that it had not reckoned with: damage in the database that no checksum
 * shows, or a fault of RevenantDB. The cause says what it was, the message what to do.
 */
public final class InternalFailureException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public InternalFailureException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new InternalFailureException(message(), this);
  }
}
