package org.revenantdb.engine;

/** A {@link Sequence} has come to the end of its range, and gives no values any more. */
public final class SequenceExhaustedException extends RevenantException {
  private static final long serialVersionUID = 1L;

  SequenceExhaustedException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new SequenceExhaustedException(message());
  }
}
