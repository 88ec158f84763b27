package org.revenantdb.engine;

/**
 * Two threads used one transaction at the same time. A transaction may be handed from thread to
 * thread, but only one may be inside it.
 */
public final class TransactionInUseException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TransactionInUseException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TransactionInUseException(message());
  }
}
