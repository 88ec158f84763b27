package org.revenantdb.engine.session;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.version.RowConflict;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * One statement that writes rows of a table, from entering the transaction to its answer: it is
 * repeated until it has its rows, or cannot have one of them.
 *
 * <p>Threads: the thread of the transaction, outside of the transaction and of the gate, with
 * nothing latched.
 */
final class WriteStatement {
  /*
   * Protocol    docs/protocols.md §32 (waits), §33 (read committed), §14 (answers).
   *
   * Steps       1  the statement runs inside the gate. Without a conflict it is done.
   *             2  the row was committed since, and the transaction reads committed: a new snapshot, step 1 again
   *             3  the row was committed since, or there is no lock timeout: ConflictException
   *             4  the first conflict with an open transaction: what happens to rows is noticed from now on, then
   *                step 1 again, as the row may have been given back before that
   *             5  each later one: the thread sleeps until the row may be free, then step 1 again
   *             6  the answer leaves when it is durable
   *
   * Heirs       other transactions may sleep behind this one for a row that it wanted and did not get. It passes them
   *             on; an attempt of Database.run keeps them for the next attempt (Retry).
   *
   * Cost        without a conflict: step 1, one test of its outcome, and one load for the answer
   */
  private WriteStatement() {}

  /** As {@link TransactionCore#write}. */
  static RowWriter.Outcome run(
      TransactionCore core,
      Table table,
      @Nullable RowConflict met,
      Function<RowWriter, RowWriter.Outcome> statement,
      TransactionCore.Renewal renewal) {
    core.enterAlone();
    try {
      RowWriter.Outcome outcome;
      try {
        outcome = writeOrWait(core, table, met, statement, renewal);
        PreparedWait.awaitPassed(core);
      } catch (ConflictException | CatalogException told) {
        core.awaitAnswer();
        throw told;
      }
      core.awaitAnswer();
      return outcome;
    } finally {
      core.leaveAlone();
    }
  }

  private static RowWriter.Outcome writeOrWait(
      TransactionCore core,
      Table table,
      @Nullable RowConflict met,
      Function<RowWriter, RowWriter.Outcome> statement,
      TransactionCore.Renewal renewal) {
    RowWait wait = null;
    while (true) {
      long seen = core.isAttempt() ? rowWaiters(core).givenBack() : 0;
      RowWriter.Outcome outcome = tryToWrite(core, table, met, statement);
      RowConflict conflict = core.lastConflict();
      if (outcome != RowWriter.Outcome.CONFLICT || conflict == null) {
        if (wait != null && (met != null || outcome != RowWriter.Outcome.DONE)) {
          passOn(core, wait); // it was woken for a row that it has not taken
        }
        return outcome;
      }
      if (conflict.conflictLsn() != 0 && core.readsCommitted()) {
        renew(core, renewal);
      } else if (conflict.conflictLsn() != 0 || !core.waitsForRows()) {
        throw refused(core, table, conflict, wait, seen);
      } else if (wait == null) {
        RowConflicts.demandForeign(core, conflict, table);
        wait = new RowWait(core, table, core.lockTimeout());
      } else {
        await(core, conflict, wait);
      }
      if (wait != null) {
        wait.beforeLook();
      }
    }
  }

  private static RowWriter.Outcome tryToWrite(
      TransactionCore core,
      Table table,
      @Nullable RowConflict met,
      Function<RowWriter, RowWriter.Outcome> statement) {
    core.checkOpen();
    core.lastConflict(null);
    Engine engine = core.engine();
    int stripe = engine.gate().enter();
    try {
      RowWriter current = core.writer(table);
      RowWriter.Outcome outcome = statement.apply(current);
      if (outcome == RowWriter.Outcome.CONFLICT) {
        // A copy: outside of the gate the writer may belong to another transaction.
        core.lastConflict(MetRow.of(met == null ? current : met));
      }
      return outcome;
    } catch (LogStoppedException e) {
      throw Engine.stopped(e);
    } finally {
      engine.gate().exit(stripe);
    }
  }

  /** Takes a new snapshot, in which the statement repeats the reads that it depends on. */
  private static void renew(TransactionCore core, TransactionCore.Renewal renewal) {
    core.insideGate(() -> {
      core.advance();
      renewal.run();
      return null;
    });
  }

  private static void await(TransactionCore core, RowConflict conflict, RowWait wait) {
    try {
      wait.await(conflict);
    } catch (ConflictException told) {
      lost(core, conflict, wait);
      throw told;
    }
  }

  private static ConflictException refused(
      TransactionCore core, Table table, RowConflict conflict, @Nullable RowWait wait, long seen) {
    lost(core, conflict, wait);
    if (conflict.conflictLsn() == 0) {
      RowConflicts.demandForeign(core, conflict, table);
    }
    ConflictException told = RowConflicts.conflict(core, conflict, table);
    if (core.isAttempt()) {
      ApiAccess.api().lost(told, RowConflicts.lostRow(conflict, table, seen));
    }
    return told;
  }

  /** Handles a row that the transaction has not got: others may sleep behind it for that row. */
  private static void lost(TransactionCore core, RowConflict conflict, @Nullable RowWait wait) {
    if (core.isAttempt()) {
      core.contested(new Row(conflict.conflictTree(), conflict.conflictKey()));
    } else if (wait != null) {
      passOn(core, wait);
    }
  }

  private static void passOn(TransactionCore core, RowWait wait) {
    Row row = wait.row();
    if (row != null) {
      rowWaiters(core).passOn(core.id(), row);
    }
  }

  private static RowWaiters rowWaiters(TransactionCore core) {
    return core.engine().storage().transactions().rowWaiters();
  }

  /** A row of another transaction, as the statement met it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record MetRow(
      long conflictingWriter, long conflictLsn, int conflictTree, byte[] conflictKey)
      implements RowConflict {
    static MetRow of(RowConflict met) {
      return new MetRow(
          met.conflictingWriter(), met.conflictLsn(), met.conflictTree(), met.conflictKey());
    }
  }
}
