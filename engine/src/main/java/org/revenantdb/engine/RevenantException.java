package org.revenantdb.engine;

/**
 * What goes wrong with a database apart from its files; those throw {@code StorageException}.
 * Unchecked.
 */
public class RevenantException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception.
   *
   * @param message what happened, and what to do
   */
  public RevenantException(String message) {
    super(message);
  }

  /**
   * An exception with a cause.
   *
   * @param message what happened, and what to do
   * @param cause why
   */
  public RevenantException(String message, Throwable cause) {
    super(message, cause);
  }
}
