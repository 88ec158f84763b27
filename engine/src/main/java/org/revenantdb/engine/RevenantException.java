package org.revenantdb.engine;

import java.util.Objects;

/**
 * What goes wrong with a database apart from its files; those throw {@code StorageException}.
 * Unchecked.
 */
public class RevenantException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The thread whose stack this has. */
  private final transient long madeBy = Thread.currentThread().threadId();

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

  /**
   * The same for the current thread: this one if that made it, else another one of the same class
   * with the same fields, the current stack, and this one as its cause. So what a caller gets has
   * the caller's stack, and no two threads add to one object.
   */
  final RevenantException forCaller() {
    if (Thread.currentThread().threadId() == madeBy) {
      return this;
    }
    RevenantException copy = copy();
    if (copy.getCause() == null) {
      copy.initCause(this);
    }
    return copy;
  }

  /** Another one of this class with the same fields; its cause is this one, or not set. */
  RevenantException copy() {
    return new RevenantException(message(), this);
  }

  /** The message, which each of these has. */
  final String message() {
    return Objects.requireNonNull(getMessage());
  }
}
