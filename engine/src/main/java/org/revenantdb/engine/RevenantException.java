package org.revenantdb.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The root of all exceptions that the engine throws. Unchecked.
 *
 * <p>Wrong arguments and wrong calls throw {@link IllegalArgumentException}, {@link
 * IllegalStateException} or {@link NullPointerException} instead, as in the JDK.
 *
 * <p>The stack of an exception is that of the thread that receives it. The cause is for people who
 * look for a fault in the engine; its class may change in any version.
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
  public RevenantException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * Returns this exception for the current thread. If the current thread made it, that is this
   * object. Otherwise it is a new one of the same class with the same fields, the current stack,
   * and this one as its cause. So a caller gets its own stack, and no two threads change one
   * object.
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

  /**
   * Makes another exception of this class with the same fields; its cause is this one, or not set.
   */
  RevenantException copy() {
    return new RevenantException(message(), this);
  }

  /** The message; each of these exceptions has one. */
  final String message() {
    return Objects.requireNonNull(getMessage());
  }
}
