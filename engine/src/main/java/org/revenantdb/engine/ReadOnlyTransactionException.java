package org.revenantdb.engine;

/** The transaction was begun as one that only reads. It goes on, and has changed nothing. */
public final class ReadOnlyTransactionException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public ReadOnlyTransactionException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new ReadOnlyTransactionException(message());
  }
}
