package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One parking space of the lot: queues of waiters, one for each node of the cache topology, and a
 * small lock.
 *
 * <p>Keys that fall into the same bucket share its queues. A search for one key skips the waiters
 * of the others.
 *
 * <p>Every method except {@link #lock} and {@link #unlock} requires the lock.
 */
final class Bucket implements ParkingLot.Waiters {
  /*
   * The lock is held for a few dozen instructions. No code under it allocates, blocks, logs, loads a class or unparks
   * a thread. So a thread that waits for the lock spins, then yields.
   *
   * Fairness    fairTime is the time at which the next hand-over is due. It advances by one fairness time when a
   *             hand-over is made, and when a newcomer finds the bucket empty: a wait that has only begun is not
   *             unfair yet. A waiter that was woken and lost does not count as a newcomer. If it did reset the time,
   *             a barging thread could keep it out for ever. If a newcomer arrived while the woken waiter was on its
   *             way, and the queue was empty only for that reason, the time is set back when the woken waiter
   *             returns. All keys of a bucket share this time. So that the busiest key does not take every hand-over,
   *             a hand-over is also due for a waiter that is older than the receiver of the last one: one more for
   *             each key.
   *
   * Nodes       Where processors share more than one last-level cache, each node has a queue, and one more queue is
   *             common to virtual threads and to threads whose processor is unknown. A departing holder prefers a
   *             waiter of the node that was served last, where the data is likely to be in the cache. When a
   *             hand-over is due, the waiter that came first of all nodes gets it. So no waiter starves, and the
   *             bound of a wait is the same as with one queue. A waiter that was woken and lost keeps its age. If it
   *             became older than all others instead, waiters that were woken out of turn would overtake the other
   *             nodes for ever. With one node there is one queue and nothing to choose.
   */
  private static final VarHandle LOCK =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "lock", VarHandle.class, Bucket.class, int.class);

  private static final int SPINS = SpinPauses.OTHERS_RUN ? 64 : 1;

  private final long fairnessNanos;
  private final WaitQueue[] queues;

  @SuppressWarnings("UnusedVariable") // through LOCK
  private int lock;

  /** The thread that holds the lock, if assertions are on. */
  private @Nullable Thread holder;

  private long fairTime;

  /** The newcomer that found the bucket empty, if no hand-over was made since; else 0. */
  private long newStart;

  private long timeBeforeNewStart;

  /** The age of the waiter that received the last hand-over. */
  private long lastHandedOver;

  private long random;
  private long lastArrival;

  /** The waiters that were woken, for any key, and have neither arrived nor been replaced; few. */
  private @Nullable WaitNode onTheirWay;

  /** The queue that was served last; its processors are the likely place of the holder. */
  private int servedLast;

  // What select() found; the answers given to a Departure.
  private @Nullable WaitNode selected;
  private int selectedCount;
  private boolean othersWait;
  private boolean handOverDue;
  private boolean oneOnItsWay;

  /** Whether the waiters that are being dequeued must be remembered until they arrive. */
  private boolean sendsOff;

  private long sentOffAt;

  // An object of more than 128 bytes keeps the words above away from those of the next bucket.
  @SuppressWarnings("unused") // padding
  long p0, p1, p2;

  /**
   * Makes an empty bucket.
   *
   * @param queues how many: 1, or one for each node of the topology and one that is common
   */
  Bucket(int queues, long fairnessNanos, long seed, long now) {
    this.fairnessNanos = fairnessNanos;
    this.queues = new WaitQueue[queues];
    for (int i = 0; i < queues; i++) {
      this.queues[i] = new WaitQueue();
    }
    this.servedLast = queues - 1;
    this.random = seed | 1;
    this.fairTime = now;
  }

  void lock() {
    assert !isMine()
        : "a callback of the parking lot called the parking lot: it would wait for itself";
    int tries = 0;
    while (!LOCK.weakCompareAndSetAcquire(this, 0, 1)) {
      if (++tries < SPINS) {
        Thread.onSpinWait();
      } else {
        Parking.giveWay();
      }
    }
    assert isMarked(Thread.currentThread());
  }

  @SuppressWarnings("ReferenceEquality") // which thread it is
  private boolean isMine() {
    return holder
        == Thread.currentThread(); // a race, but only the calling thread writes its own value
  }

  /** Records the holder of the lock. Always true, because it is called in assertions. */
  private boolean isMarked(@Nullable Thread thread) {
    holder = thread;
    return true;
  }

  void unlock() {
    assert isMarked(null);
    LOCK.setRelease(this, 0);
  }

  /**
   * Queues a waiter. A returning waiter goes before all others, because it has been first once
   * before.
   *
   * @param now the clock; read before the lock was taken
   * @return whether a hand-over is due, so that it may not have to wait long
   */
  boolean enqueue(WaitNode node, boolean returning, long now) {
    WaitQueue queue = queues[node.cacheNode];
    if (node.before != null) {
      arrive(node.before);
      node.before = null; // else no stay of this thread would ever be garbage collected
    }
    if (node.arrival == 0) {
      WaitNode head = queue.head();
      node.arrival = returning && head != null ? head.arrival : ++lastArrival;
    }
    if (returning) {
      if (node.arrival < newStart) {
        fairTime = timeBeforeNewStart; // it was on its way when the queue was empty
        newStart = 0;
      }
      queue.addFirst(node);
      return now - fairTime >= 0 || node.arrival < lastHandedOver;
    }
    if (now - fairTime >= 0 && isEmpty()) {
      newStart = node.arrival;
      timeBeforeNewStart = fairTime;
      fairTime = now + nextFairness();
    }
    queue.addLast(node);
    return false;
  }

  /**
   * How long until a hand-over is due to a waiter that was woken and has lost.
   *
   * @param arrival of its last stay
   * @param now the clock
   * @return 0 or less if it is due
   */
  long untilDue(long arrival, long now) {
    if (arrival < lastHandedOver) {
      return 0;
    }
    return (arrival < newStart ? timeBeforeNewStart : fairTime) - now;
  }

  /**
   * Dequeues the waiters that the departure wants woken, sets their state, and returns them as a
   * chain. The caller unparks the chain after it has released the lock.
   *
   * @param everybody all waiters of the key, not just the group at the head
   */
  <K> @Nullable WaitNode release(
      K owner, long tag, boolean everybody, ParkingLot.Departure<? super K> departure, long now) {
    boolean timeHasCome = now - fairTime >= 0;
    handOverDue = timeHasCome;
    select(owner, tag, everybody);
    WaitNode first = selected;
    handOverDue = first != null && (timeHasCome || first.arrival < lastHandedOver);
    boolean tracks = departure instanceof TracksArrivals;
    oneOnItsWay = tracks && isOneOnItsWay(owner, tag);
    ParkingLot.Wake wake = departure.onDeparture(owner, this);
    if (wake == ParkingLot.Wake.NONE || first == null) {
      selected = null;
      return null;
    }
    boolean grant = wake == ParkingLot.Wake.GRANT;
    if (grant && handOverDue) {
      lastHandedOver = first.arrival;
    }
    if (grant && timeHasCome) {
      newStart = 0;
      fairTime = now + nextFairness();
    }
    sendsOff = tracks && !grant;
    sentOffAt = now;
    return dequeueSelected(owner, tag, everybody, grant ? WaitNode.GRANTED : WaitNode.RETRY);
  }

  /**
   * Dequeues the waiters at the head of the queue that have left a request. The caller runs the
   * requests.
   *
   * @param most how many at most
   * @return them as a chain; null if the first waiter has left none
   */
  @Nullable WaitNode claim(Object owner, long tag, int most, long now) {
    handOverDue = now - fairTime >= 0;
    WaitNode first = firstToServe(owner, tag);
    if (first == null || first.request == null) {
      return null;
    }
    selected = first;
    selectedCount = 0;
    for (WaitNode node = first; node != null && selectedCount < most; node = node.next) {
      if (node.waitsFor(owner, tag)) {
        if (node.request == null) {
          break;
        }
        selectedCount++;
      }
    }
    return dequeueSelected(owner, tag, /* everybody= */ false, WaitNode.CLAIMED);
  }

  /** Dequeues a waiter that gives up; false if another thread dequeued it before. */
  boolean cancel(WaitNode node) {
    if (node.stateAcquire() != WaitNode.WAITING) {
      return false;
    }
    queues[node.cacheNode].remove(node);
    node.setStateRelease(WaitNode.CANCELLED);
    return true;
  }

  /** For tests: makes the next release fair, or not. */
  void setFairTime(long newFairTime) {
    fairTime = newFairTime;
    newStart = 0;
  }

  /** For tests and messages: how many threads wait here, for any key. */
  int queued() {
    int n = 0;
    for (WaitQueue queue : queues) {
      n += queue.size();
    }
    return n;
  }

  @Override
  public int count() {
    return selectedCount;
  }

  @Override
  public boolean shared() {
    return selected != null && selected.shared;
  }

  @Override
  public boolean othersWait() {
    return othersWait;
  }

  @Override
  public boolean handOverDue() {
    return handOverDue;
  }

  @Override
  public boolean oneOnItsWay() {
    return oneOnItsWay;
  }

  private boolean isEmpty() {
    for (WaitQueue queue : queues) {
      if (!queue.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Finds the waiter whose turn it is. If it is a reader, also finds the readers directly behind
   * it.
   */
  private void select(Object owner, long tag, boolean everybody) {
    WaitNode first = firstToServe(owner, tag);
    selected = first;
    selectedCount = 0;
    othersWait = false;
    if (first == null) {
      return;
    }
    if (everybody) {
      for (WaitQueue queue : queues) {
        countGroup(queue.firstOf(owner, tag), owner, tag, /* everybody= */ true);
      }
      return;
    }
    countGroup(first, owner, tag, /* everybody= */ false);
    for (int i = 0; i < queues.length && !othersWait; i++) {
      othersWait = i != first.cacheNode && queues[i].firstOf(owner, tag) != null;
    }
  }

  /**
   * Counts the waiters that are served together with the first of a queue, and records whether
   * there are more.
   */
  private void countGroup(@Nullable WaitNode first, Object owner, long tag, boolean everybody) {
    boolean readers = first != null && first.shared;
    for (WaitNode node = first; node != null; node = node.next) {
      if (node.waitsFor(owner, tag)) {
        if (!everybody && node != first && !(readers && node.shared)) {
          othersWait = true;
          return;
        }
        selectedCount++;
      }
    }
  }

  /**
   * The waiter of the key whose turn it is. It belongs to the node that was served last, unless a
   * hand-over is due.
   */
  private @Nullable WaitNode firstToServe(Object owner, long tag) {
    int common = queues.length - 1;
    if (servedLast != common || queues.length == 1) {
      WaitNode first = queues[servedLast].firstOf(owner, tag);
      if (queues.length == 1 || (first != null && !handOverDue)) {
        return first;
      }
    }
    return oldest(owner, tag);
  }

  private @Nullable WaitNode oldest(Object owner, long tag) {
    WaitNode oldest = null;
    for (WaitQueue queue : queues) {
      WaitNode first = queue.firstOf(owner, tag);
      if (first != null && (oldest == null || first.arrival - oldest.arrival < 0)) {
        oldest = first;
      }
    }
    return oldest;
  }

  private @Nullable WaitNode dequeueSelected(
      Object owner, long tag, boolean everybody, int newState) {
    WaitNode first = selected;
    selected = null;
    if (first == null) {
      return null;
    }
    servedLast = first.cacheNode;
    if (!everybody) {
      dequeue(first, null, selectedCount, owner, tag, newState);
      return first;
    }
    WaitNode chain = null;
    for (WaitQueue queue : queues) {
      WaitNode start = queue.firstOf(owner, tag);
      if (start != null) {
        dequeue(start, chain, Integer.MAX_VALUE, owner, tag, newState);
        chain = start;
      }
    }
    return chain;
  }

  /**
   * Dequeues at most that many waiters of the key, from {@code first} on. Their chain ends in
   * {@code rest}.
   */
  private void dequeue(
      WaitNode first, @Nullable WaitNode rest, int most, Object owner, long tag, int newState) {
    WaitQueue queue = queues[first.cacheNode];
    WaitNode last = null;
    WaitNode node = first;
    for (int left = most; left > 0 && node != null; ) {
      WaitNode following = node.next;
      if (node.waitsFor(owner, tag)) {
        queue.remove(node);
        if (last != null) {
          last.next = node;
        }
        last = node;
        left--;
      }
      node = following;
    }
    if (last != null) {
      last.next = rest;
    }
    // From here on a waiter may leave: its state is written last, and next was written before.
    setStates(first, rest, newState);
  }

  @SuppressWarnings("ReferenceEquality") // the end of a chain is this very node, not an equal one
  private void setStates(WaitNode first, @Nullable WaitNode end, int newState) {
    for (WaitNode node = first; node != null && node != end; node = node.next) {
      if (sendsOff && newState == WaitNode.RETRY) {
        node.onItsWay = true;
        node.sentOffAt = sentOffAt;
        node.nextOnItsWay = onTheirWay;
        onTheirWay = node;
      }
      node.setStateRelease(newState);
    }
  }

  /**
   * A woken waiter has entered, queues again, or has given up. From now on it is not responsible
   * for the waiters that are still queued.
   */
  void arrive(WaitNode node) {
    if (!node.onItsWay) {
      return;
    }
    node.onItsWay = false;
    WaitNode before = null;
    for (WaitNode each = onTheirWay; each != null; each = each.nextOnItsWay) {
      if (each == node) {
        if (before == null) {
          onTheirWay = node.nextOnItsWay;
        } else {
          before.nextOnItsWay = node.nextOnItsWay;
        }
        node.nextOnItsWay = null;
        return;
      }
      before = each;
    }
  }

  /**
   * Wakes a waiter in place of those that were woken for its key long ago and have not arrived.
   * Those are not responsible for the queue any more, though they may still come.
   *
   * @param now the clock
   * @param lateNanos how long ago is long
   * @return false if the waiter is not queued any more, if no woken waiter is late, or if one is on
   *     its way that is not late
   */
  boolean replaceLateOnes(WaitNode node, long now, long lateNanos) {
    if (node.stateAcquire() != WaitNode.WAITING
        || !areAllLate(node.owner, node.tag, now, lateNanos)) {
      return false;
    }
    for (WaitNode late = onTheirWay; late != null; ) {
      WaitNode following = late.nextOnItsWay;
      if (late.waitsFor(node.owner, node.tag)) {
        arrive(late);
      }
      late = following;
    }
    queues[node.cacheNode].remove(node);
    sendsOff = true;
    sentOffAt = now;
    setStates(node, null, WaitNode.RETRY);
    return true;
  }

  /** Whether there are woken waiters on their way for a key, and all of them have been for long. */
  private boolean areAllLate(Object owner, long tag, long now, long lateNanos) {
    boolean any = false;
    for (WaitNode node = onTheirWay; node != null; node = node.nextOnItsWay) {
      if (node.waitsFor(owner, tag)) {
        any = true;
        if (now - node.sentOffAt < lateNanos) {
          return false;
        }
      }
    }
    return any;
  }

  private boolean isOneOnItsWay(Object owner, long tag) {
    WaitNode node = onTheirWay;
    while (node != null && !node.waitsFor(owner, tag)) {
      node = node.nextOnItsWay;
    }
    return node != null;
  }

  /**
   * Between a half and one and a half fairness times, so that two threads do not fall into step.
   */
  private long nextFairness() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return fairnessNanos / 2 + Long.remainderUnsigned(random, fairnessNanos + 1);
  }
}
