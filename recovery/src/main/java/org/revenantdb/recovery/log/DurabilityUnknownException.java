package org.revenantdb.recovery.log;

import org.jspecify.annotations.Nullable;

/**
 * The log stopped before a published record was known to be durable. The next open may or may not
 * find the record.
 */
public final class DurabilityUnknownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The record's LSN. */
  private final long lsn;

  /**
   * The outcome of a record is unknown.
   *
   * @param lsn the record's LSN
   * @param cause why the log stopped, or null if it was closed
   */
  public DurabilityUnknownException(long lsn, @Nullable Throwable cause) {
    super(
        "Outcome unknown: the log stopped before position "
            + lsn
            + " was known to be durable; open the database again and check what was kept.",
        cause);
    this.lsn = lsn;
  }

  /**
   * The record in question.
   *
   * @return its LSN
   */
  public long lsn() {
    return lsn;
  }
}
