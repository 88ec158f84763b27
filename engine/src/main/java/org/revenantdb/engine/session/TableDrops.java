package org.revenantdb.engine.session;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * Drops and truncations of tables: each waits until no other open transaction has written to its
 * table.
 *
 * <p>Thread-safe; outside of the gate, with nothing latched.
 */
public final class TableDrops {
  /*
   * Protocol    docs/protocols.md §24 (R16).
   *
   * Order       a writer enters the table in its transaction, then checks whether the table is being dropped. A drop
   *             announces itself, then checks all open transactions. Between the two steps of each is a full fence,
   *             so one sees the other. The holds are found through the writer of rows, which the next transaction
   *             reuses. So a drop may find the holds of that transaction, and wait for it, too. It checks again soon.
   *
   * Deadlock    found in the WaitGraph, which also contains waits for rows. Each search follows the waits, and a
   *             search that returns to its own thread refuses. Searches run one after the other, so the first search
   *             in a cycle breaks it. A hold of the waiting transaction on the table that it waits for does not
   *             count. Its hold on another table does, for transactions that wait for that one.
   */
  private static final long SHORTEST_PAUSE = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

  private final Engine engine;
  private final Catalog catalog;

  TableDrops(Engine engine, Catalog catalog) {
    this.engine = engine;
    this.catalog = catalog;
  }

  /**
   * Drops a table for all transactions at once, when no transaction writes to it any more.
   *
   * @return whether this call has dropped it, and no other
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if this would never happen
   *     because of this thread's own transactions
   */
  public boolean drop(Table table) {
    Catalog.Dropped[] outcome = new Catalog.Dropped[1];
    whenUnwritten(
        table,
        null,
        () -> {
          outcome[0] = catalog.drop(table);
          return outcome[0] != Catalog.Dropped.HELD;
        });
    TableState.of(table).endDrop();
    return outcome[0] == Catalog.Dropped.DONE;
  }

  /**
   * Runs a step of a transaction when no other transaction writes to a table. From then on no other
   * can begin to write to it until this one has ended.
   *
   * @param step returns false if another transaction has changed the table: then the call waits for
   *     that one, too
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if this would never happen
   */
  void exclusively(Table table, TransactionCore core, OwnTables own, BooleanSupplier step) {
    own.reserve();
    whenUnwritten(table, core, step);
    own.hold(table);
  }

  /**
   * After a normal return no transaction begins to write, until {@link TableState#endDrop}.
   *
   * <p>The end of a transaction is not reported, so this method checks from time to time.
   */
  private void whenUnwritten(Table table, @Nullable TransactionCore own, BooleanSupplier step) {
    boolean done = false;
    try {
      engine.inside(() -> isWritten(table, own)); // this call is refused before others are
      TableState.of(table).beginDrop();
      try {
        long pause = SHORTEST_PAUSE;
        while (engine.inside(() -> isWritten(table, own)) || !engine.inside(step::getAsBoolean)) {
          ParkingLot.global().park(table, 0, () -> true, System.nanoTime() + pause);
          pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
        done = true;
      } finally {
        if (!done) {
          TableState.of(table).endDrop();
        }
      }
    } finally {
      engine.waitGraph().leave();
    }
  }

  private boolean isWritten(Table table, @Nullable TransactionCore own) {
    Throwable failure = engine.storage().log().failure();
    if (failure != null) {
      throw new LogStoppedException(failure);
    }
    WaitGraph.Look look = engine.waitGraph().enter(new WaitGraph.ForTable(table, own));
    WaitGraph.Step cycle = look.cycle();
    if (cycle != null) {
      throw inUse(table, cycle);
    }
    // After the open transactions: one that is being prepared is in the list before it leaves them.
    if (engine.prepared().haveWritten(TableState.of(table).newest().id())) {
      throw new CatalogException(
          CatalogException.Reason.IN_USE,
          "a prepared transaction has written to table "
              + table.name()
              + ", and this call would have to wait for its outcome; commit it or roll it back (Database.preparedTransactions lists it), then"
              + " drop or truncate the table");
    }
    return look.waits();
  }

  private static CatalogException inUse(Table table, WaitGraph.Step cycle) {
    for (WaitGraph.Step step = cycle; step != null; step = step.before()) {
      if (step.by() instanceof WaitGraph.ForRow) {
        return new CatalogException(
            CatalogException.Reason.IN_USE,
            "deadlock: "
                + WaitGraph.words(cycle)
                + ", which waits for this drop; roll back, or end that transaction first");
      }
    }
    return inUse(table, cycle.by().table());
  }

  private static CatalogException inUse(Table table, Table written) {
    return new CatalogException(
        CatalogException.Reason.IN_USE,
        table == written
            ? "this thread has written to table "
                + table.name()
                + " in a transaction that is still open: it would wait for itself; end that transaction first"
            : "this thread has written to table "
                + written.name()
                + " in a transaction that is still open, and another thread waits for its end to drop that table; this"
                + " drop of table "
                + table.name()
                + " would have to wait for that thread; end the transaction first");
  }
}
