package org.revenantdb.engine;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * Those who drop tables: each waits until no open transaction has written to its table.
 *
 * <p>Thread-safe; outside of the gate, with nothing latched.
 */
final class TableDrops {
  /*
   * Protocol    docs/protocols.md §24 (R16).
   *
   * Order       who writes enters the table with his transaction, then looks whether somebody drops it; who drops says
   *             so, then looks at all open transactions. Between the two steps of each is a full fence: so one sees the
   *             other. What is held is found with the writer of rows, which the next transaction uses again: who
   *             looks may find what that one holds, and waits for it too. He looks again soon.
   *
   * Deadlock    who drops waits for transactions, and a transaction for the thread that uses it, which may itself be
   *             dropping a table. A thread that waits says for which table; each look goes along those who wait, and
   *             one that comes back to its own thread refuses. Looks are made one after the other, so of a circle the
   *             first that looks breaks it. A transaction counts as used by the thread that was the last to write.
   */
  private static final long SHORTEST_PAUSE = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

  private final Engine engine;
  private final Catalog catalog;
  private final ReentrantLock looking = new ReentrantLock();

  /** Under the lock: by the ids of threads. */
  private final Map<Long, Table> waiting = new HashMap<>();

  TableDrops(Engine engine, Catalog catalog) {
    this.engine = engine;
    this.catalog = catalog;
  }

  /**
   * Drops a table, when nobody writes to it any more.
   *
   * @return whether this call has dropped it, and no other
   * @throws TableInUseException if that would never be, as this thread has to do with it
   */
  boolean drop(Table table) {
    Long self = Thread.currentThread().threadId();
    try {
      engine.inside(() -> isWritten(table, self)); // a refusal comes before others are refused
      table.beginDrop();
      try {
        awaitWriters(table, self);
        return engine.inside(() -> catalog.drop(table));
      } finally {
        table.endDrop();
      }
    } finally {
      looking.lock();
      try {
        waiting.remove(self);
      } finally {
        looking.unlock();
      }
    }
  }

  /** Nobody tells when a transaction ends; so this looks, now and then. */
  private void awaitWriters(Table table, Long self) {
    long pause = SHORTEST_PAUSE;
    while (engine.inside(() -> isWritten(table, self))) {
      ParkingLot.global().park(table, 0, () -> true, System.nanoTime() + pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  private boolean isWritten(Table table, Long self) {
    Throwable failure = engine.storage().log().failure();
    if (failure != null) {
      throw new LogStoppedException(failure);
    }
    looking.lock();
    try {
      waiting.put(self, table);
      VarHandle.fullFence(); // behind beginDrop
      List<TransactionCore> open = engine.open().cores();
      boolean written = false;
      Set<Table> seen = new HashSet<>(Set.of(table));
      Deque<Table> toLookAt = new ArrayDeque<>(seen);
      for (Table next = toLookAt.poll(); next != null; next = toLookAt.poll()) {
        for (TransactionCore core : open) {
          Holds holds = core.holds();
          if (holds == null || !holds.holds(next)) {
            continue;
          }
          written |= next == table;
          Long thread = holds.thread();
          if (thread.equals(self)) {
            waiting.remove(self); // under the same lock: nobody else need be refused
            throw inUse(table, next);
          }
          Table waitedFor = waiting.get(thread);
          if (waitedFor != null && seen.add(waitedFor)) {
            toLookAt.add(waitedFor);
          }
        }
      }
      // Behind the open ones: one that is being prepared is in the list before it leaves them.
      if (engine.prepared().haveWritten(table.trees().getFirst().table())) {
        waiting.remove(self);
        throw new TableInUseException(
            "a transaction that is prepared has written to table "
                + table.name()
                + ", and nobody knows when it ends; commit it or roll it back (Database.preparedTransactions names it), then"
                + " drop the table");
      }
      return written;
    } finally {
      looking.unlock();
    }
  }

  private static TableInUseException inUse(Table table, Table written) {
    return new TableInUseException(
        table == written
            ? "this thread has written to table "
                + table.name()
                + " in a transaction that is still open: it would wait for itself; end that first"
            : "this thread has written to table "
                + written.name()
                + " in a transaction that is still open, and somebody waits for that in order to drop it, for whom this"
                + " drop of table "
                + table.name()
                + " would have to wait; end that first");
  }
}
