package org.revenantdb.engine.buffer;

/** A buffer pool cannot have the requested size; the message contains the allowed sizes. */
public final class PoolSizeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Whether the pool is open and too small for its use. */
  private final boolean noFrameFree;

  /**
   * Creates the exception for an impossible size.
   *
   * @param message a sentence with the size and a remedy
   */
  public PoolSizeException(String message) {
    this(message, /* noFrameFree= */ false);
  }

  private PoolSizeException(String message, boolean noFrameFree) {
    super(message);
    this.noFrameFree = noFrameFree;
  }

  /**
   * Returns the exception for an open pool without a free frame.
   *
   * @param message a sentence with the size and a remedy
   */
  public static PoolSizeException noFrameFree(String message) {
    return new PoolSizeException(message, /* noFrameFree= */ true);
  }

  /**
   * Returns whether the pool is open and too small for its use.
   *
   * @return false if a pool of that size is impossible
   */
  public boolean isNoFrameFree() {
    return noFrameFree;
  }
}
