package org.revenantdb.engine.session;

import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.LeakedTransaction;
import org.revenantdb.engine.change.ChangeSteps;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * How a transaction is rolled back: by its user, by the end of the database, or since its user has
 * forgotten it.
 *
 * <p>Threads: a thread that is inside the transaction, or the thread that closes the database.
 *
 * <p>Failure: a rollback always succeeds in memory. Rows that cannot be put back now are left to
 * the cleaner (R25).
 */
final class RollbackPath {
  /*
   * Protocol    docs/protocols.md §7, §27 (rows that are put back), §31 (tables).
   *
   * Steps       1  enter      transaction and gate; nothing happens if the transaction has ended
   *             2  put back   a transaction that has written few rows, and has changed no tables: each row gets its
   *                           committed version and its writer, then FORGET is published, then its word is ABORTED
   *             3  abort      every other one, and one that step 2 has failed for: id in the aborted map (ATM), then
   *                           ABORT published, then its word is ABORTED (R1). Rows stay as they are, for the cleaner:
   *                           constant time.
   *             4  end        state; snapshot, reads, writer, heirs and turn are given back (TransactionEnd)
   *             5  tables     changed ones are rolled back through the SLog; others may write to those it held
   *             6  cleaner    is notified that there is work
   *             A transaction without an id has written nothing: 2 and 3 have nothing to do.
   *
   * Order       ATM before ABORTED: a look-up asks the table, then the ATM, else it takes the id for committed. So the id
   *             is in one of the two at each moment. FORGET before ABORTED: all rows have their former writer by
   *             then, so no look-up meets the id any more.
   *
   * A failure   in 2: the rest goes the way of 3. Rows that were put back are no longer the transaction's.
   *             in 3, the record: without it the restart finds no outcome, and aborts. The word becomes ABORTED all the
   *             same, as no thread may wait for it for ever.
   *             in 3, the ATM: the id would count as committed once the table forgets it, so the engine stops.
   *
   * A crash     before FORGET or ABORT is durable: no outcome in the log, so the restart aborts it; rows that were not
   *             put back are the cleaner's.
   *             behind FORGET: nothing of it is left. Behind ABORT: the id is in the ATM of the next life.
   */
  private RollbackPath() {}

  /** Loads the class, so that this cannot fail while a transaction ends. */
  static void load() {}

  /**
   * Rolls back; no effect if the transaction has ended.
   *
   * @param putsBack whether this thread may put rows back, because it is the transaction's thread
   */
  static void rollback(TransactionCore core, boolean putsBack) {
    core.enterAlone(); // 1
    try {
      if (core.isOpen()) {
        OperationGate gate = core.engine().gate();
        int stripe = gate.enter();
        try {
          abort(core, TransactionState.State.ROLLED_BACK, putsBack);
        } finally {
          gate.exit(stripe);
        }
      }
    } finally {
      core.leaveAlone();
    }
  }

  /** Called at the end of the database: no thread is inside it. */
  static void databaseCloses(TransactionCore core) {
    if (core.isOpen()) {
      abort(core, TransactionState.State.CLOSED, /* putsBack= */ false);
    }
  }

  /** Called when the user has leaked the transaction: no thread can be inside it any more. */
  static void forgotten(TransactionCore core) {
    if (!core.isOpen()) {
      return;
    }
    try {
      rollback(core, /* putsBack= */ false); // this thread serves all databases
    } catch (DatabaseClosedException e) {
      return;
    }
    core.engine()
        .options()
        .leakListener()
        .accept(new LeakedTransaction(core.id(), core.name(), core.begun()));
  }

  /** Steps 2 to 6. */
  private static void abort(TransactionCore core, TransactionState.State end, boolean putsBack) {
    OwnTables own = core.ownTables();
    boolean hasSteps = own != null && !own.isEmpty();
    boolean isAborted = false;
    try {
      isAborted = core.id() == 0 || (putsBack && !hasSteps && hasPutBack(core)); // 2
    } finally {
      if (!isAborted) {
        abortForCleaner(core); // 3
      }
      try {
        TransactionEnd.end(core, end); // 4
      } finally {
        if (own != null && hasSteps) {
          core.engine().tables().rollBack(own, core.id()); // 5
        } else {
          TransactionEnd.endTables(own);
        }
        core.engine().pokeCleaner(); // 6
      }
    }
  }

  /** Step 2. Returns whether all rows were put back, and that is in the log. */
  private static boolean hasPutBack(TransactionCore core) {
    RowWriter used = core.usedWriter();
    Engine engine = core.engine();
    try {
      if (used == null || !used.history().putBack(core.id())) {
        return false;
      }
      engine.storage().log().publish(ForgottenIds.build(new RecordBuilder(), core.id()));
    } catch (FileException | LogStoppedException | VirtualMachineError failure) {
      return false; // a page that cannot be read, a log that has stopped, no memory
    }
    engine.storage().transactions().aborted(core.id());
    return true;
  }

  /** Step 3. */
  private static void abortForCleaner(TransactionCore core) {
    TransactionTable table = core.engine().storage().transactions();
    Journal log = core.engine().storage().log();
    long id = core.id();
    try {
      addToAborted(table, log, id);
      log.publish(core.bareRecord().begin(RecordType.ABORT, id));
    } catch (LogStoppedException | VirtualMachineError e) {
      // without the record it has no outcome at the restart, and is also aborted
    } finally {
      table.aborted(id);
    }
  }

  /**
   * Step 3 without a record, for a transaction whose outcome could not be published. Throws
   * nothing, because the rest of its end has to follow.
   */
  static void abortUnlogged(TransactionCore core) {
    TransactionTable table = core.engine().storage().transactions();
    try {
      addToAborted(table, core.engine().storage().log(), core.id());
    } catch (Throwable noMemory) {
      // The log has stopped with that cause.
    } finally {
      table.aborted(core.id());
    }
  }

  private static void addToAborted(TransactionTable table, Journal log, long id) {
    try {
      log.steps().at(ChangeSteps.Step.ABORTING);
      table.aborted().add(id);
    } catch (Throwable noMemory) {
      log.fail(noMemory);
      throw noMemory;
    }
  }
}
