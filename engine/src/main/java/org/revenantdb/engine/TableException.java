package org.revenantdb.engine;

/**
 * A table cannot be used, created, opened or dropped in this way; {@link #reason} tells which.
 *
 * <p>Nothing has changed, and an open transaction stays open. The message has the name of the table
 * and what to do.
 */
public final class TableException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** What was refused. */
  public enum Reason {
    /** There is no table of this name: check the name, or create the table. */
    MISSING,
    /** A table is to be created, and there is one of this name: use it, or choose another name. */
    EXISTS,
    /**
     * The table was dropped, or is being dropped. Get the table again by its name, if there is one.
     */
    DROPPED,
    /**
     * The table cannot be dropped or truncated before a transaction ends. It belongs to this thread
     * or is prepared.
     */
    IN_USE,
    /** The table was created with other options: open it without options. */
    OTHER_OPTIONS
  }

  /** What was refused. */
  private final Reason reason;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param reason what was refused
   * @param message what happened, and what to do
   */
  public TableException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * What was refused.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }

  @Override
  RevenantException copy() {
    return new TableException(reason, message());
  }
}
