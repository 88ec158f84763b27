package org.revenantdb.engine.buffer;

/** A buffer pool cannot have the size that was asked for; the message says which sizes it can. */
public final class PoolSizeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * Trouble of this kind.
   *
   * @param message a sentence that names the size and the cure
   */
  public PoolSizeException(String message) {
    super(message);
  }
}
