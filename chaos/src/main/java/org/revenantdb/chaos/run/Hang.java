package org.revenantdb.chaos.run;

import java.time.Duration;

/** A check of an image that did not end. */
final class Hang extends AssertionError {
  private static final long serialVersionUID = 1L;

  /**
   * Creates a failure with the stack of the thread that hangs.
   *
   * @param limit that was exceeded
   * @param standsAt innermost frame first
   */
  Hang(Duration limit, StackTraceElement[] standsAt) {
    super("it did not end within " + limit.toSeconds() + " s");
    setStackTrace(standsAt);
  }

  /**
   * Creates a failure with the stack from a thread dump.
   *
   * @param limit that was exceeded
   * @param standsAt one line for each frame
   */
  Hang(Duration limit, String standsAt) {
    super(
        "it did not end within %d s%s"
            .formatted(limit.toSeconds(), standsAt.isEmpty() ? "" : "; its stack:\n" + standsAt));
    setStackTrace(new StackTraceElement[0]);
  }

  @Override
  @SuppressWarnings("OverrideThrowableToString") // its class means nothing to a reader
  public String toString() {
    return String.valueOf(getMessage());
  }
}
