package org.revenantdb.engine;

/**
 * A table cannot be dropped, since the thread that wants to has itself to end a transaction first:
 * one that wrote to the table, or one for which others wait who have; or since a prepared
 * transaction has written to it. Nothing has changed.
 */
public final class TableInUseException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TableInUseException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TableInUseException(message());
  }
}
