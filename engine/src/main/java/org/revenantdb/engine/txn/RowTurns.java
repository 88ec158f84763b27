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
 * Turns of those who try again for rows that they have lost: of two that want the same row one
 * tries at a time, the elder first.
 *
 * <p>Threads: any, with nothing latched, outside of the gate to wait. Transactions that lose no row
 * never come here.
 */
public final class RowTurns {
  /*
   * Protocol    docs/protocols.md §40.
   *
   * State of a turn    idle -> waiting (in the line of each of its rows) -> taken (it runs, in all of them) -> idle, and
   *                    so on. Its age never changes.
   *
   * Invariant   A row is run by at most one turn, but for those that were tired of waiting. A waiting turn is taken when
   *             it is the eldest of each of its lines, and no line is run by another. All of that under the lock.
   *
   * Progress    A turn gets all its rows or none, so turns do not wait for each other in a circle. The eldest of all
   *             waits only for those that run. Who runs may wait for a row, for the disk or for its user: who is the
   *             eldest of its lines and has seen none of them move for a second goes ahead.
   *
   * Parking     each on its own key. Under the lock nobody is parked or unparked.
   */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  /** Those who want one row. */
  private static final class Line {
    final TreeMap<Long, Turn> waiting = new TreeMap<>();
    @Nullable Turn runs;

    /** How often it was given back. */
    long moves;
  }

  /** The turn of one who tries again. All but {@link #isTaken} with the lock. */
  public static final class Turn {
    private final Set<Row> rows = new HashSet<>();
    private long age;
    private volatile boolean isTaken;
    private boolean isWaiting;

    /** The next one that is to be unparked, of those that were taken together. */
    private @Nullable Turn next;

    /** Of nobody yet. */
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

  /** Written by tests, which would not notice a turn that is not passed on. */
  private volatile long slice = SLICE;

  private final WaitMeter meter;
  private final PatientLock lock = new PatientLock();
  private final Map<Row, Line> lines = new HashMap<>();
  private long lastAge;

  /** Nobody. */
  RowTurns(WaitMeter meter) {
    this.meter = meter;
  }

  /** For tests: nobody is tired before so many nanoseconds. */
  public void slice(long nanos) {
    slice = nanos;
  }

  /** How many rows there are that somebody waits for, or has a turn to have. */
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
   * Waits until it is this one's turn, the deadline, or an interrupt, which stays. Whatever it
   * returns for, {@link #leave} comes after it.
   *
   * @param more rows that it wants beside those that it wanted before
   * @param isOver asked at times; true ends it
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
      turn.isWaiting = true; // from here on `leave` takes it out of whatever it is in
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

  /** The sum of what only rises, over its lines. */
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

  /** Goes ahead of those that run, if it is the eldest and nothing has moved. */
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

  /** It has ended, or waits no more: the next ones may run. Nothing happens if it does neither. */
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
