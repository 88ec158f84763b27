package org.revenantdb.chaos.crash;

/** A child ended in an unexpected way. The message ends with its standard error. */
public final class ChildFailedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param what what happened
   * @param stderr what the child wrote to its standard error
   */
  public ChildFailedException(String what, String stderr) {
    super(what + (stderr.isBlank() ? "" : "; its standard error:\n" + stderr.strip()));
  }
}
