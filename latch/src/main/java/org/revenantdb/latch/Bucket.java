package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One parking space of the lot: a first-in first-out queue of waiters and a small lock.
 *
 * <p>Keys that fall into the same bucket share its queue; whoever looks for one key skips the
 * others.
 *
 * <p>Everything but {@link #lock} and {@link #unlock} needs the lock.
 */
final class Bucket implements ParkingLot.Waiters {
  /*
   * The lock is held for a few dozen instructions: nothing that allocates, blocks, logs or loads a class
   * happens under it, and no thread is unparked under it. So waiting for it is spinning, then yielding.
   *
   * Fairness    fairTime is when the next hand-over is due. It moves on by one fairness time when a hand-over
   *             was made, and when a newcomer finds the queue empty: a wait that has only begun is not unfair
   *             yet. A waiter that was woken and lost does not count as a newcomer: were it to reset the time,
   *             one that barges could keep it out for ever.
   */
  private static final VarHandle LOCK =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "lock", VarHandle.class, Bucket.class, int.class);

  private static final int SPINS = 1 << (Backoff.PAUSING_ROUNDS + 2);

  private final long fairnessNanos;

  @SuppressWarnings("UnusedVariable") // through LOCK
  private int lock;

  private @Nullable WaitNode head;
  private @Nullable WaitNode tail;
  private long fairTime;
  private long random;

  // What select() found; the answers given to a Departure.
  private @Nullable WaitNode selected;
  private int selectedCount;
  private boolean othersWait;
  private boolean handOverDue;

  // An object of more than 128 bytes keeps the words above away from those of the next bucket.
  @SuppressWarnings("unused") // padding
  long p0, p1, p2, p3, p4, p5, p6, p7;

  Bucket(long fairnessNanos, long seed, long now) {
    this.fairnessNanos = fairnessNanos;
    this.random = seed | 1;
    this.fairTime = now;
  }

  void lock() {
    int tries = 0;
    while (!LOCK.weakCompareAndSetAcquire(this, 0, 1)) {
      if (++tries < SPINS) {
        Thread.onSpinWait();
      } else {
        Backoff.giveWay();
      }
    }
  }

  void unlock() {
    LOCK.setRelease(this, 0);
  }

  /**
   * Queues a waiter, one that returns before all others, as it has been first once before.
   *
   * @param now the clock; read before the lock was taken
   */
  void enqueue(WaitNode node, boolean returning, long now) {
    if (returning) {
      addFirst(node);
      return;
    }
    if (head == null && now - fairTime >= 0) {
      fairTime = now + nextFairness();
    }
    addLast(node);
  }

  /**
   * Takes out of the queue whom the departure wants woken, sets their state, and returns them as a
   * chain to be unparked once the lock is dropped.
   *
   * @param everybody all waiters of the key, not just the group at the head
   */
  <K> @Nullable WaitNode release(
      K owner, long tag, boolean everybody, ParkingLot.Departure<? super K> departure, long now) {
    select(owner, tag, everybody);
    handOverDue = selectedCount > 0 && now - fairTime >= 0;
    ParkingLot.Wake wake = departure.onDeparture(owner, this);
    if (wake == ParkingLot.Wake.NONE || selectedCount == 0) {
      selected = null;
      return null;
    }
    boolean grant = wake == ParkingLot.Wake.GRANT;
    if (grant && handOverDue) {
      fairTime = now + nextFairness();
    }
    return dequeueSelected(owner, tag, grant ? WaitNode.GRANTED : WaitNode.RETRY);
  }

  /** Takes out a waiter that gives up; false if somebody else took it out before. */
  boolean cancel(WaitNode node) {
    if (node.stateAcquire() != WaitNode.WAITING) {
      return false;
    }
    remove(node);
    node.setStateRelease(WaitNode.CANCELLED);
    return true;
  }

  /** For tests: makes the next release fair, or not. */
  void setFairTime(long newFairTime) {
    fairTime = newFairTime;
  }

  /** For tests and messages: how many wait here, for whatever key. */
  int queued() {
    int n = 0;
    for (WaitNode node = head; node != null; node = node.next) {
      n++;
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

  /** Finds the first waiter of the key and, if it is a reader, the readers right behind it. */
  private void select(Object owner, long tag, boolean everybody) {
    selected = null;
    selectedCount = 0;
    othersWait = false;
    for (WaitNode node = head; node != null; node = node.next) {
      if (!node.waitsFor(owner, tag)) {
        continue;
      }
      if (selected == null) {
        selected = node;
      } else if (!everybody && !(selected.shared && node.shared)) {
        othersWait = true;
        return;
      }
      selectedCount++;
    }
  }

  private @Nullable WaitNode dequeueSelected(Object owner, long tag, int newState) {
    WaitNode first = selected;
    selected = null;
    WaitNode last = null;
    WaitNode node = first;
    for (int left = selectedCount; left > 0 && node != null; ) {
      WaitNode following = node.next;
      if (node.waitsFor(owner, tag)) {
        remove(node);
        if (last != null) {
          last.next = node;
        }
        last = node;
        node.setStateRelease(newState);
        left--;
      }
      node = following;
    }
    return first;
  }

  private void addFirst(WaitNode node) {
    node.next = head;
    if (head == null) {
      tail = node;
    } else {
      head.previous = node;
    }
    head = node;
  }

  private void addLast(WaitNode node) {
    node.previous = tail;
    if (tail == null) {
      head = node;
    } else {
      tail.next = node;
    }
    tail = node;
  }

  private void remove(WaitNode node) {
    WaitNode before = node.previous;
    WaitNode after = node.next;
    if (before == null) {
      head = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.previous = before;
    }
    node.previous = null;
    node.next = null;
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
