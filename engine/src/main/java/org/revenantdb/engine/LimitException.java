package org.revenantdb.engine;

/**
 * An argument or an operation exceeds a limit of the engine; {@link #reason} has the limit.
 *
 * <p>A refused argument has changed nothing. After {@link Reason#POOL_TOO_SMALL}, roll the
 * transaction back. The message has the limit and what to do.
 */
public final class LimitException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** What was refused. */
  public enum Reason {
    /** A key is empty or longer than {@link Database#MAX_KEY_BYTES}: use a shorter one. */
    KEY_LENGTH,
    /**
     * The name of a table, sequence or prepared transaction is empty or too long: use a shorter
     * one. The message has the limit.
     */
    NAME_LENGTH,
    /** A name has half of a surrogate pair, which UTF-8 cannot encode: correct the name. */
    NAME_CHARACTERS,
    /**
     * A bulk load received keys that do not ascend: add the rows with {@link
     * BulkLoad#addUnsorted(byte[], byte[])}, sort them, or use {@code put}.
     */
    KEY_ORDER,
    /**
     * A value is longer than {@link Database#MAX_VALUE_BYTES}, or too long for an array: read it as
     * a stream.
     */
    VALUE_LENGTH,
    /** A {@link Sequence} has reached the end of its range: create another one. */
    SEQUENCE_EXHAUSTED,
    /**
     * The process cannot have as much memory as {@link DatabaseOptions#poolBytes} asks for: choose
     * a smaller pool.
     */
    POOL_TOO_LARGE,
    /** All pages of the pool are in use at the same time: choose a larger pool. */
    POOL_TOO_SMALL
  }

  /** What was refused. */
  private final Reason reason;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param reason what was refused
   * @param message what happened, and what to do
   */
  public LimitException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * An exception with a cause. Public, so that tests of applications can make one.
   *
   * @param reason what was refused
   * @param message what happened, and what to do
   * @param cause why
   */
  public LimitException(Reason reason, String message, Throwable cause) {
    super(message, cause);
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
    return new LimitException(reason, message());
  }
}
