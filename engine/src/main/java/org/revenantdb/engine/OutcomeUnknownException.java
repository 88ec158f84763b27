package org.revenantdb.engine;

/**
 * The log failed while a call waited until its work was durable. It is unknown whether the work,
 * such as a commit, was done.
 *
 * <p>The next {@link Database#open} decides that. Open the database again, and look for the effects
 * before you repeat the work.
 */
public final class OutcomeUnknownException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public OutcomeUnknownException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new OutcomeUnknownException(message(), this);
  }
}
