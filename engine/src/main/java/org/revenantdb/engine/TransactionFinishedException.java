package org.revenantdb.engine;

/** The transaction was committed or rolled back before. */
public final class TransactionFinishedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TransactionFinishedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TransactionFinishedException(message());
  }
}
