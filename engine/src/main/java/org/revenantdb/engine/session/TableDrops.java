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
 * Those who drop tables, or truncate them: each waits until no other open transaction has written
 * to its table.
 *
 * <p>Thread-safe; outside of the gate, with nothing latched.
 */
public final class TableDrops {
  /*
   * Protocol    docs/protocols.md §24 (R16).
   *
   * Order       who writes enters the table with his transaction, then looks whether somebody drops it; who drops says
   *             so, then looks at all open transactions. Between the two steps of each is a full fence: so one sees the
   *             other. What is held is found with the writer of rows, which the next transaction uses again: who
   *             looks may find what that one holds, and waits for it too. He looks again soon.
   *
   * Deadlock    found in the WaitGraph, in which those are, too, who wait for rows: each look goes along those who wait,
   *             and one that comes back to its own thread refuses. Looks are made one after the other, so of a circle
   *             the first that looks breaks it. What the waiting transaction itself holds of the table that it waits
   *             for does not count; what it holds of another one does, for whoever waits for that.
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
   * Drops a table for everybody at once, when nobody writes to it any more.
   *
   * @return whether this call has dropped it, and no other
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if that would never be, as
   *     this thread has to do with it
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
   * Runs a step of a transaction when no other writes to a table; from then on none can begin to,
   * until this one has ended.
   *
   * @param step false if another transaction has done something to the table: it is to be waited
   *     for, too
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if that would never be
   */
  void exclusively(Table table, TransactionCore core, OwnTables own, BooleanSupplier step) {
    own.reserve();
    whenUnwritten(table, core, step);
    own.hold(table);
  }

  /**
   * On return nobody begins to write, until {@link TableState#endDrop}; not so if it throws.
   *
   * <p>Nobody tells when a transaction ends; so this looks, now and then.
   */
  private void whenUnwritten(Table table, @Nullable TransactionCore own, BooleanSupplier step) {
    boolean done = false;
    try {
      engine.inside(() -> isWritten(table, own)); // a refusal comes before others are refused
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
    // Behind the open ones: one that is being prepared is in the list before it leaves them.
    if (engine.prepared().haveWritten(TableState.of(table).newest().id())) {
      throw new CatalogException(
          CatalogException.Reason.IN_USE,
          "a transaction that is prepared has written to table "
              + table.name()
              + ", and its end cannot be foreseen; commit it or roll it back (Database.preparedTransactions lists it), then"
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
