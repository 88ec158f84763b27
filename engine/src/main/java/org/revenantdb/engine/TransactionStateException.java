package org.revenantdb.engine;

/**
 * A transaction is in a state that does not allow the call; {@link #reason} has the state.
 *
 * <p>The call has changed nothing.
 */
public final class TransactionStateException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** What was refused. */
  public enum Reason {
    /** The transaction was committed or rolled back: begin another. */
    FINISHED,
    /** An earlier failure allows only a rollback: roll back, and begin another. */
    ROLLBACK_ONLY,
    /**
     * The transaction is prepared: commit it or roll it back by its name, with the methods of
     * {@link Database}.
     */
    PREPARED,
    /**
     * Two threads used the transaction at the same time. It can be handed over, but one thread at a
     * time may use it.
     */
    IN_USE,
    /**
     * The transaction was begun with {@link TransactionOptions#withReadOnly} and refuses to write.
     * It stays open.
     */
    READ_ONLY,
    /**
     * The transaction cannot be prepared: the name is in use, too many are prepared, it has changed
     * tables, or it has an action of {@link Transaction#beforeCommit}. It stays open.
     */
    NOT_PREPARABLE
  }

  /** What was refused. */
  private final Reason reason;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param reason what was refused
   * @param message what happened, and what to do
   */
  public TransactionStateException(Reason reason, String message) {
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
    return new TransactionStateException(reason, message());
  }
}
