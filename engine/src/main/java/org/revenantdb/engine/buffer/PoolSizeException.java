package org.revenantdb.engine.buffer;

/** A buffer pool cannot have the size that was asked for; the message says which sizes it can. */
public final class PoolSizeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Whether the pool is open and too small for its use. */
  private final boolean noFrameFree;

  /**
   * A size that cannot be had.
   *
   * @param message a sentence that names the size and the cure
   */
  public PoolSizeException(String message) {
    this(message, /* noFrameFree= */ false);
  }

  private PoolSizeException(String message, boolean noFrameFree) {
    super(message);
    this.noFrameFree = noFrameFree;
  }

  /**
   * No frame of an open pool became free.
   *
   * @param message a sentence that names the size and the cure
   */
  public static PoolSizeException noFrameFree(String message) {
    return new PoolSizeException(message, /* noFrameFree= */ true);
  }

  /**
   * Whether the pool is open and too small for its use.
   *
   * @return false if a pool of the size cannot be had
   */
  public boolean isNoFrameFree() {
    return noFrameFree;
  }
}
