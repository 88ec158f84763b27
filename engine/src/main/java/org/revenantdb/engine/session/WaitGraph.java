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
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.latch.PatientLock;

/**
 * Who waits for whom: for a row that another transaction has written, or for all that have written
 * to a table. Finds the cycle that a new wait would close.
 *
 * <p>Thread-safe; with nothing latched.
 */
final class WaitGraph {
  /*
   * Protocol    docs/protocols.md §32, §24 (R16).
   *
   * Nodes       threads: a transaction waits for nothing but through the thread that runs it as an attempt, which alone
   *             ends it, and through the one that was the last to write with it.
   * Edges       thread -> what it waits for -> transactions that have that -> their threads.
   *
   * Invariant   Under one lock a wait is entered and looked from, before its thread sleeps: of a cycle the last one
   *             finds the others. What it finds is there: waits that are over but have not left do not count.
   *
   * Races left in   What a transaction holds, and its thread, are found with its writer of rows, which the next
   *             transaction uses again. For rows the holder is asked afterwards whether it is active still; for tables
   *             who looks may find what the next one holds: he waits a little longer, or is refused where that one's
   *             thread waits for him.
   */
  /** What a thread waits for. */
  sealed interface Waiting {
    /** The table, or that of the row. */
    Table table();

    /** The transaction that it waits with; null if with none. */
    @Nullable TransactionCore own();
  }

  /** That nobody else writes to a table. */
  record ForTable(Table table, @Nullable TransactionCore own) implements Waiting {}

  /**
   * A row.
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
   * A step of a look: who waits, and for which transaction.
   *
   * @param before the step that led to who waits; null for the first
   */
  record Step(Waiting by, TransactionCore holder, @Nullable Step before) {}

  /**
   * What a look has found.
   *
   * @param waits whether there is somebody to wait for
   * @param cycle the step that leads back to who looks; null if none does
   */
  record Look(boolean waits, @Nullable Step cycle) {}

  /** Somebody who waits, and the step that has led to him. */
  private record Reached(Waiting waiting, @Nullable Step by) {}

  private final Engine engine;
  private final PatientLock lock = new PatientLock();

  /** Under the lock: by the ids of threads. */
  private final Map<Long, Waiting> waiting = new HashMap<>();

  WaitGraph(Engine engine) {
    this.engine = engine;
  }

  /** This thread is about to wait, unless that would close a cycle; then it is not entered. */
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
          waiting.remove(self); // under the same lock: nobody else need be refused
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** This thread waits no more. */
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
   * What a transaction waits for: that of its thread; and that of another one which works with it,
   * while the thread runs it as an attempt.
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

  /** One that sleeps behind a transaction that may not have its row sees for itself who has. */
  private boolean isWokenHeir(Waiting waiting) {
    return waiting instanceof ForRow it
        && engine.storage().transactions().rowWaiters().wakeHeir(it.waiter);
  }

  /** The thread of a transaction, if that is waited for; else null. */
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
        // Behind the look at the thread: until then the writer is nobody else's.
        yield engine.storage().transactions().status(it.holder) == TransactionTable.ACTIVE
            ? thread
            : null;
      }
    };
  }

  /** The cycle in words, from who has found it on. */
  static String words(Step last) {
    List<String> words = new ArrayList<>();
    for (Step step = last; step != null; step = step.before) {
      words.addFirst(words(step.by) + " of transaction " + step.holder.id());
    }
    return String.join("; ", words);
  }

  private static String words(Waiting waiting) {
    TransactionCore own = waiting.own();
    String who = own == null ? "a thread without a transaction" : "transaction " + own.id();
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
