package org.revenantdb.engine.buffer;

/** How trouble in one thread of the pool reaches another. */
final class Failures {
  private Failures() {}

  /**
   * Throws in the caller's thread what another thread has caught.
   *
   * @return never
   */
  static RuntimeException rethrow(Throwable failure) {
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    throw new IllegalStateException(failure);
  }
}
