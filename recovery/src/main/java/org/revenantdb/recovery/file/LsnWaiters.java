package org.revenantdb.recovery.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;

/**
 * The threads that wait for a position of the log, or another number, to be reached.
 *
 * <p>Unlike a parking lot it wakes by value: only the threads whose position has been reached.
 *
 * <p>Threads: any thread may wait, virtual threads too. An interrupt does not end the wait; the
 * interrupt status stays set. Any thread may wake.
 */
public final class LsnWaiters {
  /*
   * State       a stack of waiters. A waiter is pushed by CAS. The waker takes the whole stack, pushes back the
   *             waiters that stay asleep, and pushes the others on a second stack, `awake`. The waker unparks one of
   *             these; each woken thread unparks two more (a relay: unparking is a system call, and the waker has
   *             more urgent work).
   *
   * Ordering    the waiter pushes itself, then evaluates `reached`; the waker makes `reached` true, then takes the
   *             stack. Push and take are full fences, and each has a full fence on the other side. So one of the two
   *             sees the other, and no wake-up is lost.
   * Spinning    none: the threads wait for a force, a write of a chunk or a checkpoint. None of these is shorter than
   *             parking, and with many waiters processors are scarce. A thread that is alone stays awake before it
   *             waits here (Log).
   * Relay       a waiter that leaves sets `gone`, then takes two waiters from `awake`. If one of them is gone, it
   *             takes another instead. So for each waiter that was taken, one of two things holds: either `gone` was
   *             seen, and the taker took another, or the waiter leaves later, and takes two itself. So no waiter
   *             stays on `awake` while all others have gone. A waiter is pushed only once on each stack, so taking by
   *             CAS never meets a node a second time.
   * Races left in   a waiter that left by itself stays on its stack until the next wake-up. While the waker holds the
   *                 stack, a waiter is on no stack; but the waker has seen it, or will push it back before it
   *                 evaluates `reached` again. A waiter that was woken for nothing (its predicate is false again)
   *                 leaves as far as the stacks are concerned, and is pushed as a new one.
   *             An unpark may be lost on the way (no memory to schedule a virtual thread): the waiter checks again
   *             after a slice.
   */

  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);
  private static final long NOBODY = Long.MAX_VALUE;

  /** The number of waiters that each woken thread wakes. */
  private static final int RELAY = 2;

  @SuppressWarnings("UnnecessaryLambda") // made once, before it is needed
  private static final LongPredicate EVERYBODY = lsn -> true;

  private static final VarHandle HEAD;
  private static final VarHandle AWAKE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HEAD = lookup.findVarHandle(LsnWaiters.class, "head", Waiter.class);
      AWAKE = lookup.findVarHandle(LsnWaiters.class, "awake", Waiter.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private static final class Waiter {
    final Thread thread = Thread.currentThread();
    final long lsn;

    /** Whether its predicate may have come true since it was pushed. */
    volatile boolean woken;

    /** Whether it needs no unpark any more. */
    volatile boolean gone;

    @Nullable Waiter next;

    Waiter(long lsn) {
      this.lsn = lsn;
    }
  }

  @SuppressWarnings("unused") // through HEAD
  private volatile @Nullable Waiter head;

  @SuppressWarnings("unused") // through AWAKE
  private volatile @Nullable Waiter awake;

  private final long slice;

  /** Makes an object without waiters. */
  public LsnWaiters() {
    this(SLICE);
  }

  /**
   * For tests: they would not notice a lost wake-up if every thread checked by itself soon after.
   */
  LsnWaiters(long slice) {
    this.slice = slice;
  }

  /**
   * Waits until the predicate holds of the position.
   *
   * @param lsn the position
   * @param reached evaluated by this thread and by waking threads; it must become true by a write
   *     before a {@link #wake}
   */
  public void await(long lsn, LongPredicate reached) {
    Waiter waiter = new Waiter(lsn);
    push(HEAD, waiter, waiter);
    boolean interrupted = false;
    while (true) {
      VarHandle.fullFence();
      if (reached.test(lsn)) {
        break;
      }
      if (waiter.woken) {
        leave(waiter);
        waiter = new Waiter(lsn);
        push(HEAD, waiter, waiter);
        continue;
      }
      Parking.parkNanos(this, slice);
      interrupted |= Thread.interrupted();
    }
    leave(waiter);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void leave(Waiter waiter) {
    waiter.gone = true;
    for (int i = 0; i < RELAY; i++) {
      wakeNext();
    }
  }

  /** Unparks one of the waiters whose position was found to be reached, if there is one. */
  private void wakeNext() {
    while (true) {
      @Nullable Waiter first = awake;
      if (first == null) {
        return;
      }
      if (AWAKE.compareAndSet(this, first, first.next) && !first.gone) {
        Parking.unpark(first.thread);
        return;
      }
    }
  }

  /**
   * Wakes the waiters for whose position the predicate holds by now.
   *
   * @param reached the predicate
   */
  public void wake(LongPredicate reached) {
    VarHandle.fullFence();
    if (head == null) {
      return;
    }
    // Repeats while a waiter that was just pushed back could go: another waker may have run
    // meanwhile and found the stack empty.
    long lowest;
    do {
      lowest = wakeOnce(reached);
    } while (lowest != NOBODY && reached.test(lowest));
  }

  /** One round; returns the lowest position of those left asleep, or {@link #NOBODY}. */
  private long wakeOnce(LongPredicate reached) {
    long lowest = NOBODY;
    @Nullable Waiter firstAsleep = null;
    @Nullable Waiter lastAsleep = null;
    @Nullable Waiter next;
    for (@Nullable Waiter waiter = (Waiter) HEAD.getAndSet(this, null);
        waiter != null;
        waiter = next) {
      next = waiter.next;
      if (reached.test(waiter.lsn)) {
        waiter.woken = true;
        push(AWAKE, waiter, waiter);
      } else {
        lowest = Math.min(lowest, waiter.lsn);
        waiter.next = firstAsleep;
        firstAsleep = waiter;
        lastAsleep = lastAsleep == null ? waiter : lastAsleep;
      }
    }
    if (firstAsleep != null && lastAsleep != null) {
      push(HEAD, firstAsleep, lastAsleep);
      VarHandle.fullFence();
    }
    wakeNext();
    return lowest;
  }

  /** Wakes all waiters, which then check again. */
  public void wakeAll() {
    wake(EVERYBODY);
  }

  /**
   * For tests: the number of waiters on the stack, including those that have left by themselves.
   */
  int queued() {
    int n = 0;
    for (@Nullable Waiter waiter = head; waiter != null; waiter = waiter.next) {
      n++;
    }
    return n;
  }

  /**
   * Whether no thread waits, as of a moment ago.
   *
   * @return true if no thread is on the stack
   */
  public boolean isEmpty() {
    return head == null;
  }

  private void push(VarHandle stack, Waiter first, Waiter last) {
    @Nullable Waiter old;
    do {
      old = (Waiter) stack.getVolatile(this);
      last.next = old;
    } while (!stack.compareAndSet(this, old, first));
  }
}
