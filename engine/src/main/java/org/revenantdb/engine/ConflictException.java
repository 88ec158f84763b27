package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * Another transaction is in the way. {@link #reason} says how: it has written the row first, and
 * has not ended, or has committed since this one began (first updater wins); it changes the table,
 * or has changed it since; it has committed what a serializable one would have had to see; or to
 * wait for it took too long, or would never end.
 *
 * <p>A statement that throws this has changed nothing, and the transaction goes on, but for what
 * {@link Transaction#deleteRange} and {@link BulkLoad} say of themselves. A commit that does has
 * not been made, and the transaction can only be rolled back. To come to something, roll back and
 * try again, as {@link Database#run} does; what leaves that says in its message, too, how many
 * attempts there were, and what each of them has met.
 */
public sealed class ConflictException extends RevenantException
    permits DeadlockException, LockTimeoutException, SerializationConflictException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  private final ConflictReason reason;

  /** The id of the transaction that has the row, and has not ended; 0 if it is no such conflict. */
  private final long holder;

  /** What became of other attempts; empty if there was none. */
  private String attempts = "";

  ConflictException(ConflictReason reason, String message) {
    this(reason, message, /* holder= */ 0);
  }

  ConflictException(ConflictReason reason, String message, long holder) {
    super(message);
    this.reason = reason;
    this.holder = holder;
  }

  /**
   * Why.
   *
   * @return the kind of conflict
   */
  public ConflictReason reason() {
    return reason;
  }

  @Override
  public @Nullable String getMessage() {
    return super.getMessage() + attempts;
  }

  /** It is what {@link Database#run} gives up with, after several attempts. */
  void gaveUp(Attempts made) {
    attempts += "; gave up after " + made.inWords();
  }

  /** Whether another one has the same reason, and was met with the same transaction, if any. */
  boolean isAs(ConflictException other) {
    return reason == other.reason && holder == other.holder;
  }

  /** Whether another attempt may come to more. */
  boolean isWorthAnotherAttempt() {
    return true;
  }
}
