package org.revenantdb.engine.buffer;

/** Passes failures from one thread of the pool to another. */
final class Failures {
  private Failures() {}

  /**
   * Throws an exception that another thread has caught in the caller's thread.
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
