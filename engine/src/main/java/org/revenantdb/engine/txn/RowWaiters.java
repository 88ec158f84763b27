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
 * Those who sleep until a transaction has ended, since they want a row that it has written. At its
 * end one of each row is woken, which inherits the others.
 *
 * <p>Threads: any; with nothing latched to sleep. Transactions nobody sleeps for never come here.
 */
public final class RowWaiters {
  /*
   * Protocol    docs/protocols.md §32.
   *
   * State of a stay    queued, behind the holder's id and its row; or in an Inheritance; or nowhere, woken or not.
   *                    It is decided under the lock whether one was woken: it never reports a time-out then.
   *
   * Ordering    enqueue, under the lock: the holder's word becomes WAITED by a CAS, or the stay does not begin; then it is
   *             queued. end: the word by an exchange, then `ended`, which takes the lock. So who has marked the word is
   *             in the queue when it is looked through.
   *             A row that is given back while its transaction goes on: the row, then `gaveBack` under the lock. Who
   *             is to sleep has read the count, then looked at the row: did it find the row taken, the count is
   *             raised later, and is either different under the lock, or raised behind the enqueueing, which it wakes.
   *
   * Parking     each on its own key, so that any one can be woken. Under the lock nobody is parked or unparked.
   */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final LongPredicate markWaited;
  private final WaitMeter meter;
  private final PatientLock lock = new PatientLock();
  private final Map<Long, Map<Row, ArrayDeque<RowWaiter>>> byHolder = new HashMap<>();

  /** Also those that are nobody's heirs just now. */
  private final Set<RowWaiter> asleep = Collections.newSetFromMap(new IdentityHashMap<>());

  private boolean isClosed;
  private volatile long givenBack;

  /** As many as there are in {@link #asleep}; written under the lock. */
  private volatile int sleepers;

  /** Written by tests, which would not notice a lost wake-up if everybody looked soon after. */
  private volatile long slice = SLICE;

  /** Heirs of one row without somebody to sleep behind, for a moment. */
  public static final class Inheritance {
    private final Row row;
    private final ArrayDeque<RowWaiter> heirs;

    private Inheritance(Row row, ArrayDeque<RowWaiter> heirs) {
      this.row = row;
      this.heirs = heirs;
    }
  }

  /**
   * Nobody.
   *
   * @param markWaited marks the word of a transaction; false if it has ended, or is about to
   */
  RowWaiters(LongPredicate markWaited, WaitMeter meter) {
    this.markWaited = markWaited;
    this.meter = meter;
  }

  /** How often a row was given back; to be read before one looks at a row. */
  public long givenBack() {
    return givenBack;
  }

  /** For tests: nobody looks by itself before so many nanoseconds. */
  public void slice(long nanos) {
    slice = nanos;
  }

  /** How many sleep. */
  public int sleeping() {
    return sleepers;
  }

  /**
   * Sleeps until the row may be free, or the deadline; with nothing latched, outside of the gate.
   * An interrupt changes nothing.
   *
   * @param seen what {@link #givenBack} said before the row was looked at
   * @return false if it did not sleep, as there was no need to
   */
  public boolean sleep(RowWaiter waiter, long seen, long deadlineNanos) {
    return sleep(waiter, seen, deadlineNanos, ParkingLot.global()::park);
  }

  /** The same, but that an interrupt ends it, and stays. */
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
      if (isClosed || givenBack != seen || !markWaited.test(waiter.holder)) {
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

  private ArrayDeque<RowWaiter> queueOf(long holder, Row row) {
    return byHolder
        .computeIfAbsent(holder, unknown -> new HashMap<>())
        .computeIfAbsent(row, unknown -> new ArrayDeque<>());
  }

  private static void add(RowWaiter waiter, ArrayDeque<RowWaiter> queue) {
    queue.add(waiter);
    waiter.queue = queue;
  }

  /** Those that sleep behind this one for the same row, which it has not got. */
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

  /** A transaction has ended: one of each of its rows is woken. */
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

  /** A transaction that goes on has given rows back; they are as they were. */
  public void gaveBack(long id) {
    List<RowWaiter> woken = new ArrayList<>();
    lock.lock();
    try {
      long before = givenBack; // written under the lock alone
      givenBack = before + 1;
      wakeFirsts(id, woken);
    } finally {
      lock.unlock();
      unpark(woken);
    }
  }

  /** A transaction has not got a row that it was woken for: the next one is to look. */
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
      queue.forEach(heir -> wake(heir, woken)); // the first is being rolled back by the close
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

  /** Wakes one that sleeps behind another that may not have its row; false if it is none. */
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
   * Takes those from a transaction that sleep behind it for a row that it has not got; null if
   * nobody does.
   */
  public @Nullable Inheritance take(long id, Row row) {
    if (sleepers == 0) {
      return null; // who comes just now is woken by its end
    }
    lock.lock();
    try {
      ArrayDeque<RowWaiter> heirs = remove(id, row);
      return heirs == null ? null : new Inheritance(row, heirs);
    } finally {
      lock.unlock();
    }
  }

  /** Has them sleep behind another transaction, which is open. */
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

  /** Wakes the first of them. */
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

  /** Wakes everybody; from now on nobody sleeps. */
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
