package org.revenantdb.engine;

/** A value is longer than {@link Database#MAX_VALUE_BYTES}, or too long for an array. */
public final class ValueTooLargeException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public ValueTooLargeException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new ValueTooLargeException(message());
  }
}
