package org.revenantdb.engine;

/** A table exists, and was created with other options than it is opened with. */
public final class TableOptionsException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public TableOptionsException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new TableOptionsException(message());
  }
}
