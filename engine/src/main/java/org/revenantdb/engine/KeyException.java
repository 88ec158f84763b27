package org.revenantdb.engine;

/** A key is empty, or longer than {@link Database#MAX_KEY_BYTES}. */
public final class KeyException extends RevenantException {
  private static final long serialVersionUID = 1L;

  KeyException(String message) {
    super(message);
  }

  @Override
  RevenantException copy() {
    return new KeyException(message());
  }
}
