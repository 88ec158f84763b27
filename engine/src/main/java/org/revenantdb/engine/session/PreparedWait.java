package org.revenantdb.engine.session;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The wait of a serializable transaction for prepared transactions whose rows it skipped.
 *
 * <p>A prepared transaction counts as committed for a serializable one. So the answer leaves only
 * if the prepared transaction was rolled back, and is a conflict otherwise.
 *
 * <p>Threads: the thread that is inside the transaction, outside of the gate, with nothing latched.
 */
final class PreparedWait {
  /*
   * Protocol    docs/protocols.md §34.
   *
   * Steps       for each prepared transaction that was passed over, while it has no outcome:
   *             1  no lock timeout, or it is over: conflict
   *             2  the database is closed, or the log has stopped: refused
   *             3  the count of rows given back is read, then the outcome again, then the thread sleeps. An outcome
   *                behind the second look changes the count, or wakes the thread.
   *             Then: committed is a conflict, which depends on that commit; rolled back is fine, and depends on the
   *             record that rolled it back (R10).
   */
  private PreparedWait() {}

  /** Waits until all skipped transactions have an outcome. */
  static void awaitPassed(TransactionCore core) {
    if (core.reading().hasPassedPrepared()) {
      awaitAll(core);
    }
  }

  private static void awaitAll(TransactionCore core) {
    core.reading().takePrepared().forEach((writer, outcome) -> await(core, writer, outcome));
    core.witness().saw(core.engine().prepared().lastLsn()); // the result depends on their rollback
  }

  private static void await(TransactionCore core, long writer, LongSupplier outcome) {
    Duration timeout = core.lockTimeout();
    long deadline = System.nanoTime() + timeout.toNanos();
    RowWaiters waiters = core.engine().storage().transactions().rowWaiters();
    Row own = Row.ofNobody(core.slot()); // so that no other transaction inherits the wait
    while (outcome.getAsLong() == TransactionTable.ACTIVE) {
      demandTime(writer, timeout, deadline);
      demandRunning(core);
      long seen = waiters.givenBack();
      if (outcome.getAsLong() == TransactionTable.ACTIVE) {
        waiters.sleep(new RowWaiter(core.id(), writer, own), seen, deadline);
      }
    }
    if (outcome.getAsLong() != TransactionTable.ABORTED) {
      core.witness().saw(outcome.getAsLong());
      throw ApiAccess.api()
          .serializationConflict(
              "transaction "
                  + writer
                  + ", which had been prepared, has committed a change of a row that this transaction was about to read in its"
                  + " earlier version",
              core.cure());
    }
  }

  private static void demandTime(long writer, Duration timeout, long deadline) {
    if (timeout.isZero()) {
      throw ApiAccess.api()
          .conflict(
              ConflictReason.ROW_IN_USE,
              "transaction "
                  + writer
                  + " is prepared and counts as committed, so a serializable transaction cannot read the earlier"
                  + " version of a row that it has changed",
              "commit it or roll it back (Database.preparedTransactions lists it), or set a lock timeout to wait for it",
              writer);
    }
    if (deadline - System.nanoTime() <= 0) {
      throw ApiAccess.api()
          .lockTimeout(
              "transaction "
                  + writer
                  + " is prepared, and was neither committed nor rolled back within the lock timeout of "
                  + timeout
                  + "; this serializable transaction needs a row that it has changed");
    }
  }

  /** Refuses the wait if the database is closed, or if an outcome cannot come any more. */
  private static void demandRunning(TransactionCore core) {
    core.insideGate(() -> {
      Throwable failure = core.engine().storage().log().failure();
      if (failure != null) {
        throw new LogStoppedException(failure);
      }
      return null;
    });
  }
}
