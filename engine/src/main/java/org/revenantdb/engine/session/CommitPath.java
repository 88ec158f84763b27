package org.revenantdb.engine.session;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.change.ChangeSteps;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.flight.FlightEvents;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordType;

/**
 * How a transaction commits: one record in the log, and what surrounds it.
 *
 * <p>Threads: the thread of the transaction, outside of the transaction and of the gate, with
 * nothing latched.
 *
 * <p>Failure: a conflict, or a failure before the publication, leaves the transaction open. A
 * failure of the publication has rolled it back. Once the record is published the transaction is
 * committed, and a failure in memory stops the engine.
 */
final class CommitPath {
  /*
   * Protocol    docs/protocols.md §7 (words of the table), §14 (durability), §34 (serializable).
   *
   * Steps       0  last       only if the transaction has actions of beforeCommit: the lock of the order is taken. If the
   *                           transaction is open, the actions run, which may write. The lock is given back behind step
   *                           9 (§53).
   *             1  enter      one thread is inside the transaction; its stack is sufficient
   *             2  validate   serializable, outside of the gate: nothing that it has read was changed (SerialCommit)
   *             3  gate       the transaction is open, and the database is until step 9
   *             4  order      while there are serializable transactions: the gate of the certifier
   *             5  mark       COMMITTING in the table: a reader that meets the id waits for the outcome from now on
   *             6  publish    COMMIT has its place in the log. It is the commit: snapshots behind it include it.
   *             7  show       COMMITTED(lsn) in the table: the waiting readers go on; the certifier receives the rows
   *             8  end        state COMMITTED; snapshot, writer and tables are given back (TransactionEnd)
   *             9  leave      the gate of the certifier, the gate, the transaction
   *             10 durable    durable: wait until the log is forced behind the record. It is acknowledged only then.
   *                           lazy: acknowledged when no record before it is missing, so that a killed process leaves
   *                           it (§46); forced within a time
   *             A transaction that has written nothing has no id: of 4 to 8 it needs the end alone. If it was validated,
   *             it takes its place in the order for that, so that all its answers are true at one moment.
   *             A transaction that has changed tables takes steps 4 to 8 with the catalogue locked (TableSteps).
   *
   * Order of gates   lock of the order, gate, lock of the catalogue, gate of the certifier. Mark comes behind the last: a
   *             transaction that turns the certifier on waits for all that are marked. A transaction that finds it on
   *             only after it was marked takes the mark back, enters, and marks again.
   *
   * Lock of the order   its holder does not wait for rows of open transactions. The owner of a row may need the lock for
   *             its own commit, so a write of step 0 that meets such a row is a conflict at once, whatever the lock
   *             timeout is. Steps 1 to 9 do not wait for the disk: a conflict waits for it when the lock is given back.
   *
   * Ordering    committedAt is stored before the state COMMITTED, which says to other threads that it is there
   *             (TransactionState, Ordering).
   *
   * Memory      what has to be allocated is allocated before step 6; from there to the end nothing is (R18)
   *
   * A failure   in 6: nothing is in the log. The id goes to the aborted map, its word becomes ABORTED, and the
   *             transaction has ended. If the log has stopped for that, a ring in a file may have the record (§46):
   *             memory says ABORTED, as nothing else is read any more, and the caller learns that it is unknown.
   *             in 7: the record is there, and must not be followed by an ABORT. The engine stops, the word becomes
   *             COMMITTED nevertheless, as no thread may wait for it for ever (R18).
   *             in 10: the outcome is unknown until the database has been opened again
   *
   * A crash     before 6, or before its record is durable: no outcome in the log, so the restart aborts it. No
   *             survivor has seen it: a durable reader has waited for this record (R10).
   *             behind that: committed, acknowledged or not
   */
  @SuppressWarnings("UnnecessaryLambda") // made before it is needed
  private static final LongFunction<Commit> NO_ROWS =
      lsn -> new Commit(lsn, List.of(), /* isKnown= */ true, List.of(), List.of());

  private static final Publication COMMIT = CommitPath::publishCommit;

  /** The code that gives a transaction its outcome, inside the gate: steps 4 to 8. */
  @FunctionalInterface
  interface Publication {
    /**
     * Publishes it.
     *
     * @param validated the result of the validation of a serializable transaction; null if its
     *     reads need no validation
     */
    void publish(TransactionCore core, Certifier.@Nullable Validated validated);
  }

  private CommitPath() {}

  /** Loads the class, so that this cannot fail after step 6. */
  static void load() {}

  /** All steps. */
  static void commit(TransactionCore core, @Nullable Runnable last, boolean isReserved) {
    Object event = FlightEvents.beginCommit();
    publish(core, last, isReserved);
    if (core.durability() == Durability.DURABLE) {
      if (core.id() == 0) {
        core.awaitWitnessed();
      } else {
        DurableOutcome.await(core);
      }
    }
    FlightEvents.endCommit(event, core.id(), core.options().name(), core.durability().name());
  }

  /** Steps 0 to 9; if the commit has to be durable, the force is on its way on return. */
  static void commitAsync(TransactionCore core, @Nullable Runnable last) {
    publish(core, last, /* isReserved= */ false);
    if (core.durability() == Durability.DURABLE) {
      core.engine().storage().log().requestFlush(core.committedAt());
    }
  }

  private static void publish(TransactionCore core, @Nullable Runnable last, boolean isReserved) {
    try {
      if (last == null) {
        publishNow(core, isReserved);
      } else {
        publishInOrder(core, last);
      }
    } catch (ConflictException told) {
      core.awaitAnswer(); // behind the lock of the order
      throw told;
    }
    if (core.id() == 0) {
      return;
    }
    Engine engine = core.engine();
    switch (core.durability()) {
      case LAZY -> {
        engine.committedLazily(core.committedAt());
        DurableOutcome.awaitUnbroken(core);
      }
      case DURABLE -> engine.storage().counters().durableCommits.increment();
    }
    engine.pokeCleaner();
  }

  /** Steps 0 to 9. */
  private static void publishInOrder(TransactionCore core, Runnable last) {
    PatientLock order = core.engine().commitOrder();
    order.lock();
    try {
      core.checkOpen();
      core.inLastStep(true);
      try {
        last.run(); // 0
      } finally {
        core.inLastStep(false);
      }
      publishNow(core, /* isReserved= */ false);
    } finally {
      order.unlock();
    }
  }

  /** Steps 1 to 9. */
  private static void publishNow(TransactionCore core, boolean isReserved) {
    if (isReserved) {
      core.enterReserved(); // 1
    } else {
      core.enterAlone(); // 1
    }
    try {
      runValidated(core, COMMIT); // 2 to 8
    } finally {
      core.leaveAlone(); // 9
    }
  }

  /** Steps 2 and 3, around the publication of an outcome. */
  static void runValidated(TransactionCore core, Publication publication) {
    if (core.reads() == null) {
      runInGate(core, publication, null);
    } else {
      SerialCommit.run(core, publication);
    }
  }

  /** Step 3. */
  static void runInGate(
      TransactionCore core, Publication publication, Certifier.@Nullable Validated validated) {
    OperationGate gate = core.engine().gate();
    int stripe = gate.enter();
    try {
      core.checkOpen();
      publication.publish(core, validated);
    } catch (LogStoppedException e) {
      throw Engine.stopped(e);
    } finally {
      gate.exit(stripe);
    }
  }

  /** Steps 4 to 8, for a transaction with or without writes and changed tables. */
  static void publishCommit(TransactionCore core, Certifier.@Nullable Validated validated) {
    if (core.id() == 0) {
      endReading(core, validated);
      return;
    }
    OwnTables own = core.ownTables();
    if (own == null || own.isEmpty()) {
      publishRecord(core, validated);
      TransactionEnd.endTables(own);
    } else {
      core.engine().tables().commit(core, own, () -> publishRecord(core, validated));
    }
  }

  /** The end of a transaction that has written nothing. */
  private static void endReading(TransactionCore core, Certifier.@Nullable Validated validated) {
    if (core.isSerializable()) {
      core.witness()
          .saw(
              core.engine()
                  .prepared()
                  .lastLsn()); // a rollback of a prepared transaction counts, too
    }
    long pass = validated == null ? Certifier.UNGATED : SerialCommit.enter(core, validated); // 4
    try {
      core.setCommittedAtRelease(core.witness().lsn()); // 8
      TransactionEnd.end(core, TransactionState.State.COMMITTED);
    } finally {
      core.engine().certifier().leave(pass);
    }
  }

  /**
   * Steps 4 to 8.
   *
   * @return the LSN of the record
   */
  private static long publishRecord(TransactionCore core, Certifier.@Nullable Validated validated) {
    Engine engine = core.engine();
    TransactionTable table = engine.storage().transactions();
    Journal log = engine.storage().log();
    Certifier certifier = engine.certifier();
    long id = core.id();
    long pass = SerialCommit.enter(core, validated); // 4
    try {
      table.committing(id); // 5
      if (certifier.mustEnter(pass)) {
        // Turned on a moment ago; no thread may wait at the gate while its
        // transaction is committing.
        table.stillActive(id);
        pass = certifier.enterAlways(); // it may be off again, and on a moment later
        table.committing(id);
      }
      LongFunction<Commit> rows;
      long lsn;
      try {
        rows = pass == Certifier.UNGATED ? NO_ROWS : at -> SerialCommit.written(core, at);
        lsn = log.publish(core.bareRecord().begin(RecordType.COMMIT, id)); // 6
      } catch (Throwable failure) {
        boolean isUnknown = DurableOutcome.isPerhapsInLog(log, failure);
        RollbackPath.abortUnlogged(core); // no thread may wait for its outcome any more
        TransactionEnd.end(core, TransactionState.State.ROLLED_BACK);
        if (isUnknown) {
          throw DurableOutcome.unknown(core, failure);
        }
        throw failure;
      }
      try {
        log.steps().at(ChangeSteps.Step.PUBLISHED);
        table.committed(id, lsn); // 7
        if (pass != Certifier.UNGATED) {
          certifier.committed(pass, rows, lsn);
        }
      } catch (Throwable failure) {
        stopCommitted(core, lsn, failure);
        throw failure;
      } finally {
        core.setCommittedAtRelease(lsn); // 8, behind all that it has read
        TransactionEnd.end(core, TransactionState.State.COMMITTED);
      }
      return lsn;
    } finally {
      certifier.leave(pass); // 9
    }
  }

  private static void stopCommitted(TransactionCore core, long lsn, Throwable failure) {
    try {
      core.engine().storage().log().fail(failure);
    } finally {
      core.engine().storage().transactions().committed(core.id(), lsn);
    }
  }
}
