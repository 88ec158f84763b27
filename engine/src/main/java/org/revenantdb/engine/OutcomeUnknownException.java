package org.revenantdb.engine;

/**
 * The log failed while a commit waited to become durable: whether the transaction is committed is
 * not known until the database has been opened again. Look for its effects before you repeat it.
 */
public final class OutcomeUnknownException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public OutcomeUnknownException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new OutcomeUnknownException(message(), this);
  }
}
