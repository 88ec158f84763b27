package org.revenantdb.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.session.LostRow;
import org.revenantdb.engine.session.TransactionCore;

/**
 * A conflict with another transaction; {@link #reason} has its kind.
 *
 * <p>A statement that throws this has changed nothing, and the transaction stays open. {@link
 * Transaction#deleteRange} and {@link BulkLoad} describe their exceptions to that. A commit that
 * throws this has not been made, and the transaction can only be rolled back.
 *
 * <p>Roll back and repeat the transaction, as {@link Database#run} does. If {@code run} gives up,
 * the message has the number of attempts, their duration, and the conflicts that they met.
 *
 * <p>If the same thread has the other transaction open, another attempt would fail as well. The
 * message says so, and {@code run} does not repeat.
 */
public final class ConflictException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  private final ConflictReason reason;

  /** The id of the open transaction that has written the row; 0 for other conflicts. */
  private final long holder;

  /** What the caller can do; replaced when {@link Database#run} gives up. */
  private String cure;

  /** The open transaction of the same thread that causes the conflict; null if there is none. */
  private transient @Nullable TransactionCore ownThreads;

  /** Whether that transaction is the only cause. */
  private transient boolean isOwnAlone;

  /** The row of the conflict; null for another kind of conflict, or outside of an attempt. */
  private transient @Nullable LostRow lost;

  /** Whether the statement wanted to lock the row. */
  private transient boolean isOfLock;

  /**
   * A conflict.
   *
   * @param message what happened
   * @param cure what to do; empty if the message says it
   * @param holder id of the open transaction that has written the row; 0 for other conflicts
   */
  ConflictException(ConflictReason reason, String message, String cure, long holder) {
    super(message);
    this.reason = reason;
    this.cure = cure;
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
    return cure.isEmpty() ? super.getMessage() : super.getMessage() + "; " + cure;
  }

  /**
   * Sets the attempts of {@link Database#run}, which gives up with this conflict, and what to do
   * now.
   */
  void gaveUp(String attempts) {
    cure = attempts;
  }

  /** Whether another conflict has the same reason and the same other transaction, if any. */
  boolean isAs(ConflictException other) {
    return reason == other.reason && holder == other.holder;
  }

  /**
   * Records that a transaction of the same thread causes the conflict.
   *
   * @param isAlone whether it is the only cause, so that another attempt would fail as well
   */
  void isBecauseOf(@Nullable TransactionCore core, boolean isAlone) {
    ownThreads = core;
    isOwnAlone = isAlone;
  }

  /** Sets the row of the conflict. */
  void lost(@Nullable LostRow row) {
    lost = row;
  }

  /** The row of the conflict; null for another kind of conflict, or outside of an attempt. */
  @Nullable LostRow lost() {
    return lost;
  }

  /**
   * Records that the statement wanted to lock the row. Rows that are locked may be held for long.
   */
  void isOfLock() {
    isOfLock = true;
  }

  /**
   * Whether the other transaction may hold the row for long: it was to be locked, or was waited
   * for.
   */
  boolean isOfLongUse() {
    return isOfLock || reason == ConflictReason.DEADLOCK;
  }

  /**
   * Whether another attempt may succeed.
   *
   * @param attempt the transaction that is about to be rolled back
   */
  @SuppressWarnings("ReferenceEquality") // identity is meant
  boolean isWorthAnotherAttempt(TransactionCore attempt) {
    if (reason == ConflictReason.LOCK_TIMEOUT) {
      return false; // a timeout is the longest time that the user wants to wait
    }
    TransactionCore own = ownThreads;
    if (own == null) {
      return true;
    }
    return own == attempt ? !isOwnAlone : !own.isOpen();
  }

  @Override
  RevenantException copy() {
    return copied(said(), cure, holder);
  }

  private ConflictException copied(String said, String ownCure, long ownHolder) {
    ConflictException copy = new ConflictException(reason, said, ownCure, ownHolder);
    copy.ownThreads = ownThreads;
    copy.isOwnAlone = isOwnAlone;
    copy.lost = lost;
    copy.isOfLock = isOfLock;
    return copy;
  }

  /** What happened, without the cure. */
  private String said() {
    return Objects.requireNonNull(super.getMessage());
  }
}
