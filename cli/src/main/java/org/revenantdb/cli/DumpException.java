package org.revenantdb.cli;

/** A file that is no whole dump; the message has the place and what to do. */
final class DumpException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DumpException(String message) {
    super(message);
  }
}
