package org.revenantdb.collections.queue;

import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;

/**
 * The threads that wait for an item of one queue, shared by all objects of that queue.
 *
 * <p>Threads: the methods are called by a thread that holds the lock, except {@link #arrived},
 * {@link #parked}, {@link #isDueAt}, {@link #over}, {@link #pause} and {@link #wakeAll}.
 */
public final class WaitingRoom {
  /*
   * Lock        one thread at a time takes an item: it holds the lock from its look at the tables until it has an item
   *             or sleeps
   *
   * No arrival is missed
   *             A taker that found nothing counts itself in `waiting`, looks once more, and sleeps; that gives the lock
   *             back. One that arrives has committed, and reads `waiting` behind a full fence.
   *               it reads 0      its commit comes before the fence, so before the taker's count in the order of
   *                               fences: the second look sees the commit
   *               it reads more   it takes the lock, which the taker has until it sleeps, and wakes it
   *
   * Due         no parked item is due before `due`, so a look before that time need not read the parked ones. A thread
   *             that looks for them sets it to the end of time before its transaction begins, and lowers it to what it
   *             has found. A thread that parks an item lowers it behind its commit. If that commit came before the
   *             snapshot of the look, the look has found the item; if it came later, so did the lowering.
   *             A commit by Database.commitPrepared lowers nothing: after `longestNanos` parked items are read anyway.
   *
   * Extensions  A thread that extends a delivery holds the lock, sets `mayBeExtended` and then reads the row of the
   *             delivery. One that has ended a delivery by its commit reads `mayBeExtended` behind a full fence.
   *               it reads false  its commit comes before: the other thread finds no row and extends nothing
   *               it reads true   it takes the lock and removes the extension, if there is one
   *             So the end of a delivery mostly does not wait for the threads that take items.
   *
   * Leader      at most one thread sleeps for a time, until the first parked item is due; the others sleep until they
   *             are woken. Who leaves wakes the next one, which becomes the leader. An arrival deposes the leader,
   *             because it may be due earlier.
   */
  private static final Map<Database, Map<String, WaitingRoom>> ALL = new HashMap<>();

  /** The leader looks at least so often whether the database is still open. */
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();
  private final Condition pauses = lock.newCondition();

  /** Those that have looked in vain; changed with the lock. */
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * When deliveries that were extended are over, by item, in milliseconds. In memory alone: the row
   * of the item must not change while a transaction is about to delete it, and a new life takes all
   * deliveries back anyway.
   */
  private final Map<Long, Long> extended = new HashMap<>();

  /** False if no delivery is extended, or about to be. Changed with the lock. */
  private volatile boolean mayBeExtended;

  /** In milliseconds of the queue's clock; too early is right, too late is not. */
  private final AtomicLong due = new AtomicLong(Long.MIN_VALUE);

  /** When parked items were read, by {@link System#nanoTime}. */
  private long readAt;

  private @Nullable Thread leader;
  private boolean isOpened;

  private final long longestNanos;

  /**
   * Makes a room without waiting threads.
   *
   * @param longestNanos how long the leader sleeps at most
   */
  WaitingRoom(long longestNanos) {
    this.longestNanos = longestNanos;
  }

  /** That of a queue. */
  public static WaitingRoom of(Database database, String queue) {
    synchronized (ALL) {
      ALL.keySet().removeIf(Database::isClosed);
      return ALL.computeIfAbsent(database, _ -> new HashMap<>())
          .computeIfAbsent(queue, _ -> new WaitingRoom(LONGEST_NANOS));
    }
  }

  /** Held by the thread that takes an item. */
  public ReentrantLock lock() {
    return lock;
  }

  /** Whether the items that a former life had delivered were not returned yet. */
  public boolean isNew() {
    return !isOpened;
  }

  /** Called when that is committed. */
  public void opened() {
    isOpened = true;
  }

  /** Called before a thread finds out whether a delivery can be extended. */
  public void extending() {
    mayBeExtended = true;
    VarHandle.fullFence();
  }

  /** Extends a delivery; called behind {@link #extending}, with the lock held since. */
  public void extend(long item, long until) {
    extended.put(item, until);
    isDueAt(until);
  }

  /** When the delivery of an item is over; before all times if it was not extended. */
  public long extendedUntil(long item) {
    return extended.getOrDefault(item, Long.MIN_VALUE);
  }

  /** Called when the delivery of an item is over, by any thread. */
  public void over(long item) {
    VarHandle.fullFence();
    if (!mayBeExtended) {
      return;
    }
    lock.lock();
    try {
      extended.remove(item);
      mayBeExtended = !extended.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Whether parked items have to be read, because one may be due. */
  public boolean mayBeDue(long now) {
    return now >= due.get() || System.nanoTime() - readAt >= longestNanos;
  }

  /** Called before the transaction begins that reads the parked items. */
  public void readsParked() {
    readAt = System.nanoTime();
    due.set(Long.MAX_VALUE);
  }

  /** An item may be due at a time; by any thread, behind the commit that has parked it. */
  public void isDueAt(long time) {
    long _ = due.accumulateAndGet(time, Math::min);
  }

  /** Before that time no parked item is due. */
  public long due() {
    return due.get();
  }

  /** Called before the last look of a thread that is about to sleep. */
  public void enter() {
    int _ = waiting.incrementAndGet();
    VarHandle.fullFence();
  }

  /** Called by a thread that does not wait any more. */
  public void leave() {
    int _ = waiting.decrementAndGet();
    passOn();
  }

  /** Wakes a thread if one waits, because there may be another item, or no leader. */
  public void passOn() {
    if (waiting.get() > 0 && leader == null) {
      arrival.signal();
    }
  }

  /**
   * Sleeps until something arrives.
   *
   * @param limitNanos how long at most
   * @param dueNanos when the first parked item is due
   */
  @SuppressWarnings({
    "ReferenceEquality", // which thread it is
    "WaitNotInLoop" // the caller looks again
  })
  public void sleep(long limitNanos, long dueNanos) throws InterruptedException {
    if (leader != null) {
      if (limitNanos == Long.MAX_VALUE) {
        arrival.await();
      } else {
        long _ = arrival.awaitNanos(limitNanos);
      }
      return;
    }
    Thread self = Thread.currentThread();
    leader = self;
    try {
      long _ = arrival.awaitNanos(Math.min(limitNanos, Math.min(dueNanos, longestNanos)));
    } finally {
      if (leader == self) {
        leader = null;
      }
    }
  }

  /** Lets time pass after a failure, or until all are woken; called without the lock. */
  @SuppressWarnings("WaitNotInLoop") // shorter is as good
  public void pause(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long _ = pauses.awaitNanos(nanos);
    } finally {
      lock.unlock();
    }
  }

  /** Called when an item was committed: wakes a thread if one waits. */
  public void arrived() {
    VarHandle.fullFence();
    if (waiting.get() > 0) {
      lock.lock();
      try {
        leader = null;
        arrival.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Called when an item was committed that is due at a time. */
  public void parked(long time) {
    isDueAt(time);
    arrived();
  }

  /** How many threads sleep, or are about to. */
  public int waiting() {
    return waiting.get();
  }

  /** Wakes all. */
  public void wakeAll() {
    lock.lock();
    try {
      leader = null;
      arrival.signalAll();
      pauses.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
