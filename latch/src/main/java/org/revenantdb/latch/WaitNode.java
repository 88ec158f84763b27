package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One thread's stay in the parking lot: made for it, used once, left to the garbage collector.
 *
 * <p>It is never used again, so a wake-up that comes late finds the node it was meant for and
 * nothing else.
 */
final class WaitNode {
  /*
   * State       WAITING -> RETRY      by who unparks: try again, you may lose
   *             WAITING -> GRANTED    by who unparks: what you wait for is yours already
   *             WAITING -> CANCELLED  by the waiter itself: time is over, or it was interrupted, or gave up
   *             WAITING -> CLAIMED    by who unparks: your request is about to be run; nobody can stop that now
   *             CLAIMED -> DONE       by the same thread: it was run, and either returned or threw
   *
   * All but the last happen under the bucket lock, in one piece with leaving the queue. So a node is in the
   * queue if and only if it is WAITING, and a waiter that gives up either takes itself out of the queue or learns
   * what it was given. The permit of LockSupport is only a hint to look at the state.
   *
   * Ordering    setRelease by the unparker, getAcquire by the waiter without the bucket lock: whoever sees
   *             GRANTED sees all that the one who granted had done; whoever sees DONE sees the request's work.
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

  /** Which of the bucket's queues it waits in. */
  final int cacheNode;

  /** What whoever leaves may run on behalf of this waiter, instead of waking it. */
  final @Nullable Runnable request;

  /** Neighbours in the queue; afterwards {@code next} links those to be unparked. */
  @Nullable WaitNode next;

  @Nullable WaitNode previous;

  /**
   * Its age among the waiters of all queues of the bucket, small for those who came early; 0 until
   * it is queued, unless it keeps that of an earlier stay. Under the bucket lock.
   */
  long arrival;

  /**
   * Whether it was woken to try again, and has neither entered nor queued again, nor been replaced.
   * Set and cleared under the bucket lock; set before the state, so its own thread may look
   * without: it may miss that it was replaced, and arrive for nothing.
   */
  boolean onItsWay;

  /** When it was woken, while it is on its way. Under the bucket lock. */
  long sentOffAt;

  /** Its last stay, if it was woken then and has lost; until it is queued. */
  @Nullable WaitNode before;

  /** Links those of a bucket that are on their way. */
  @Nullable WaitNode nextOnItsWay;

  /** What the request threw; written before DONE. */
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

  @SuppressWarnings("ReferenceEquality") // the key is the object itself, whatever it equals
  boolean waitsFor(Object owner, long tag) {
    return this.owner == owner && this.tag == tag;
  }

  int stateAcquire() {
    return (int) STATE.getAcquire(this);
  }

  void setStateRelease(int newState) {
    STATE.setRelease(this, newState);
  }

  /** The request has come to its end. */
  void setDone(@Nullable Throwable thrown) {
    failure = thrown;
    setStateRelease(DONE);
  }

  /** What the request threw; by whoever has seen DONE. */
  @Nullable Throwable failure() {
    return failure;
  }
}
