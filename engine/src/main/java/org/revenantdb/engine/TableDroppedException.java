package org.revenantdb.engine;

/**
 * A table was dropped before the transaction began that wants to read it, or it was dropped, or is
 * about to be, and a transaction wants to begin to write it. Nothing has changed, and the
 * transaction goes on.
 */
public final class TableDroppedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TableDroppedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TableDroppedException(message());
  }
}
