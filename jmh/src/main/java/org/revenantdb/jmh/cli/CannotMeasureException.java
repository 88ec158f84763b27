package org.revenantdb.jmh.cli;

/** A figure could not be measured; the message says which, and why. */
final class CannotMeasureException extends Exception {
  private static final long serialVersionUID = 1L;

  CannotMeasureException(String message) {
    super(message);
  }

  CannotMeasureException(String message, Throwable cause) {
    super(message, cause);
  }
}
