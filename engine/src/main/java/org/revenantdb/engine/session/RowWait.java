package org.revenantdb.engine.session;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.version.RowConflict;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The waits of one statement for rows that open transactions have written, all within one timeout.
 *
 * <p>Used by the thread of the transaction, outside of the gate, with nothing latched. Call {@link
 * #beforeLook} before each read of a row.
 */
final class RowWait {
  /*
   * Protocol    docs/protocols.md §32.
   */
  private final Engine engine;
  private final TransactionCore core;
  private final Table table;
  private final Duration timeout;
  private final long deadline;
  private long seen;
  private @Nullable Row row;

  RowWait(TransactionCore core, Table table, Duration timeout) {
    this.engine = core.engine();
    this.core = core;
    this.table = table;
    this.timeout = timeout;
    this.deadline = System.nanoTime() + timeout.toNanos();
  }

  /** From now on a change of a row's state is noticed by a later wait for it. */
  void beforeLook() {
    seen = waiters().givenBack();
  }

  private RowWaiters waiters() {
    return engine.storage().transactions().rowWaiters();
  }

  /**
   * Waits until the row may be free.
   *
   * @throws ConflictException with {@link ConflictReason#DEADLOCK} if this would never happen
   * @throws ConflictException with {@link ConflictReason#LOCK_TIMEOUT} if it took too long
   */
  void await(RowConflict met) {
    Row wanted = new Row(met.conflictTree(), met.conflictKey());
    long holder = met.conflictingWriter();
    if (deadline - System.nanoTime() <= 0) {
      throw tookTooLong(wanted, holder); // the holder was met a moment ago
    }
    RowWaiter waiter = new RowWaiter(core.id(), holder, wanted);
    row = wanted;
    Throwable failure = engine.storage().log().failure();
    if (failure != null) {
      throw Engine.stopped(new LogStoppedException(failure));
    }
    WaitGraph.ForRow waits = new WaitGraph.ForRow(table, core, wanted.key(), holder, waiter);
    WaitGraph.Step cycle = engine.waitGraph().enter(waits).cycle();
    if (cycle != null) {
      ConflictException told = deadlock(cycle);
      ApiAccess.api().lost(told, new LostRow(table, wanted, holder, seen));
      throw told;
    }
    try {
      waiters().sleep(waiter, seen, deadline);
    } finally {
      engine.waitGraph().leave();
    }
  }

  private ConflictException tookTooLong(Row wanted, long holder) {
    return ApiAccess.api()
        .lockTimeout(
            engine.open().described(holder)
                + " has written row "
                + KeyText.of(wanted.key())
                + " of table "
                + table.name()
                + " and has not ended within the lock timeout of "
                + timeout
                + "; end it, or roll back and try again later");
  }

  @SuppressWarnings("ReferenceEquality") // which transaction
  private ConflictException deadlock(WaitGraph.Step cycle) {
    boolean isOwnThreads = cycle.holder() != core;
    ConflictException told =
        ApiAccess.api()
            .deadlock(
                "deadlock: "
                    + WaitGraph.words(cycle)
                    + (isOwnThreads ? ", which this thread has open" : ""),
                isOwnThreads ? TransactionCore.OWN_CURE : core.cure(),
                /* holder= */ 0);
    ApiAccess.api()
        .isBecauseOf(
            told, isOwnThreads ? cycle.holder() : null, /* isAlone= */ cycle.before() == null);
    return told;
  }

  /** The row of the last wait. */
  @Nullable Row row() {
    return row;
  }
}
