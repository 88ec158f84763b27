package org.revenantdb.engine.session;

import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.session.OpenTransactions.Holder;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.version.RowConflict;

/**
 * Makes the exception of a statement about a row that it cannot have, with its reason, its row and
 * its cure.
 *
 * <p>Threads: the thread of the transaction, outside of the gate, with nothing latched.
 */
final class RowConflicts {
  private RowConflicts() {}

  /**
   * The exception for a row that an open transaction is changing, or a committed one has changed.
   */
  static ConflictException conflict(TransactionCore core, RowConflict met, Table table) {
    long committedAt = met.conflictLsn();
    boolean committed = committedAt != 0;
    core.witness().saw(committedAt);
    return ApiAccess.api()
        .conflict(
            committed ? ConflictReason.ROW_CHANGED : ConflictReason.ROW_IN_USE,
            (met.conflictingWriter() == 0
                    ? "another transaction"
                    : committed
                        ? "transaction " + met.conflictingWriter()
                        : core.engine().open().described(met.conflictingWriter()))
                + (committed ? " changed and committed" : " is changing")
                + " row "
                + KeyText.of(met.conflictKey())
                + " of table "
                + table.name()
                + (committed ? " after this transaction began" : ""),
            core.cure(),
            committed ? 0 : met.conflictingWriter());
  }

  /**
   * Refuses a row of a transaction that the calling thread itself has open. Waiting would not help
   * until that transaction ends, and another attempt would meet the same conflict (protocols.md
   * §32).
   */
  static void demandForeign(TransactionCore core, RowConflict met, Table table) {
    TransactionCore own = core.engine().open().ofThisThread(met.conflictingWriter());
    if (own == null) {
      return;
    }
    String what =
        Holder.of(own).described()
            + " is changing row "
            + KeyText.of(met.conflictKey())
            + " of table "
            + table.name()
            + ", and this thread has that transaction open, so "
            + (core.id() == 0 ? "this one" : Holder.of(core).described())
            + " would wait for itself";
    ConflictException told =
        core.waitsForRows()
            ? ApiAccess.api().deadlock(what, TransactionCore.OWN_CURE, met.conflictingWriter())
            : ApiAccess.api()
                .conflict(
                    ConflictReason.ROW_IN_USE,
                    what,
                    TransactionCore.OWN_CURE,
                    met.conflictingWriter());
    ApiAccess.api().isBecauseOf(told, own, /* isAlone= */ true);
    throw told;
  }

  /**
   * The row, for the retry of an attempt.
   *
   * @param seen how often a row had been given back before the statement read the row
   */
  static LostRow lostRow(RowConflict met, Table table, long seen) {
    Row row = new Row(met.conflictTree(), met.conflictKey());
    return new LostRow(table, row, met.conflictLsn() == 0 ? met.conflictingWriter() : 0, seen);
  }
}
