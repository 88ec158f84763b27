package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One stay of a thread in the parking lot. A node is made for the stay, used once, and then garbage
 * collected.
 *
 * <p>It is never reused, so a late wake-up finds only the node that it was meant for.
 */
final class WaitNode {
  /*
   * State       WAITING -> RETRY      by the unparker: try again, you may lose
   *             WAITING -> GRANTED    by the unparker: you already own what you wait for
   *             WAITING -> CANCELLED  by the waiter itself: time is over, or it was interrupted, or gave up
   *             WAITING -> CLAIMED    by the unparker: your request is about to be run; this cannot be stopped
   *             CLAIMED -> DONE       by the same thread: it was run, and either returned or threw
   *
   * All except the last happen under the bucket lock, in one step with leaving the queue. So a node is in the queue
   * if and only if it is WAITING. A waiter that gives up either removes itself from the queue or learns what it was
   * given. The permit of LockSupport is only a hint to look at the state.
   *
   * Ordering    setRelease by the unparker, getAcquire by the waiter without the bucket lock. A thread that sees
   *             GRANTED sees everything that the granting thread had done. A thread that sees DONE sees the effects
   *             of the request.
   */
  static final int WAITING = 0;
  static final int RETRY = 1;
  static final int GRANTED = 2;
  static final int CANCELLED = 3;
  static final int CLAIMED = 4;
  static final int DONE = 5;

  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "state", VarHandle.class, WaitNode.class, int.class);

  final Thread thread;
  final Object owner;
  final long tag;
  final boolean shared;

  /** The queue of the bucket that it waits in. */
  final int cacheNode;

  /** The request that a departing holder may run on behalf of this waiter, instead of waking it. */
  final @Nullable Runnable request;

  /** Neighbours in the queue; afterwards {@code next} links those to be unparked. */
  @Nullable WaitNode next;

  @Nullable WaitNode previous;

  /**
   * Its age among the waiters of all queues of the bucket; smaller for earlier arrivals. It is 0
   * until the node is queued, unless the node keeps the age of an earlier stay. Under the bucket
   * lock.
   */
  long arrival;

  /**
   * Whether it was woken to try again, and has neither entered nor queued again, nor been replaced.
   * Set and cleared under the bucket lock. It is set before the state, so its own thread may read
   * it without the lock. The thread may then miss that it was replaced, and report its arrival for
   * nothing.
   */
  boolean onItsWay;

  /** When it was woken, while it is on its way. Under the bucket lock. */
  long sentOffAt;

  /**
   * The waiter's last stay, if it was woken then and has lost. Set only until the node is queued.
   */
  @Nullable WaitNode before;

  /** Links the nodes of a bucket that are on their way. */
  @Nullable WaitNode nextOnItsWay;

  /** The exception of the request; written before DONE. */
  private @Nullable Throwable failure;

  @SuppressWarnings("UnusedVariable") // through STATE
  private int state = WAITING;

  WaitNode(
      Thread thread,
      Object owner,
      long tag,
      boolean shared,
      int cacheNode,
      @Nullable Runnable request) {
    this.thread = thread;
    this.owner = owner;
    this.tag = tag;
    this.shared = shared;
    this.cacheNode = cacheNode;
    this.request = request;
  }

  @SuppressWarnings("ReferenceEquality") // the key is the object itself, not an equal one
  boolean waitsFor(Object owner, long tag) {
    return this.owner == owner && this.tag == tag;
  }

  int stateAcquire() {
    return (int) STATE.getAcquire(this);
  }

  void setStateRelease(int newState) {
    STATE.setRelease(this, newState);
  }

  /** Called when the request has ended. */
  void setDone(@Nullable Throwable thrown) {
    failure = thrown;
    setStateRelease(DONE);
  }

  /** The exception of the request. Called only by a thread that has seen DONE. */
  @Nullable Throwable failure() {
    return failure;
  }
}
