package org.revenantdb.engine.session;

import java.util.concurrent.atomic.AtomicLongArray;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.latch.Parking;
import org.revenantdb.latch.PatientLock;

/**
 * Counts the threads inside the database, so that {@code close} and {@code check} can wait until no
 * thread is inside.
 *
 * <p>Entering and leaving change one of many padded counters. Threads wait only while the gate is
 * paused.
 */
public final class OperationGate {
  /*
   * Ordering    enter: count up, then read the state.  pause, close: write the state, then read the counters. Both are
   *             sequentially consistent, so an operation is seen in the counters or sees the state.
   */
  private static final int STRIDE = 16;
  private static final long SLICE = 100_000L;

  private enum State {
    OPEN,
    PAUSED,
    CLOSED
  }

  private final int stripes = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors());
  private final AtomicLongArray inside = new AtomicLongArray(stripes * STRIDE);
  private final CarrierTurns turns = new CarrierTurns(stripes);

  /** Held while the gate is paused: a second thread that pauses, and close, wait for the first. */
  private final PatientLock pausing = new PatientLock();

  private volatile State state = State.OPEN;

  /** Enters; the result is for {@link #exit}. Waits while the gate is paused. */
  public int enter() {
    Thread current = Thread.currentThread();
    turns.enter(current);
    int stripe = (int) (current.threadId() & (stripes - 1)) * STRIDE;
    while (true) {
      inside.getAndIncrement(stripe);
      State now = state;
      if (now == State.OPEN) {
        return stripe;
      }
      inside.getAndDecrement(stripe);
      if (now == State.CLOSED) {
        throw closed();
      }
      awaitResume();
    }
  }

  /** Waits until the pause ends: the pausing thread holds the lock meanwhile. */
  private void awaitResume() {
    pausing.lock();
    try {
      if (state == State.PAUSED) {
        throw new IllegalStateException("the thread that paused the gate tries to enter it");
      }
    } finally {
      pausing.unlock();
    }
  }

  /** Leaves. */
  public void exit(int stripe) {
    inside.getAndDecrement(stripe);
  }

  /**
   * Lets no thread in until {@link #resume}, by the same thread, and waits until no thread is
   * inside; false if the gate is closed.
   */
  public boolean pause() {
    pausing.lock();
    if (state == State.CLOSED) {
      pausing.unlock();
      return false;
    }
    state = State.PAUSED;
    awaitEmpty();
    return true;
  }

  /** Opens again after {@link #pause}. */
  public void resume() {
    state = State.OPEN;
    pausing.unlock();
  }

  /**
   * Lets no thread in any more, and waits until no thread is inside; false if it was closed before.
   */
  public boolean close() {
    pausing.lock();
    try {
      if (state == State.CLOSED) {
        return false;
      }
      state = State.CLOSED;
    } finally {
      pausing.unlock();
    }
    awaitEmpty();
    return true;
  }

  public boolean isClosed() {
    return state == State.CLOSED;
  }

  /**
   * Throws if the gate is closed. For callers that check this before anything else, and enter later
   * or not at all.
   */
  public void demandOpen() {
    if (isClosed()) {
      throw closed();
    }
  }

  /** The exception for a thread that comes after the close. */
  public static DatabaseClosedException closed() {
    return new DatabaseClosedException("the database is closed; open it again to go on");
  }

  private void awaitEmpty() {
    for (int stripe = 0; stripe < inside.length(); stripe += STRIDE) {
      while (inside.get(stripe) != 0) {
        Parking.parkNanos(this, SLICE);
      }
    }
  }
}
