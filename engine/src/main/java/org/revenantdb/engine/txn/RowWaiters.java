package org.revenantdb.engine.txn;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.WaitMeter;

/**
 * The transactions that sleep until another one has ended, because they want a row that it has
 * written. At its end one waiter for each row is woken, and inherits the other waiters for that
 * row.
 *
 * <p>Threads: any; a thread that sleeps has nothing latched. A transaction for which no other
 * sleeps never uses it.
 */
public final class RowWaiters {
  /*
   * Protocol    docs/protocols.md §32.
   *
   * State of a stay    queued, behind the holder's id and its row; or in an Inheritance; or nowhere, woken or not.
   *                    The lock decides whether a waiter was woken: a woken waiter never reports a time-out.
   *
   * Ordering    enqueue, under the lock: the holder's word becomes WAITED by a CAS, or the stay does not begin; then
   *             it is queued. end: the word is changed by an exchange, then `ended` takes the lock. So a waiter that
   *             has marked the word is in the queue when `ended` searches it.
   *             A row that is given back while its transaction goes on: first the row, then `gaveBack` under the
   *             lock, which raises the count and notes it for the transaction. A waiter has read the count, then looked
   *             at the row. If it found the row taken, the count is raised later. So what is noted for its holder is
   *             either higher under the lock, or is noted after the enqueueing, and then the waiter is woken.
   *             What other transactions give back does not matter to it: with one count for all, a crowd in which each
   *             attempt goes back to a savepoint would never sleep.
   *
   * Parking     each waiter on its own key, so that each can be woken by itself. No thread is parked or unparked
   *             under the lock.
   */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  /** A power of two. */
  private static final int PLACES = 1024;

  private final LongPredicate markWaited;
  private final WaitMeter meter;
  private final PatientLock lock = new PatientLock();
  private final Map<Long, Map<Row, ArrayDeque<RowWaiter>>> byHolder = new HashMap<>();

  /** All sleepers, including those that are not an heir of any transaction at the moment. */
  private final Set<RowWaiter> asleep = Collections.newSetFromMap(new IdentityHashMap<>());

  private boolean isClosed;
  private volatile long givenBack;

  /**
   * The count when a transaction last gave back rows, at a place that its id determines. Another
   * transaction of the same place costs a waiter of this one a look at the row.
   */
  private final long[] lastGivenBack = new long[PLACES];

  /** The size of {@link #asleep}; written under the lock. */
  private volatile int sleepers;

  /**
   * Settable for tests, which would not notice a lost wake-up if every waiter checked soon after.
   */
  private volatile long slice = SLICE;

  /** Heirs of one row that, for a moment, have no transaction to sleep behind. */
  public static final class Inheritance {
    private final Row row;
    private final ArrayDeque<RowWaiter> heirs;

    private Inheritance(Row row, ArrayDeque<RowWaiter> heirs) {
      this.row = row;
      this.heirs = heirs;
    }
  }

  /**
   * Makes an object without waiters.
   *
   * @param markWaited marks the word of a transaction; false if it has ended, or is about to
   */
  RowWaiters(LongPredicate markWaited, WaitMeter meter) {
    this.markWaited = markWaited;
    this.meter = meter;
  }

  /** How often a row was given back. Read it before looking at a row. */
  public long givenBack() {
    return givenBack;
  }

  /** For tests: no waiter checks by itself before that many nanoseconds. */
  public void slice(long nanos) {
    slice = nanos;
  }

  /** The number of sleepers. */
  public int sleeping() {
    return sleepers;
  }

  /**
   * Sleeps until the row may be free, or until the deadline. The caller has nothing latched and is
   * outside the gate. An interrupt has no effect.
   *
   * @param seen the result of {@link #givenBack} before the row was looked at
   * @return false if it did not sleep because there was no need to
   */
  public boolean sleep(RowWaiter waiter, long seen, long deadlineNanos) {
    return sleep(waiter, seen, deadlineNanos, ParkingLot.global()::park);
  }

  /** The same, but an interrupt ends the sleep; the interrupt status stays set. */
  public boolean sleepInterruptibly(RowWaiter waiter, long seen, long deadlineNanos) {
    return sleep(waiter, seen, deadlineNanos, ParkingLot.global()::parkInterruptibly);
  }

  @FunctionalInterface
  private interface Parking {
    ParkingLot.Outcome park(Object owner, long tag, BooleanSupplier mustWait, long deadlineNanos);
  }

  private boolean sleep(RowWaiter waiter, long seen, long deadlineNanos, Parking parking) {
    if (!enqueue(waiter, seen)) {
      return false;
    }
    @Nullable Object begun = meter.begin();
    try {
      long until = System.nanoTime() + slice;
      if (deadlineNanos - until < 0) {
        until = deadlineNanos;
      }
      ParkingLot.Outcome outcome = ParkingLot.Outcome.RETRY;
      while (!waiter.isWoken()
          && outcome != ParkingLot.Outcome.INTERRUPTED
          && until - System.nanoTime() > 0) {
        outcome = parking.park(waiter, 0, () -> !waiter.isWoken(), until);
      }
    } finally {
      leave(waiter);
      meter.end(begun);
    }
    return true;
  }

  private boolean enqueue(RowWaiter waiter, long seen) {
    lock.lock();
    try {
      if (isClosed
          || lastGivenBack[placeOf(waiter.holder)] > seen
          || !markWaited.test(waiter.holder)) {
        return false;
      }
      ArrayDeque<RowWaiter> queue = queueOf(waiter.holder, waiter.row);
      asleep.add(waiter);
      sleepers = asleep.size();
      add(waiter, queue);
      bringHeirs(waiter, queue);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private static int placeOf(long id) {
    return (int) id & (PLACES - 1);
  }

  private ArrayDeque<RowWaiter> queueOf(long holder, Row row) {
    return byHolder
        .computeIfAbsent(holder, unknown -> new HashMap<>())
        .computeIfAbsent(row, unknown -> new ArrayDeque<>());
  }

  private static void add(RowWaiter waiter, ArrayDeque<RowWaiter> queue) {
    queue.add(waiter);
    waiter.queue = queue;
  }

  /** Brings the waiters that sleep behind this one for the same row, which it has not got. */
  private void bringHeirs(RowWaiter waiter, ArrayDeque<RowWaiter> queue) {
    ArrayDeque<RowWaiter> heirs = remove(waiter.own, waiter.row);
    if (heirs != null) {
      bequeath(heirs, waiter.holder, queue);
    }
  }

  private @Nullable ArrayDeque<RowWaiter> remove(long holder, Row row) {
    Map<Row, ArrayDeque<RowWaiter>> rows = byHolder.get(holder);
    if (rows == null) {
      return null;
    }
    ArrayDeque<RowWaiter> queue = rows.remove(row);
    if (rows.isEmpty()) {
      byHolder.remove(holder);
    }
    return queue;
  }

  private static void bequeath(
      ArrayDeque<RowWaiter> heirs, long holder, ArrayDeque<RowWaiter> queue) {
    for (RowWaiter heir : heirs) {
      heir.isHeir = true;
      heir.holder = holder;
      add(heir, queue);
    }
  }

  @SuppressWarnings("ReferenceEquality") // which queue it is
  private void leave(RowWaiter waiter) {
    lock.lock();
    try {
      asleep.remove(waiter);
      sleepers = asleep.size();
      ArrayDeque<RowWaiter> queue = waiter.queue;
      waiter.queue = null;
      if (queue != null && queue.remove(waiter) && queue.isEmpty()) {
        Map<Row, ArrayDeque<RowWaiter>> rows = byHolder.get(waiter.holder);
        if (rows != null && rows.get(waiter.row) == queue) {
          remove(waiter.holder, waiter.row);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Called when a transaction has ended: wakes one waiter for each of its rows. */
  void ended(long id) {
    List<RowWaiter> woken = new ArrayList<>();
    lock.lock();
    try {
      wakeFirsts(id, woken);
    } finally {
      lock.unlock();
      unpark(woken);
    }
  }

  /**
   * Called when a transaction that goes on has given rows back; they have their former versions.
   */
  public void gaveBack(long id) {
    List<RowWaiter> woken = new ArrayList<>();
    lock.lock();
    try {
      long before = givenBack; // written under the lock alone
      givenBack = before + 1;
      lastGivenBack[placeOf(id)] = before + 1;
      wakeFirsts(id, woken);
    } finally {
      lock.unlock();
      unpark(woken);
    }
  }

  /**
   * Called when a transaction has not got the row for which it was woken: the next waiter has to
   * check.
   */
  public void passOn(long id, Row row) {
    Inheritance heirs = take(id, row);
    if (heirs != null) {
      release(heirs);
    }
  }

  private void wakeFirsts(long id, List<RowWaiter> woken) {
    Map<Row, ArrayDeque<RowWaiter>> rows = byHolder.remove(id);
    if (rows != null) {
      rows.forEach((row, queue) -> wakeFirst(row, queue, woken));
    }
  }

  private void wakeFirst(Row row, ArrayDeque<RowWaiter> queue, List<RowWaiter> woken) {
    RowWaiter first = queue.poll();
    if (first == null) {
      return;
    }
    wake(first, woken);
    if (queue.isEmpty()) {
      return;
    }
    if (markWaited.test(first.own)) {
      bequeath(queue, first.own, queueOf(first.own, row));
    } else {
      queue.forEach(heir -> wake(heir, woken)); // the first one is being rolled back by the close
    }
  }

  private void wake(RowWaiter waiter, List<RowWaiter> woken) {
    asleep.remove(waiter);
    sleepers = asleep.size();
    waiter.queue = null;
    waiter.setWoken();
    woken.add(waiter);
  }

  private static void unpark(Collection<RowWaiter> woken) {
    for (RowWaiter waiter : woken) {
      ParkingLot.global().unparkAll(waiter, 0);
    }
  }

  /**
   * Wakes a waiter that sleeps behind a transaction that may not have its row; false if it does
   * not.
   */
  public boolean wakeHeir(RowWaiter waiter) {
    List<RowWaiter> woken = new ArrayList<>(1);
    lock.lock();
    try {
      if (!waiter.isHeir) {
        return false;
      }
      ArrayDeque<RowWaiter> queue = waiter.queue;
      if (queue != null) { // else it is on its way
        queue.remove(waiter);
        wake(waiter, woken);
      }
    } finally {
      lock.unlock();
      unpark(woken);
    }
    return true;
  }

  /**
   * Takes the waiters that sleep behind a transaction for a row that it has not got; null if there
   * are none.
   */
  public @Nullable Inheritance take(long id, Row row) {
    if (sleepers == 0) {
      return null; // a waiter that arrives just now is woken by the end of the transaction
    }
    lock.lock();
    try {
      ArrayDeque<RowWaiter> heirs = remove(id, row);
      return heirs == null ? null : new Inheritance(row, heirs);
    } finally {
      lock.unlock();
    }
  }

  /** Lets the waiters sleep behind another transaction, which is open. */
  public void give(Inheritance inheritance, long id) {
    lock.lock();
    try {
      if (markWaited.test(id)) {
        bequeath(inheritance.heirs, id, queueOf(id, inheritance.row));
        return;
      }
    } finally {
      lock.unlock();
    }
    release(inheritance);
  }

  /** Wakes the first of the waiters. */
  public void release(Inheritance inheritance) {
    List<RowWaiter> woken = new ArrayList<>(1);
    lock.lock();
    try {
      wakeFirst(inheritance.row, inheritance.heirs, woken);
    } finally {
      lock.unlock();
      unpark(woken);
    }
  }

  /** Wakes all waiters; from now on no thread sleeps. */
  public void close() {
    List<RowWaiter> woken = new ArrayList<>();
    lock.lock();
    try {
      isClosed = true;
      byHolder.clear();
      new ArrayList<>(asleep).forEach(waiter -> wake(waiter, woken));
    } finally {
      lock.unlock();
      unpark(woken);
    }
  }
}
