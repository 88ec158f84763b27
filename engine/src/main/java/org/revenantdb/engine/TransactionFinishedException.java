package org.revenantdb.engine;

/** The transaction was committed or rolled back before. */
public final class TransactionFinishedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  TransactionFinishedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TransactionFinishedException(message());
  }
}
