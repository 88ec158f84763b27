package org.revenantdb.engine;

/** A key is empty, or longer than {@link Database#MAX_KEY_BYTES}. */
public final class KeyException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it; for tests of applications, too.
   *
   * @param message what happened, and what to do
   */
  public KeyException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new KeyException(message());
  }
}
