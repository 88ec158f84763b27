package org.revenantdb.engine.session;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.txn.RowTurns;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * What an attempt of {@link Database#run} takes over from the attempts before it: its number, the
 * last conflict, its turn for the rows, and the heirs.
 *
 * <p>Heirs are transactions that sleep behind this call for a row. They sleep behind the id of the
 * attempt, as soon as it has one (docs/protocols.md §32, §40).
 *
 * <p>Threads: a thread that is inside the transaction, or the thread that closes the database.
 */
final class RepeatedAttempt {
  private final TransactionTable transactions;
  private final int number;
  private final @Nullable ConflictException previousConflict;

  /** It ends with the attempt; null if it has ended. */
  private RowTurns.@Nullable Turn turn;

  /** Null if there are none, or if they have been passed on. */
  private RowWaiters.@Nullable Inheritance heirs;

  RepeatedAttempt(TransactionTable transactions, Retry before) {
    this.transactions = transactions;
    this.number = before.attempts().made() + 1;
    this.previousConflict = before.attempts().last();
    this.turn = before.turn();
  }

  int number() {
    return number;
  }

  @Nullable ConflictException previousConflict() {
    return previousConflict;
  }

  /** Takes the heirs: they sleep behind this attempt from now on. */
  void takeHeirs(Retry before) {
    heirs = before.takeHeirs();
  }

  /** Passes the heirs on; null if there are none. */
  RowWaiters.@Nullable Inheritance giveHeirs() {
    RowWaiters.Inheritance given = heirs;
    heirs = null;
    return given;
  }

  /** Called when the attempt has got its id. */
  void bequeath(long id) {
    RowWaiters.Inheritance given = giveHeirs();
    if (given != null) {
      transactions.rowWaiters().give(given, id);
    }
  }

  /**
   * Called when the attempt has ended: wakes heirs that could not sleep behind its id, and passes
   * on its turn.
   */
  void end() {
    RowWaiters.Inheritance left = giveHeirs();
    if (left != null) {
      transactions.rowWaiters().release(left);
    }
    RowTurns.Turn ended = turn;
    if (ended != null) {
      turn = null;
      transactions.rowTurns().leave(ended);
    }
  }
}
