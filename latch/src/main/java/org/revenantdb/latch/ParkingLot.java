package org.revenantdb.latch;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The place where threads wait: a global table of queues. The key is the object that the threads
 * wait for, so that object needs no room for a queue of its own.
 *
 * <p>A key is an object, compared by identity, and a number, compared by value: a latch and 0, a
 * log and a position, a table of transactions and a transaction's id.
 *
 * <p>The simple use is a condition. A thread that has made it true then calls {@link #unparkAll}; a
 * thread that needs it parks in a loop. {@code mustWait} is evaluated under the lock of the key's
 * bucket, which {@code unparkAll} takes too. So no wake-up is lost between check and sleep.
 *
 * {@snippet :
 * while (!transaction.hasEnded()) {
 *   ParkingLot.global().park(transactions, id, () -> !transaction.hasEnded());
 * }
 * // elsewhere
 * transaction.end();
 * ParkingLot.global().unparkAll(transactions, id);
 * }
 *
 * <p>A lock uses {@link Protocol} and {@link Departure} instead. With them it changes its own word
 * and the queue in one step, and hands itself over to a waiter.
 *
 * <p>Threads: platform and virtual threads may call any method. The callbacks under the bucket lock
 * ({@code mustWait}, {@code onDeparture}) must be short, must not block and must not use the
 * parking lot. They may throw: then the waiter is not queued, no thread is woken, and the exception
 * reaches the caller.
 *
 * <p>Failure: {@link Outcome#RETRY} may be returned for no reason, because the caller must check
 * its condition again anyway. Without memory for a waiter the thread does not park: it yields once,
 * and the result is to try again.
 */
public final class ParkingLot {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023, sections 2.2.4, 3.4.1, 3.4.2; the idea
   *             is WebKit's. We differ: (1) one node per waiter instead of a counter with a condition variable, since
   *             a virtual thread is parked by LockSupport, and so that a time-out concerns one waiter; (2) contiguous
   *             readers are grouped when they are dequeued, and no reader jumps the queue to join others; (3) a
   *             waiter that was woken and lost returns to the head of the queue, so that the bound "fairness time x
   *             waiters in front" holds for each; (4) the fairness time starts anew when the queue was empty, so that
   *             a rare wait does not always cost a hand-over; (5) while a waiter that was woken to try for itself is
   *             on its way, no other waiter is woken, and it is responsible for those that are still queued
   *             (TracksArrivals): else every release under contention would cost a wake-up; (6) a waiter that was
   *             woken and lost does not queue at once to be woken by the next release. It naps, and tries again by
   *             itself, until a hand-over is due. So barging threads pay for one wake-up in a fairness time, not for
   *             one in each release (17 us on a virtual machine); (7) then it queues, and stays awake for a short
   *             time, since the next release will hand over to it. So a hand-over does not leave the latch idle while
   *             a thread wakes up.
   *
   * Park        1 make the node (no allocation after this)  2 lock the bucket  3 mustWait? if not, return
   *             4 enqueue  5 unlock  6 while the node is WAITING: park, for at most a slice.
   * Unpark      1 lock the bucket  2 find the group at the head  3 the departure changes its word and decides
   *             what the group gets  4 dequeue it, set the states  5 unlock  6 unpark the threads.
   * Claim       as Unpark, but the waiters at the head have left requests, and the word is unchanged: they are
   *             dequeued as CLAIMED. The caller runs the requests and sets DONE. Then it returns to depart.
   * Give up     1 lock the bucket  2 no longer WAITING? then take what was given (if CLAIMED: wait for DONE)
   *             3 dequeue, CANCELLED
   *             4 its protocol departs: with the queue as it is now, change the word, and wake the threads that
   *             this waiter had blocked
   *             5 unlock  6 unpark those.
   *
   * Invariants  I1 a node is queued iff it is WAITING (WaitNode). I2 a wake-up is never given to a waiter that has
   *             given up, and a woken waiter never reports a time-out: both are decided under the bucket lock. I3 a
   *             request that was CLAIMED is run exactly once, by the thread that claimed it. Any other request is run
   *             only by its owner. I4 no thread is parked or unparked, and nothing allocated, under a bucket lock.
   *
   * Races left in   A thread that has already left may be unparked: unpark comes after the state is set, and the
   *                 waiter may have seen the state by itself. The unpark leaves a permit behind, so some later park
   *                 of that thread returns early. All parks in this class are in loops, and LockSupport's contract
   *                 demands the same of all other code.
   *                 An unpark may be lost (no memory to schedule a virtual thread; JDK-8369227). The waiter looks at
   *                 its state again after a slice. So the wake-up is late, but never lost.
   *                 A woken waiter may never arrive: a virtual thread whose carriers are all pinned by those that
   *                 queue behind it, or a thread that died of a StackOverflowError. A queued waiter looks once a
   *                 second. It takes over from those that have been on their way for a second, since it is awake. If
   *                 a late one still arrives, it was woken for nothing.
   */

  /** The result of a call to park. */
  public enum Outcome {
    /** Woken, perhaps for nothing: check again whether there is something to wait for. */
    RETRY,
    /** The caller owns what it waited for: it was handed over. */
    GRANTED,
    /** There was nothing to wait for: {@code mustWait} returned false. */
    NOT_PARKED,
    /** The deadline passed; no wake-up was consumed. */
    TIMED_OUT,
    /** The thread is interrupted and still has its interrupt status; no wake-up was consumed. */
    INTERRUPTED,
    /** The callback of {@link WaitTerms#asLongAs} returned false; no wake-up was consumed. */
    GIVEN_UP,
    /** Another thread has run the caller's request. */
    DONE
  }

  /** What happens to the waiters at the head of the queue. */
  public enum Wake {
    /** They continue to wait. */
    NONE,
    /** They are woken, to try again: {@link Outcome#RETRY}. */
    RETRY,
    /** They are woken as owners of what they waited for: {@link Outcome#GRANTED}. */
    GRANT
  }

  /**
   * The waiters at the head of a key's queue, as a callback sees them: one exclusive waiter, or the
   * contiguous shared waiters; with {@code unparkAll}, all waiters of the key. Valid only inside
   * the callback.
   */
  public interface Waiters {
    /**
     * The number of these waiters.
     *
     * @return 0 if no thread waits for the key
     */
    int count();

    /**
     * Whether they wait for shared ownership.
     *
     * @return false for an exclusive waiter, and if no thread waits
     */
    boolean shared();

    /**
     * Whether other threads wait for the key behind them.
     *
     * @return true if the queue is not empty once these are woken
     */
    boolean othersWait();

    /**
     * Whether the fairness time has passed. Then they should be granted what they wait for instead
     * of having to compete for it.
     *
     * @return true if a hand-over is due
     */
    boolean handOverDue();

    /**
     * Whether a waiter that was woken earlier to try for itself has not arrived yet. Only for
     * departures that keep track of arrivals, as those of the latch do.
     *
     * @return true if these need not be woken as well
     */
    boolean oneOnItsWay();
  }

  /**
   * Releases what others wait for; called under the bucket lock, in one step with the change of the
   * queue.
   *
   * @param <K> what is waited for
   */
  @FunctionalInterface
  public interface Departure<K> {
    /**
     * Changes the owner's state, and decides what happens to the waiters.
     *
     * @param owner what is waited for
     * @param head the waiters at the head of the queue; their count may be 0
     * @return what to do with them
     */
    Wake onDeparture(K owner, Waiters head);
  }

  /**
   * How one kind of waiter behaves; called under the bucket lock.
   *
   * @param <K> what is waited for
   */
  public interface Protocol<K> extends Departure<K> {
    /**
     * Checks once more that there is something to wait for. If the owner keeps a mark for waiters,
     * sets it. The caller is queued if and only if this returns true.
     *
     * @param owner what is waited for
     * @return false if there is no need to wait
     */
    boolean mustWait(K owner);

    /**
     * Called when such a waiter has left the queue without being woken. Threads that only this
     * waiter had blocked must be woken now. If no thread waits any more, the owner's mark for
     * waiters must be cleared.
     *
     * @param owner what was waited for
     * @param remaining the waiters that are now at the head of the queue
     * @return what to do with them
     */
    @Override
    default Wake onDeparture(K owner, Waiters remaining) {
      return Wake.NONE;
    }

    /**
     * Called when such a waiter was granted what it waited for while the callback of {@link
     * WaitTerms#asLongAs} threw. Its caller will see that exception, so the grant must be released
     * again. Called outside the bucket lock.
     *
     * @param owner what was granted
     */
    default void giveBack(K owner) {}

    /**
     * Whether the grant to this waiter can be shared with other waiters of its kind.
     *
     * @return true for readers
     */
    default boolean shared() {
      return false;
    }

    /**
     * Whether this waiter has been woken before, and has lost. Then it is queued first, not last.
     *
     * @return true to queue at the head
     */
    default boolean returning() {
      return false;
    }
  }

  /** The number in the thesis. The length of a chain is bounded by the number of waiters. */
  private static final int BUCKETS = 512;

  /** For about this time other threads may barge past a waiter; the thesis argues for 1 ms. */
  private static final long FAIRNESS_NANOS =
      Math.clamp(
          Long.getLong("revenant.latch.fairnessNanos", TimeUnit.MILLISECONDS.toNanos(1)),
          0,
          TimeUnit.DAYS.toNanos(1));

  /** The longest time that a waiter does not look at its state. */
  private static final long SLICE_NANOS = ParkLimits.LONGEST_PARK_NANOS;

  /**
   * After this time without arrival a woken waiter is replaced by another one. It is also the
   * period in which queued waiters check for this. Usually a waiter arrives within a fairness time,
   * so no waiter is replaced that is only a little slow.
   */
  static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * How long a waiter that was woken and lost stays awake for a hand-over that is due. This happens
   * about once in a fairness time. So on average a latch with waiters costs at most a tenth of a
   * processor.
   */
  private static final long AWAKE_NANOS =
      SpinPauses.OTHERS_RUN ? TimeUnit.MICROSECONDS.toNanos(100) : 0;

  /** Pauses between two looks at the clock while awake. */
  private static final int PAUSES = 8;

  /** Frames that must fit on the stack before a bucket is locked. The deepest call has a dozen. */
  private static final int STACK_RESERVE = 64;

  private static final Departure<Object> WAKE = (owner, head) -> Wake.RETRY;

  private static final ParkingLot GLOBAL =
      new ParkingLot(BUCKETS, FAIRNESS_NANOS, System::nanoTime, CacheNodes.here());

  static {
    // A class that is loaded between park and unpark may itself park,
    // and consume the permit (JDK-8074773).
    LockSupport.parkNanos(GLOBAL, 0);
  }

  private final Bucket[] buckets;
  private final int shift;
  private final LongSupplier nanoTime;
  private final CacheNodes nodes;

  /** Settable for tests: they would not notice a forgotten waiter if another one soon took over. */
  volatile long lateNanos = LATE_NANOS;

  /** For tests: runs, and may throw, wherever a node is allocated. */
  volatile @Nullable Runnable allocationFault;

  /**
   * Makes a lot with one queue for each key. All code except tests uses {@link #global}.
   *
   * @param size number of buckets, a power of two
   */
  ParkingLot(int size, long fairnessNanos, LongSupplier nanoTime) {
    this(size, fairnessNanos, nanoTime, CacheNodes.FLAT);
  }

  /**
   * Makes a lot of its own.
   *
   * @param size number of buckets, a power of two
   * @param nodes where waiters run
   */
  ParkingLot(int size, long fairnessNanos, LongSupplier nanoTime, CacheNodes nodes) {
    if (Integer.bitCount(size) != 1) {
      throw new IllegalArgumentException("not a power of two: " + size);
    }
    this.buckets = new Bucket[size];
    this.shift = Integer.SIZE - Integer.numberOfTrailingZeros(size);
    this.nanoTime = nanoTime;
    this.nodes = nodes;
    long now = nanoTime.getAsLong();
    for (int i = 0; i < size; i++) {
      buckets[i] = new Bucket(nodes.queues(), fairnessNanos, now + i * 0x9E3779B97F4A7C15L, now);
    }
  }

  /**
   * The parking lot that all code shares.
   *
   * @return the only instance
   */
  public static ParkingLot global() {
    return GLOBAL;
  }

  /**
   * Waits until unparked. Interrupts are kept for later.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param mustWait evaluated under the bucket lock; false if there is no need to wait
   * @return {@link Outcome#RETRY} or {@link Outcome#NOT_PARKED}
   */
  public Outcome park(Object owner, long tag, BooleanSupplier mustWait) {
    return await(owner, tag, new Condition(mustWait), WaitTerms.ENDLESS, /* timed= */ false, 0);
  }

  /**
   * Waits until unparked, or until a deadline. Interrupts are kept for later.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param mustWait evaluated under the bucket lock; false if there is no need to wait
   * @param deadlineNanos a moment of {@link System#nanoTime}
   * @return {@link Outcome#RETRY}, {@link Outcome#NOT_PARKED} or {@link Outcome#TIMED_OUT}
   */
  public Outcome park(Object owner, long tag, BooleanSupplier mustWait, long deadlineNanos) {
    return await(
        owner, tag, new Condition(mustWait), WaitTerms.ENDLESS, /* timed= */ true, deadlineNanos);
  }

  /**
   * Waits until unparked or interrupted.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param mustWait evaluated under the bucket lock; false if there is no need to wait
   * @return {@link Outcome#RETRY}, {@link Outcome#NOT_PARKED} or {@link Outcome#INTERRUPTED}
   */
  public Outcome parkInterruptibly(Object owner, long tag, BooleanSupplier mustWait) {
    return await(
        owner, tag, new Condition(mustWait), WaitTerms.INTERRUPTIBLE, /* timed= */ false, 0);
  }

  /**
   * Waits until unparked or interrupted, or until a deadline.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param mustWait evaluated under the bucket lock; false if there is no need to wait
   * @param deadlineNanos a moment of {@link System#nanoTime}
   * @return anything but {@link Outcome#GRANTED}
   */
  public Outcome parkInterruptibly(
      Object owner, long tag, BooleanSupplier mustWait, long deadlineNanos) {
    return await(
        owner,
        tag,
        new Condition(mustWait),
        WaitTerms.INTERRUPTIBLE,
        /* timed= */ true,
        deadlineNanos);
  }

  /**
   * Waits on terms until unparked.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param mustWait evaluated under the bucket lock; false if there is no need to wait
   * @param terms for how long, and what ends it; the time counts from this call
   * @return anything but {@link Outcome#GRANTED} and {@link Outcome#DONE}
   */
  public Outcome park(Object owner, long tag, BooleanSupplier mustWait, WaitTerms terms) {
    long deadline = terms.isTimed() ? nanoTime.getAsLong() + terms.nanos() : 0;
    return await(owner, tag, new Condition(mustWait), terms, terms.isTimed(), deadline);
  }

  /**
   * Waits as a protocol says, until unparked. Interrupts are kept for later.
   *
   * @param <K> what is waited for
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param protocol how this kind of waiter behaves
   * @return {@link Outcome#RETRY}, {@link Outcome#GRANTED} or {@link Outcome#NOT_PARKED}
   */
  public <K> Outcome park(K owner, long tag, Protocol<? super K> protocol) {
    return await(owner, tag, protocol, WaitTerms.ENDLESS, /* timed= */ false, 0);
  }

  /**
   * Waits as a protocol says, until unparked, or until a deadline. Interrupts are kept for later.
   *
   * @param <K> what is waited for
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param protocol how this kind of waiter behaves
   * @param deadlineNanos a moment of {@link System#nanoTime}
   * @return anything but {@link Outcome#INTERRUPTED}
   */
  public <K> Outcome park(K owner, long tag, Protocol<? super K> protocol, long deadlineNanos) {
    return await(owner, tag, protocol, WaitTerms.ENDLESS, /* timed= */ true, deadlineNanos);
  }

  /**
   * Wakes the first waiter of a key, or the contiguous shared waiters at the head.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @return how many were woken
   */
  public int unparkOne(Object owner, long tag) {
    return release(owner, tag, /* everybody= */ false, WAKE);
  }

  /**
   * Wakes all waiters of a key.
   *
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @return how many were woken
   */
  public int unparkAll(Object owner, long tag) {
    return release(owner, tag, /* everybody= */ true, WAKE);
  }

  /**
   * Lets a departure change its owner's state, and then wakes the waiters at the head of the queue
   * as the departure decides.
   *
   * @param <K> what is waited for
   * @param owner first part of the key, compared by identity
   * @param tag second part of the key
   * @param departure decides under the bucket lock
   * @return how many were woken
   */
  public <K> int unpark(K owner, long tag, Departure<? super K> departure) {
    return release(owner, tag, /* everybody= */ false, departure);
  }

  /** For tests: how many threads wait in the bucket of a key, for any key. */
  int queuedNear(Object owner, long tag) {
    Bucket bucket = bucketOf(owner, tag);
    bucket.lock();
    try {
      return bucket.queued();
    } finally {
      bucket.unlock();
    }
  }

  /** For tests: makes hand-overs in the bucket of a key due from then on. */
  void setFairTime(Object owner, long tag, long fairTime) {
    Bucket bucket = bucketOf(owner, tag);
    bucket.lock();
    try {
      bucket.setFairTime(fairTime);
    } finally {
      bucket.unlock();
    }
  }

  private <K> int release(K owner, long tag, boolean everybody, Departure<? super K> departure) {
    reserveStack(STACK_RESERVE);
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, tag);
    WaitNode woken;
    bucket.lock();
    try {
      woken = bucket.release(owner, tag, everybody, departure, now);
    } finally {
      bucket.unlock();
    }
    return unparkChain(woken);
  }

  /**
   * Lets a departure change its owner's state, as {@link #unpark} does, unless the waiters at the
   * head of the queue have left requests. In that case these waiters are dequeued, and nothing else
   * is done: the caller runs the requests. Each of them waits for {@link WaitNode#setDone},
   * whatever its terms are.
   *
   * @param most how many requests at most
   * @return the claimed waiters as a chain; null if the departure was made
   */
  <K> @Nullable WaitNode unparkOrClaim(
      K owner, long tag, int most, Departure<? super K> departure) {
    reserveStack(STACK_RESERVE);
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, tag);
    WaitNode claimed;
    WaitNode woken = null;
    bucket.lock();
    try {
      claimed = bucket.claim(owner, tag, most, now);
      if (claimed == null) {
        woken = bucket.release(owner, tag, /* everybody= */ false, departure, now);
      }
    } finally {
      bucket.unlock();
    }
    unparkChain(woken);
    return claimed;
  }

  /**
   * Waits as a protocol says, on terms. The caller counts the time, since it may park several times
   * before the time is over.
   */
  <K> Outcome await(
      K owner,
      long tag,
      Protocol<? super K> protocol,
      WaitTerms terms,
      boolean timed,
      long deadline) {
    Objects.requireNonNull(owner, "owner");
    WaitNode node = newNode(owner, tag, protocol.shared(), /* request= */ null, /* before= */ null);
    return await(node, owner, tag, protocol, terms, timed, deadline);
  }

  /**
   * The same with a node from {@link #newNode}. If another thread runs the node's request and the
   * request throws, this method throws the same exception, whatever its type.
   *
   * @return {@link Outcome#DONE} too, if another thread ran the request and it returned
   */
  <K> Outcome await(
      @Nullable WaitNode node,
      K owner,
      long tag,
      Protocol<? super K> protocol,
      WaitTerms terms,
      boolean timed,
      long deadline) {
    if (node == null) {
      return withoutMemory(owner, tag, protocol, terms, timed, deadline);
    }
    reserveStack(STACK_RESERVE);
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, tag);
    boolean due;
    bucket.lock();
    try {
      if (!protocol.mustWait(owner)) {
        return Outcome.NOT_PARKED;
      }
      due = bucket.enqueue(node, protocol.returning(), now);
    } finally {
      bucket.unlock();
    }
    if (due) {
      stayAwake(node, timed ? Math.min(AWAKE_NANOS, deadline - now) : AWAKE_NANOS);
    }
    Outcome outcome = sleep(node, owner, protocol, terms, timed, deadline);
    if (outcome == Outcome.DONE && node.failure() != null) {
      throw Requests.asUnchecked(node.failure());
    }
    return outcome;
  }

  /**
   * Makes the node of a waiter, to be used once.
   *
   * @param before the waiter's last stay, if it was woken and has lost: the new node keeps its age;
   *     or null
   * @return null without memory
   */
  @Nullable WaitNode newNode(
      Object owner,
      long tag,
      boolean shared,
      @Nullable Runnable request,
      @Nullable WaitNode before) {
    try {
      Runnable fault = allocationFault;
      if (fault != null) {
        fault.run();
      }
      WaitNode node =
          new WaitNode(Thread.currentThread(), owner, tag, shared, nodes.queueOfCaller(), request);
      node.arrival = before == null ? 0 : before.arrival;
      node.before = before;
      return node;
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  /**
   * Called for a woken waiter that has got what it waited for, or gives up without having queued
   * again. It is no longer responsible for the queue, so its protocol serves the queue, as after a
   * waiter has left it.
   */
  <K> void arrived(K owner, long tag, WaitNode node, Departure<? super K> departure) {
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, tag);
    WaitNode woken;
    bucket.lock();
    try {
      bucket.arrive(node);
      woken = bucket.release(owner, tag, /* everybody= */ false, departure, now);
    } finally {
      bucket.unlock();
    }
    unparkChain(woken);
  }

  /**
   * Lets a waiter that was woken and has lost sleep a little, unless a hand-over is due to it. It
   * is still on its way.
   *
   * @param before its last stay
   * @param most how long
   * @return false, at once, if the waiter should queue instead
   */
  boolean nap(Object owner, long tag, WaitNode before, long most) {
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, tag);
    bucket.lock();
    long untilDue;
    try {
      untilDue = bucket.untilDue(before.arrival, now);
    } finally {
      bucket.unlock();
    }
    long nanos = Math.min(untilDue, most);
    // An interrupted thread does not sleep. The interrupt is handled where the thread queues.
    if (nanos <= 0 || Thread.currentThread().isInterrupted()) {
      return false;
    }
    Parking.parkNanos(owner, nanos);
    return true;
  }

  /**
   * Watches the state for a short time before sleeping: the next departing holder will hand over.
   */
  private static void stayAwake(WaitNode node, long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      for (int i = 0; i < PAUSES; i++) {
        if (node.stateAcquire() != WaitNode.WAITING) {
          return;
        }
        Thread.onSpinWait();
      }
    }
  }

  /** Step 6 of Park: sleeps until the state changes, or until the terms end the wait. */
  private <K> Outcome sleep(
      WaitNode node,
      K owner,
      Protocol<? super K> protocol,
      WaitTerms terms,
      boolean timed,
      long deadline) {
    boolean interrupted = false;
    boolean looksAtClock = timed || terms.asks();
    long nextQuestion = terms.asks() ? nanoTime.getAsLong() + terms.periodNanos() : 0;
    boolean looksForLateOnes = protocol instanceof TracksArrivals;
    long nextLook = looksForLateOnes ? nanoTime.getAsLong() + lateNanos : 0;
    try {
      Outcome outcome = outcomeOf(node);
      while (outcome == null) {
        long now = looksAtClock ? nanoTime.getAsLong() : 0;
        boolean claimed = node.stateAcquire() == WaitNode.CLAIMED;
        if (timed && !claimed && deadline - now <= 0) {
          outcome = giveUp(node, owner, protocol, Outcome.TIMED_OUT);
        } else if (terms.asks() && !claimed && nextQuestion - now <= 0) {
          outcome =
              isStillWanted(node, owner, protocol, terms)
                  ? outcomeOf(node) // now: the callback may have parked, and used up the permit
                  : giveUp(node, owner, protocol, Outcome.GIVEN_UP);
          nextQuestion = nanoTime.getAsLong() + terms.periodNanos();
        } else {
          long nanos = SLICE_NANOS;
          if (timed && !claimed) {
            nanos = Math.min(nanos, deadline - now);
          }
          if (terms.asks() && !claimed) {
            nanos = Math.min(nanos, nextQuestion - now);
          }
          Parking.parkNanos(owner, nanos);
          outcome = outcomeOf(node);
          // A set interrupt status would make every further park return at once.
          if (outcome == null && Thread.interrupted()) {
            interrupted = true;
            if (terms.isInterruptible()) {
              outcome = giveUp(node, owner, protocol, Outcome.INTERRUPTED);
            }
          }
          if (outcome == null && looksForLateOnes && nextLook - nanoTime.getAsLong() <= 0) {
            outcome = replaceLateOnes(node) ? Outcome.RETRY : outcomeOf(node);
            nextLook = nanoTime.getAsLong() + lateNanos;
          }
        }
      }
      return outcome;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean replaceLateOnes(WaitNode node) {
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(node.owner, node.tag);
    bucket.lock();
    try {
      return bucket.replaceLateOnes(node, now, lateNanos);
    } finally {
      bucket.unlock();
    }
  }

  private <K> boolean isStillWanted(
      WaitNode node, K owner, Protocol<? super K> protocol, WaitTerms terms) {
    try {
      return terms.stillWanted();
    } catch (Throwable thrown) {
      if (abandon(node, owner, protocol)) {
        throw thrown;
      }
      return true; // too late: the request was run, and its owner must learn that
    }
  }

  /**
   * Leaves for good, whatever was granted meanwhile: the caller is about to see an exception.
   *
   * @return false if the waiter's request was run
   */
  private <K> boolean abandon(WaitNode node, K owner, Protocol<? super K> protocol) {
    Outcome given = giveUp(node, owner, protocol, Outcome.GIVEN_UP);
    while (given == null) { // the request is being run: its owner must not leave before it ends
      Parking.parkNanos(owner, SLICE_NANOS);
      given = outcomeOf(node);
    }
    switch (given) {
      case GRANTED -> protocol.giveBack(owner);
      case RETRY -> arrived(owner, node.tag, node, protocol);
      default -> {}
    }
    return given != Outcome.DONE;
  }

  private static @Nullable Outcome outcomeOf(WaitNode node) {
    return switch (node.stateAcquire()) {
      case WaitNode.RETRY -> Outcome.RETRY;
      case WaitNode.GRANTED -> Outcome.GRANTED;
      case WaitNode.DONE -> Outcome.DONE;
      default -> null;
    };
  }

  /**
   * Leaves the queue for the given reason. If a wake-up came first, the wake-up is the outcome.
   *
   * @return null if the waiter's request is being run right now
   */
  private <K> @Nullable Outcome giveUp(
      WaitNode node, K owner, Protocol<? super K> protocol, Outcome reason) {
    long now = nanoTime.getAsLong();
    Bucket bucket = bucketOf(owner, node.tag);
    WaitNode woken;
    bucket.lock();
    try {
      if (!bucket.cancel(node)) {
        return outcomeOf(node);
      }
      woken = bucket.release(owner, node.tag, /* everybody= */ false, protocol, now);
    } finally {
      bucket.unlock();
    }
    unparkChain(woken);
    return reason;
  }

  /** The wait without memory for a node: the caller spins, but its terms still apply. */
  private <K> Outcome withoutMemory(
      K owner,
      long tag,
      Protocol<? super K> protocol,
      WaitTerms terms,
      boolean timed,
      long deadline) {
    Outcome reason = null;
    if (timed && deadline - nanoTime.getAsLong() <= 0) {
      reason = Outcome.TIMED_OUT;
    } else if (terms.isInterruptible() && Thread.currentThread().isInterrupted()) {
      reason = Outcome.INTERRUPTED;
    } else {
      try {
        reason = terms.stillWanted() ? null : Outcome.GIVEN_UP;
      } catch (Throwable thrown) {
        release(owner, tag, /* everybody= */ false, protocol);
        throw thrown;
      }
    }
    if (reason != null) {
      release(owner, tag, /* everybody= */ false, protocol);
      return reason;
    }
    Parking.giveWay();
    return Outcome.RETRY;
  }

  static int unparkChain(@Nullable WaitNode first) {
    int woken = 0;
    for (WaitNode node = first; node != null; woken++) {
      WaitNode following = node.next;
      node.next = null;
      Parking.unpark(node.thread); // its state is set: it sees that after a slice at the latest
      node = following;
    }
    return woken;
  }

  /**
   * If a StackOverflowError is about to come, makes it come here, where nothing is locked and
   * nothing is queued, and not later in the middle of the protocol.
   */
  private static int reserveStack(int frames) {
    return frames == 0 ? 0 : 1 + reserveStack(frames - 1);
  }

  private Bucket bucketOf(Object owner, long tag) {
    int hash = System.identityHashCode(owner) + Long.hashCode(tag * 0x9E3779B97F4A7C15L);
    int index = shift == Integer.SIZE ? 0 : (hash * 0x9E3779B9) >>> shift;
    return buckets[index];
  }

  /** A condition as a protocol. */
  private record Condition(BooleanSupplier condition) implements Protocol<Object> {
    Condition {
      Objects.requireNonNull(condition, "mustWait");
    }

    @Override
    public boolean mustWait(Object owner) {
      return condition.getAsBoolean();
    }
  }
}
