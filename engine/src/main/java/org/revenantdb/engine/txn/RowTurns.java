package org.revenantdb.engine.txn;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.WaitMeter;

/**
 * Turns of transactions that are retried because they have lost rows. Of two that want the same
 * row, one tries at a time, the older one first.
 *
 * <p>Threads: any, with nothing latched; for a wait also outside the gate. Transactions that lose
 * no row never use it.
 */
public final class RowTurns {
  /*
   * Protocol    docs/protocols.md §40.
   *
   * State of a turn    idle -> waiting (in the line of each of its rows) -> taken (it runs, in all of them) -> idle, and
   *                    so on. Its age never changes.
   *
   * Invariant   A row is run by at most one turn, except for turns that have waited too long. A waiting turn is taken
   *             when it is the oldest of each of its lines, and no other turn runs one of these lines. All of this
   *             happens under the lock.
   *
   * Progress    A turn gets all its rows or none, so turns do not wait for each other in a cycle. The oldest of all
   *             waits only for turns that run. A running turn may wait for a row, for the disk or for its user. So a
   *             turn that is the oldest of its lines and has seen none of them move for a second goes ahead.
   *
   * Parking     each turn on its own key. No thread is parked or unparked under the lock.
   */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  /** The turns that want one row. */
  private static final class Line {
    final TreeMap<Long, Turn> waiting = new TreeMap<>();
    @Nullable Turn runs;

    /** How often the row was given back. */
    long moves;
  }

  /** The turn of a retried transaction. Everything except {@link #isTaken} requires the lock. */
  public static final class Turn {
    private final Set<Row> rows = new HashSet<>();
    private long age;
    private volatile boolean isTaken;
    private boolean isWaiting;

    /** The next thread to unpark, of the threads that were taken together. */
    private @Nullable Turn next;

    /** Makes a turn for no row yet. */
    public Turn() {}

    /** Whether it may run. */
    public boolean isTaken() {
      return isTaken;
    }

    /** A number that no other turn has, lower than those of younger ones; 0 before it waits. */
    public long age() {
      return age;
    }
  }

  /** Settable for tests, which would not notice a turn that is not passed on. */
  private volatile long slice = SLICE;

  private final WaitMeter meter;
  private final PatientLock lock = new PatientLock();
  private final Map<Row, Line> lines = new HashMap<>();
  private long lastAge;

  /** Makes an object without turns. */
  RowTurns(WaitMeter meter) {
    this.meter = meter;
  }

  /** For tests: no turn goes ahead before that many nanoseconds. */
  public void slice(long nanos) {
    slice = nanos;
  }

  /** The number of rows that a turn waits for or runs. */
  public int rows() {
    lock.lock();
    try {
      return lines.size();
    } finally {
      lock.unlock();
    }
  }

  /** How many wait for a row. */
  public int waiting(Row row) {
    lock.lock();
    try {
      Line line = lines.get(row);
      return line == null ? 0 : line.waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the turn may run, until the deadline, or until an interrupt, which stays set. Call
   * {@link #leave} after it in any case.
   *
   * @param more rows that it wants in addition to those that it wanted before
   * @param isOver called from time to time; true ends the wait
   */
  public void await(Turn turn, Collection<Row> more, long deadlineNanos, BooleanSupplier isOver) {
    if (enter(turn, more)) {
      return;
    }
    @Nullable Object begun = meter.begin();
    try {
      while (!turn.isTaken) {
        long moves = moves(turn);
        long until = System.nanoTime() + slice;
        if (deadlineNanos - until < 0) {
          until = deadlineNanos;
        }
        ParkingLot.global().parkInterruptibly(turn, 0, () -> !turn.isTaken, until);
        if (deadlineNanos - System.nanoTime() <= 0
            || Thread.currentThread().isInterrupted()
            || isOver.getAsBoolean()
            || isTired(turn, moves)) {
          break;
        }
      }
    } finally {
      meter.end(begun);
    }
  }

  private boolean enter(Turn turn, Collection<Row> more) {
    lock.lock();
    try {
      turn.rows.addAll(more);
      if (turn.age == 0) {
        turn.age = ++lastAge;
      }
      turn.isWaiting = true; // from here on `leave` removes it from its lines
      for (Row row : turn.rows) {
        lines.computeIfAbsent(row, unknown -> new Line()).waiting.put(turn.age, turn);
      }
      return takes(turn);
    } finally {
      lock.unlock();
    }
  }

  /** Takes a turn if it is the next in all its lines. */
  @SuppressWarnings("ReferenceEquality") // whose turn it is
  private boolean takes(Turn turn) {
    for (Row row : turn.rows) {
      Line line = lines.get(row);
      if (line == null || line.runs != null || line.waiting.firstEntry().getValue() != turn) {
        return false;
      }
    }
    take(turn);
    return true;
  }

  private void take(Turn turn) {
    for (Row row : turn.rows) {
      Line line = lines.get(row);
      if (line != null) {
        line.waiting.remove(turn.age);
        line.runs = turn;
      }
    }
    turn.isWaiting = false;
    turn.isTaken = true;
  }

  /** The sum of the moves of its lines, which only rise. */
  private long moves(Turn turn) {
    lock.lock();
    try {
      long moves = 0;
      for (Row row : turn.rows) {
        Line line = lines.get(row);
        moves += line == null ? 0 : line.moves;
      }
      return moves;
    } finally {
      lock.unlock();
    }
  }

  /** Goes ahead of the running turns if it is the oldest and nothing has moved. */
  @SuppressWarnings("ReferenceEquality") // whose turn it is
  private boolean isTired(Turn turn, long moves) {
    lock.lock();
    try {
      if (turn.isTaken || moves(turn) != moves) {
        return turn.isTaken;
      }
      for (Row row : turn.rows) {
        Line line = lines.get(row);
        if (line != null && line.waiting.firstEntry().getValue() != turn) {
          return false;
        }
      }
      take(turn);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called when a turn has ended, or no longer waits: the next ones may run. No effect if the turn
   * neither runs nor waits.
   */
  public void leave(Turn turn) {
    Turn taken = null;
    lock.lock();
    try {
      if (!turn.isTaken && !turn.isWaiting) {
        return;
      }
      for (Row row : turn.rows) {
        leave(turn, row);
      }
      turn.isTaken = false;
      turn.isWaiting = false;
      for (Row row : turn.rows) {
        Line line = lines.get(row);
        if (line != null && line.runs == null) {
          Turn eldest = line.waiting.firstEntry().getValue();
          if (takes(eldest)) {
            eldest.next = taken;
            taken = eldest;
          }
        }
      }
    } finally {
      lock.unlock();
    }
    while (taken != null) {
      Turn next = taken.next; // before it may be taken again
      ParkingLot.global().unparkAll(taken, 0);
      taken = next;
    }
  }

  @SuppressWarnings("ReferenceEquality") // whose turn it is
  private void leave(Turn turn, Row row) {
    Line line = lines.get(row);
    if (line == null) {
      return;
    }
    line.moves++;
    line.waiting.remove(turn.age);
    if (line.runs == turn) {
      line.runs = null;
    }
    if (line.runs == null && line.waiting.isEmpty()) {
      lines.remove(row);
    }
  }
}
