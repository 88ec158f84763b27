package org.revenantdb.engine;

/**
 * A transaction cannot be prepared: there is one of that name, or too much of them, or it has
 * created, dropped or truncated tables. Nothing has changed, and the transaction is open.
 */
public final class PrepareException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public PrepareException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new PrepareException(message());
  }
}
