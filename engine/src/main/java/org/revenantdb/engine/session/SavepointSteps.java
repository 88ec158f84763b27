package org.revenantdb.engine.session;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.version.RowWriter;

/**
 * The operations on savepoints of a transaction: set, release, roll back.
 *
 * <p>Threads: the thread of the transaction. {@link #goBack} is called outside of the transaction
 * and of the gate, everything else inside.
 */
final class SavepointSteps {
  /*
   * Protocol    docs/protocols.md §28. What is overwritten is kept by the writer, which there is from the first write
   *             on; a savepoint before that is a mark in the transaction, and the writer keeps all from its beginning.
   *
   * Going back  each row gets back what it had, in records of the same transaction. Transactions that sleep for one of
   *             the rows are woken in any case, as some may have been given back when it fails.
   *
   * Spoilt      a statement behind the savepoint that failed half way is undone, too. If going back fails itself, the
   *             transaction can only be rolled back.
   *
   * A crash     leaves a transaction without outcome, as in the middle of any other: the restart aborts it
   */
  private SavepointSteps() {}

  /** Sets a savepoint; returns how many versions were overwritten so far. */
  static int set(TransactionCore core) {
    core.hasSavepoint(true);
    RowWriter current = core.usedWriter();
    return current == null ? 0 : current.history().savepoint();
  }

  /** Called when there is no savepoint any more: overwritten versions need not be kept. */
  static @Nullable Void release(TransactionCore core) {
    core.hasSavepoint(false);
    RowWriter current = core.usedWriter();
    if (current != null) {
      current.history().noSavepoint();
    }
    return null;
  }

  /** Restores all rows to the state in which this many versions had been overwritten. */
  static void goBack(TransactionCore core, int savepoint) {
    core.enterAlone();
    try {
      String before = core.spoilt();
      core.spoilt(null); // by a statement behind the savepoint
      try {
        core.insideGate(() -> goBackInside(core, savepoint));
      } catch (Throwable failure) {
        core.spoil(before == null ? "a rollback to a savepoint failed half way" : before);
        throw failure;
      }
    } finally {
      core.leaveAlone();
    }
  }

  private static @Nullable Void goBackInside(TransactionCore core, int savepoint) {
    RowWriter current = core.usedWriter();
    if (current != null) {
      core.countWrite();
      try {
        current.goBackTo(savepoint, core.id(), core.snapshot());
      } finally {
        core.engine().storage().transactions().rowWaiters().gaveBack(core.id());
      }
    }
    return null;
  }
}
