package org.revenantdb.engine;

/**
 * The engine met a state that it does not expect: damage that no checksum shows, or a defect of
 * RevenantDB.
 *
 * <p>The call has not done its work. Roll the transaction back, and run the command {@code check}
 * on the database. If that finds no damage, report the exception with its cause.
 */
public final class InternalFailureException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public InternalFailureException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new InternalFailureException(message(), this);
  }
}
