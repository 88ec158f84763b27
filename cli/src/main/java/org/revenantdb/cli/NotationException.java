package org.revenantdb.cli;

/** An argument that is not written in the notation that was asked for. */
final class NotationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotationException(String message) {
    super(message);
  }
}
