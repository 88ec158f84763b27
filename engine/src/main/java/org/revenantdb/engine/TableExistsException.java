package org.revenantdb.engine;

/**
 * A transaction wants to create a table, and there is one of that name. Nothing has changed, and
 * the transaction goes on.
 */
public final class TableExistsException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TableExistsException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TableExistsException(message());
  }
}
