package org.revenantdb.engine;

/** The database was opened read-only. */
public final class ReadOnlyDatabaseException extends RevenantException {
  private static final long serialVersionUID = 1L;

  ReadOnlyDatabaseException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new ReadOnlyDatabaseException(message());
  }
}
