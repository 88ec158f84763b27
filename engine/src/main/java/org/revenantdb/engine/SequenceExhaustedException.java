package org.revenantdb.engine;

/** A {@link Sequence} has come to the end of its range, and gives no values any more. */
public final class SequenceExhaustedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public SequenceExhaustedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new SequenceExhaustedException(message());
  }
}
