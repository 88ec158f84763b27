package org.revenantdb.engine.session;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.session.OpenTransactions.Holder;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.latch.PatientLock;

/**
 * The graph of waits between threads: for a row that another transaction has written, or for all
 * transactions that have written to a table. It finds the cycle that a new wait would close.
 *
 * <p>Thread-safe; with nothing latched.
 */
final class WaitGraph {
  /*
   * Protocol    docs/protocols.md §32, §24 (R16).
   *
   * Nodes       threads: a transaction waits only through the thread that runs it as an attempt, which alone ends it,
   *             and through the thread that was the last to write with it.
   * Edges       thread -> what it waits for -> transactions that have that -> their threads.
   *
   * Invariant   Under one lock a wait is entered, and a search starts from it, before its thread sleeps. So the last
   *             wait of a cycle finds the others. A cycle that is found is real: waits that are over but have not
   *             left do not count.
   *
   * Races left in   The holds of a transaction, and its thread, are found through its writer of rows, which the next
   *                 transaction reuses. For rows the search checks afterwards whether the holder is still active. For
   *                 tables a search may find the holds of the next transaction: then the caller waits a little
   *                 longer, or is refused if the thread of that transaction waits for it.
   */
  /** A wait of a thread. */
  sealed interface Waiting {
    /** The table, or that of the row. */
    Table table();

    /** The transaction in which it waits; null if there is none. */
    @Nullable TransactionCore own();
  }

  /** A wait until no other transaction writes to a table. */
  record ForTable(Table table, @Nullable TransactionCore own) implements Waiting {}

  /**
   * A wait for a row.
   *
   * @param own null between two attempts
   * @param key not to be changed
   * @param holder id of the transaction that has written it
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record ForRow(
      Table table, @Nullable TransactionCore own, byte[] key, long holder, RowWaiter waiter)
      implements Waiting {}

  /**
   * A step of a search: a wait, and a transaction that it waits for.
   *
   * @param before the step that led to this wait; null for the first
   */
  record Step(Waiting by, TransactionCore holder, @Nullable Step before) {}

  /**
   * The result of a search.
   *
   * @param waits whether there is a transaction to wait for
   * @param cycle the step that leads back to the searching thread; null if there is none
   */
  record Look(boolean waits, @Nullable Step cycle) {}

  /** A wait, and the step that has led to it. */
  private record Reached(Waiting waiting, @Nullable Step by) {}

  private final Engine engine;
  private final PatientLock lock = new PatientLock();

  /** Under the lock: by the ids of threads. */
  private final Map<Long, Waiting> waiting = new HashMap<>();

  WaitGraph(Engine engine) {
    this.engine = engine;
  }

  /** Enters a wait of this thread, unless it would close a cycle. */
  Look enter(Waiting first) {
    Long self = Thread.currentThread().threadId();
    lock.lock();
    try {
      waiting.put(self, first);
      VarHandle.fullFence(); // behind beginDrop
      boolean isEntered = false;
      try {
        Look look = look(first, self);
        isEntered = look.cycle == null;
        return look;
      } finally {
        if (!isEntered) {
          waiting.remove(self); // under the same lock: no other thread need be refused
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Called when this thread no longer waits. */
  void leave() {
    lock.lock();
    try {
      waiting.remove(Thread.currentThread().threadId());
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("ReferenceEquality") // which wait, and which transaction
  private Look look(Waiting first, Long self) {
    List<TransactionCore> open = engine.open().cores();
    boolean waits = false;
    Set<Waiting> seen = new HashSet<>();
    Deque<Reached> toLookAt = new ArrayDeque<>();
    toLookAt.add(new Reached(first, null));
    for (Reached next = toLookAt.poll(); next != null; next = toLookAt.poll()) {
      for (TransactionCore core : open) {
        Long thread = holdsUp(next.waiting, core);
        if (thread == null) {
          continue;
        }
        waits |= next.waiting == first;
        Step found = new Step(next.waiting, core, next.by);
        if (core == first.own() || thread.equals(self)) {
          return new Look(waits, found);
        }
        for (Waiting other : waitsOf(core, thread)) {
          if (seen.add(other) && !isWokenHeir(other)) {
            toLookAt.add(new Reached(other, found));
          }
        }
      }
    }
    return new Look(waits, null);
  }

  /**
   * The waits of a transaction: that of its thread; and, if its thread runs it as an attempt, that
   * of another thread that works with it.
   */
  @SuppressWarnings("ReferenceEquality") // which transaction
  private List<Waiting> waitsOf(TransactionCore core, Long thread) {
    List<Waiting> found = new ArrayList<>(2);
    Waiting own = waiting.get(thread);
    if (own != null) {
      found.add(own);
    }
    Holds holds = core.holds();
    Waiting other = holds == null || holds.thread() == thread ? null : waiting.get(holds.thread());
    if (other != null && other.own() == core) {
      found.add(other);
    }
    return found;
  }

  /**
   * Wakes the waiter if it is an heir: it sleeps behind a transaction that may not have its row,
   * and checks itself which one has. Returns whether it was one.
   */
  private boolean isWokenHeir(Waiting waiting) {
    return waiting instanceof ForRow it
        && engine.storage().transactions().rowWaiters().wakeHeir(it.waiter);
  }

  /** The thread of a transaction, if the wait is for that transaction; else null. */
  @SuppressWarnings("ReferenceEquality") // which transaction
  private @Nullable Long holdsUp(Waiting waiting, TransactionCore core) {
    Holds holds = core.holds();
    if (core == waiting.own() || holds == null) {
      return null;
    }
    return switch (waiting) {
      case ForTable it -> holds.holds(it.table) ? (Long) core.thread() : null;
      case ForRow it -> {
        if (core.id() != it.holder || it.waiter.isWoken()) {
          yield null;
        }
        long thread = core.thread();
        // After the read of the thread: until then the writer does not belong
        // to another transaction.
        yield engine.storage().transactions().status(it.holder) == TransactionTable.ACTIVE
            ? thread
            : null;
      }
    };
  }

  /** The cycle in words, beginning with the wait that has found it. */
  static String words(Step last) {
    List<String> words = new ArrayList<>();
    for (Step step = last; step != null; step = step.before) {
      words.addFirst(words(step.by) + " of " + Holder.of(step.holder).described());
    }
    return String.join("; ", words);
  }

  private static String words(Waiting waiting) {
    TransactionCore own = waiting.own();
    String who = own == null ? "a thread without a transaction" : Holder.of(own).described();
    return who
        + switch (waiting) {
          case ForTable it ->
              " waits to drop or truncate table " + it.table.name() + ", which has rows";
          case ForRow it ->
              " waits for row "
                  + KeyText.of(it.key)
                  + " of table "
                  + it.table.name()
                  + ", which is";
        };
  }
}
