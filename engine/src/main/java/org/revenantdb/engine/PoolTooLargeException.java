package org.revenantdb.engine;

/**
 * The pool that was asked for is larger than the memory that this process can have; the message
 * names both. Choose a smaller {@link DatabaseOptions#poolBytes}.
 */
public final class PoolTooLargeException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public PoolTooLargeException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  RevenantException copy() {
    return new PoolTooLargeException(message(), this);
  }
}
