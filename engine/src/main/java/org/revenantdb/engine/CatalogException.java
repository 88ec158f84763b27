package org.revenantdb.engine;

/**
 * A table or sequence cannot be used, created, opened or dropped in this way; {@link #reason} has
 * the cause.
 *
 * <p>Nothing has changed, and an open transaction stays open. The message has the name and what to
 * do.
 */
public final class CatalogException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** What was refused. */
  public enum Reason {
    /** There is no table or sequence of this name: check the name, or create it. */
    MISSING,
    /** A table or sequence of this name exists already: use it, or choose another name. */
    EXISTS,
    /**
     * The table was dropped, or its creation was rolled back. Get the table again by its name, if
     * there is one.
     */
    DROPPED,
    /**
     * The table was created by a transaction that has not committed. No other transaction can use
     * it before.
     */
    NOT_COMMITTED,
    /**
     * The table cannot be dropped or truncated before a transaction ends. It belongs to this thread
     * or is prepared.
     */
    IN_USE,
    /** The table or sequence was created with other options: open it without options. */
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
  public CatalogException(Reason reason, String message) {
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
    return new CatalogException(reason, message());
  }
}
