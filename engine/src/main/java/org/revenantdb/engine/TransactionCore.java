package org.revenantdb.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * A transaction without its face: what has to be ended when the face was forgotten.
 *
 * <p>One thread at a time is inside; a second one is refused.
 */
final class TransactionCore implements Runnable {
  /*
   * State       OPEN -> COMMITTED | ROLLED_BACK (by its user) | CLOSED (rolled back by the end of the database)
   *
   * Commit      id COMMITTING in the table -> COMMIT published -> COMMITTED(lsn) -> snapshot given back -> wait until
   *             durable. It is acknowledged only then; if the log fails first the outcome is unknown.
   * Abort       id in the ATM -> ABORT published -> ABORTED in the table (R1). Rows stay as they are: constant time.
   */
  private enum State {
    OPEN,
    COMMITTED,
    ROLLED_BACK,
    CLOSED
  }

  private final Engine engine;
  private final int slot;
  private final long snapshot;
  private final @Nullable Throwable begun;
  private final AtomicBoolean inUse = new AtomicBoolean();
  private volatile State state = State.OPEN;
  private volatile long id;
  private @Nullable RowWriter writer;

  TransactionCore(Engine engine, int slot, @Nullable Throwable begun) {
    this.engine = engine;
    this.slot = slot;
    this.snapshot = engine.snapshots().snapshot(slot);
    this.begun = begun;
    engine.open().add(this);
  }

  Engine engine() {
    return engine;
  }

  long snapshot() {
    return snapshot;
  }

  /** Its id, 0 while it has not written. */
  long id() {
    return id;
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  /** Runs something inside the transaction and the database. */
  <T extends @Nullable Object> T inside(Supplier<T> action) {
    enterAlone();
    try {
      checkOpen();
      int stripe = engine.gate().enter();
      try {
        return action.get();
      } catch (LogStoppedException e) {
        throw Engine.stopped(e);
      } finally {
        engine.gate().exit(stripe);
      }
    } finally {
      inUse.set(false);
    }
  }

  /** One thread at a time is inside. */
  private void enterAlone() {
    if (!inUse.compareAndSet(false, true)) {
      throw new TransactionInUseException(
          "two threads use this transaction at the same time; hand it over only when the first has left it");
    }
  }

  void checkOpen() {
    switch (state) {
      case OPEN -> {}
      case COMMITTED ->
          throw new TransactionFinishedException(
              "the transaction has been committed; begin another");
      case ROLLED_BACK ->
          throw new TransactionFinishedException(
              "the transaction has been rolled back; begin another");
      case CLOSED ->
          throw new DatabaseClosedException(
              "the database was closed while this transaction was open; it has been rolled back");
    }
  }

  /** The writer of rows; with the first call the transaction gets its id. */
  RowWriter writer() {
    RowWriter current = writer;
    if (current == null) {
      if (engine.options().readOnly()) {
        throw new ReadOnlyDatabaseException(
            "the database was opened read-only; open it for writing");
      }
      current = engine.takeWriter();
      writer = current;
      id = engine.storage().transactions().enter();
    }
    return current;
  }

  /** Commits and waits until that is durable. */
  void commit() {
    long lsn = inside(this::publishCommit);
    if (lsn == 0) {
      return;
    }
    try {
      engine.storage().log().awaitDurable(lsn);
    } catch (org.revenantdb.recovery.log.OutcomeUnknownException | LogStoppedException e) {
      throw new OutcomeUnknownException(
          "the log failed while transaction "
              + id
              + " waited to become durable: its outcome is unknown until the database has been opened again; look for"
              + " its effects before you repeat it ("
              + Engine.why(e)
              + ")",
          e);
    }
    engine.pokeCleaner();
  }

  private long publishCommit() {
    if (id == 0) {
      end(State.COMMITTED);
      return 0;
    }
    TransactionTable table = engine.storage().transactions();
    Journal log = engine.storage().log();
    table.committing(id);
    long lsn;
    try {
      lsn = log.publish(new RecordBuilder().begin(RecordType.COMMIT, id));
    } catch (Throwable failure) {
      // Nothing was published, so it is not committed; and nobody may wait for its outcome.
      table.aborted().add(id);
      table.aborted(id);
      end(State.ROLLED_BACK);
      throw failure;
    }
    table.committed(id, lsn);
    end(State.COMMITTED);
    return lsn;
  }

  /** Rolls back; nothing happens if the transaction has ended. */
  void rollback() {
    enterAlone();
    try {
      if (state == State.OPEN) {
        int stripe = engine.gate().enter();
        try {
          abort(State.ROLLED_BACK);
        } finally {
          engine.gate().exit(stripe);
        }
      }
    } finally {
      inUse.set(false);
    }
  }

  /** The database ends: nobody is inside it. */
  void databaseCloses() {
    if (state == State.OPEN) {
      abort(State.CLOSED);
    }
  }

  private void abort(State end) {
    if (id != 0) {
      TransactionTable table = engine.storage().transactions();
      table.aborted().add(id);
      try {
        engine.storage().log().publish(new RecordBuilder().begin(RecordType.ABORT, id));
      } catch (LogStoppedException e) {
        // Without the record it is undecided after the restart, and so aborted all the same.
      }
      table.aborted(id);
    }
    end(end);
    engine.pokeCleaner();
  }

  private void end(State end) {
    state = end;
    engine.open().remove(this);
    engine.snapshots().close(slot);
    RowWriter used = writer;
    if (used != null) {
      writer = null;
      engine.giveBack(used);
    }
  }

  /** The face was forgotten: called by the runtime, when nobody can be inside any more. */
  @Override
  public void run() {
    if (state != State.OPEN) {
      return;
    }
    try {
      rollback();
    } catch (DatabaseClosedException e) {
      return;
    }
    if (begun != null) {
      engine.options().leakListener().accept(new LeakedTransaction(id, begun));
    }
  }
}
