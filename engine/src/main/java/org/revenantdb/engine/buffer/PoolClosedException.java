package org.revenantdb.engine.buffer;

/** Nothing went wrong, but the pool is closed. */
public final class PoolClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  PoolClosedException() {
    super("The buffer pool is closed.");
  }
}
