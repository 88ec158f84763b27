package org.revenantdb.engine.session;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.recovery.restart.PreparedTransaction;

/**
 * How a transaction is prepared: it ends without an outcome, and keeps its rows until it is decided
 * by its name.
 *
 * <p>Threads: the thread of the transaction, outside of the transaction and of the gate, with
 * nothing latched.
 *
 * <p>Failure: a failure before the record leaves the transaction open. If a restart may find the
 * record nevertheless, the transaction has ended, and the caller learns that it is unknown whether
 * it is prepared.
 */
final class PreparePath {
  /*
   * Protocol    docs/protocols.md §29, with the crash table. The list is PreparedTransactions.
   *
   * Steps       1  enter, validate, gate: as a commit (CommitPath, 1 to 3)
   *             2  the tables that it has written to are listed; a transaction that has changed tables is refused
   *             3  under the lock of the list: into the list, the gate of the certifier, PREPARE published, state PREPARED
   *             4  snapshot, writer and tables are given back; the id stays active
   *             5  the log is forced. The caller learns of the preparation only then, lazy or not.
   *             A transaction that has written nothing commits instead; there is nothing to decide.
   *
   * A failure   of the publication, if the log has stopped for that: as of a commit (CommitPath, 6). The transaction is
   *             rolled back in memory, where nothing else is read any more.
   *
   * A crash     before PREPARE is durable leaves a transaction without outcome, which the restart aborts; behind it a
   *             prepared one
   */
  private PreparePath() {}

  /** As {@link TransactionCore#prepare}. */
  static boolean prepare(TransactionCore core, byte[] name) {
    core.enterAlone();
    try {
      CommitPath.runValidated(core, (own, validated) -> publish(own, validated, name));
    } catch (ConflictException told) {
      core.awaitAnswer();
      throw told;
    } catch (TransactionStateException told) {
      if (told.reason() == TransactionStateException.Reason.NOT_PREPARABLE) {
        Engine engine = core.engine();
        // A crash must not undo that the name is in use.
        engine.awaitDurable(engine.prepared().lastLsn());
      }
      throw told;
    } finally {
      core.leaveAlone();
    }
    if (core.id() == 0) {
      core.awaitWitnessed(); // a lazy transaction, too: others decide by this answer
      return false;
    }
    DurableOutcome.await(core);
    return true;
  }

  private static void publish(
      TransactionCore core, Certifier.@Nullable Validated validated, byte[] name) {
    if (core.id() == 0) {
      CommitPath.publishCommit(core, validated);
      return;
    }
    OwnTables own = core.ownTables();
    if (own != null && !own.isEmpty()) {
      throw new TransactionStateException(
          TransactionStateException.Reason.NOT_PREPARABLE,
          "the transaction has created, dropped or truncated tables, and cannot be prepared: commit it, or do that"
              + " in another transaction");
    }
    PreparedTransaction prepared = new PreparedTransaction(core.id(), name, tables(core));
    try {
      core.setCommittedAtRelease(
          core.engine()
              .prepared()
              .prepare(
                  prepared, record -> publishInOrder(core, validated, record), core::setPrepared));
    } catch (OutcomeUnknownException unknown) {
      RollbackPath.abortUnlogged(core);
      TransactionEnd.end(core, TransactionState.State.ROLLED_BACK);
      throw unknown;
    } finally {
      if (core.state() == TransactionState.State.PREPARED) {
        TransactionEnd.end(core, TransactionState.State.PREPARED);
      }
    }
  }

  private static int[] tables(TransactionCore core) {
    List<Integer> tables = new ArrayList<>();
    Holds holds = core.holds();
    if (holds != null) {
      holds.forEach(table -> tables.add(TableState.of((Table) table).newest().id()));
    }
    return tables.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Publishes PREPARE in its place among commits: it counts as one of them. */
  private static long publishInOrder(
      TransactionCore core, Certifier.@Nullable Validated validated, LongSupplier record) {
    Certifier certifier = core.engine().certifier();
    long pass = validated == null ? certifier.enterAlways() : SerialCommit.enter(core, validated);
    try {
      LongFunction<Commit> rows = at -> SerialCommit.written(core, at);
      long lsn = publish(core, record);
      certifier.committed(pass, rows, lsn);
      return lsn;
    } finally {
      certifier.leave(pass);
    }
  }

  private static long publish(TransactionCore core, LongSupplier record) {
    try {
      return record.getAsLong();
    } catch (Throwable failure) {
      if (DurableOutcome.isPerhapsInLog(core.engine().storage().log(), failure)) {
        throw DurableOutcome.unknown(core, failure);
      }
      throw failure;
    }
  }
}
