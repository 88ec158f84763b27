package org.revenantdb.recovery.log;

import org.jspecify.annotations.Nullable;

/** The log has stopped for good; nothing was done. The cause has the reason. */
public final class LogStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * The log has stopped.
   *
   * @param cause why, or null if it was closed
   */
  public LogStoppedException(@Nullable Throwable cause) {
    super(
        cause == null
            ? "The log is closed: open the database again."
            : "The log has stopped after a failure (see the cause): close the database, remove the"
                + " cause and open the database again.",
        cause);
  }
}
