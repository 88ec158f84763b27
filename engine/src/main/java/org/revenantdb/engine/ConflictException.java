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
 * the message has the number of attempts, how long they took, and what each of them met.
 *
 * <p>If the same thread has the other transaction open, another attempt would fail as well. The
 * message says so, and {@code run} does not repeat.
 */
public final class ConflictException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  private final ConflictReason reason;

  /** The id of the transaction that has the row, and has not ended; 0 if it is no such conflict. */
  private final long holder;

  /** What to do, for who catches it; replaced when {@link Database#run} gives up. */
  private String cure;

  /** A transaction that the same thread has open and that is in the way; null if there is none. */
  private transient @Nullable TransactionCore ownThreads;

  /** Whether nobody but that transaction is in the way. */
  private transient boolean isOwnAlone;

  /** The row that was lost; null if it is another kind of conflict, or not told to an attempt. */
  private transient @Nullable LostRow lost;

  /** Whether the row was to be locked. */
  private transient boolean isOfLock;

  /**
   * A conflict.
   *
   * @param message what happened
   * @param cure what to do; empty if the message says it
   * @param holder id of the open transaction that has the row; 0 if it is no such conflict
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

  /** {@link Database#run} gives up with it after several attempts: that, and what to do now. */
  void gaveUp(String attempts) {
    cure = attempts;
  }

  /** Whether another one has the same reason, and was met with the same transaction, if any. */
  boolean isAs(ConflictException other) {
    return reason == other.reason && holder == other.holder;
  }

  /**
   * A transaction of the same thread is in the way.
   *
   * @param isAlone whether nobody else is: to roll back and try again meets it again
   */
  void isBecauseOf(@Nullable TransactionCore core, boolean isAlone) {
    ownThreads = core;
    isOwnAlone = isAlone;
  }

  /** The row that was lost. */
  void lost(@Nullable LostRow row) {
    lost = row;
  }

  /** The row that was lost; null if it is another kind of conflict, or not told to an attempt. */
  @Nullable LostRow lost() {
    return lost;
  }

  /** The row was to be locked, which is done where others may have it for long. */
  void isOfLock() {
    isOfLock = true;
  }

  /** Whether who has the row may have it for long: it was to be locked, or was waited for. */
  boolean isOfLongUse() {
    return isOfLock || reason == ConflictReason.DEADLOCK;
  }

  /**
   * Whether another attempt may come to more than this one.
   *
   * @param attempt what is about to be rolled back
   */
  @SuppressWarnings("ReferenceEquality") // which transaction it is
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
