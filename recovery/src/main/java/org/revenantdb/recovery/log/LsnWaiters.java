package org.revenantdb.recovery.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for a position of the log to be reached.
 *
 * <p>Unlike a parking lot it wakes by value: those whose position has been reached, and only those.
 *
 * <p>Threads: any may wait, virtual ones too, without being interrupted; their interrupt status
 * stays. Any may wake.
 */
final class LsnWaiters {
  /*
   * State       a stack of waiters, pushed by CAS, taken whole by the waker, who pushes back those it leaves asleep.
   *
   * Ordering    the waiter pushes itself, then evaluates `reached`; the waker makes `reached` true, then takes the
   *             stack. Push and take are full fences, and a full fence stands on the other side of each, so one of
   *             the two sees the other: no wake-up is lost.
   * Races left in   a waiter that left by itself stays on the stack until the next wake-up; it gets an unpark that
   *             nobody expects, which every park must bear. While the waker holds the stack a waiter is on no
   *             stack, but the waker has seen it or will push it back before it looks at `reached` again.
   *             A waiter that was woken for nothing (its predicate has become false again) queues anew.
   *             An unpark may be lost on the way (no memory to schedule a virtual thread): the waiter looks
   *             again after a slice.
   */

  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);
  static final int SPINS = 64; // not private: its jcstress test counts the looks
  private static final long NOBODY = Long.MAX_VALUE;

  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(LsnWaiters.class, "head", Waiter.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private static final class Waiter {
    final Thread thread = Thread.currentThread();
    final long lsn;
    volatile boolean queued;
    @Nullable Waiter next;

    Waiter(long lsn) {
      this.lsn = lsn;
    }
  }

  @SuppressWarnings("unused") // through HEAD
  private volatile @Nullable Waiter head;

  /** Waits until the predicate holds of the position. */
  void await(long lsn, LongPredicate reached) {
    for (int i = 0; i < SPINS; i++) {
      if (reached.test(lsn)) {
        return;
      }
      Thread.onSpinWait();
    }
    Waiter waiter = new Waiter(lsn);
    boolean interrupted = false;
    while (true) {
      if (!waiter.queued) {
        waiter.queued = true;
        push(waiter, waiter);
      }
      VarHandle.fullFence();
      if (reached.test(lsn)) {
        break;
      }
      LockSupport.parkNanos(this, SLICE);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Wakes those of whose position the predicate holds by now. */
  void wake(LongPredicate reached) {
    VarHandle.fullFence();
    if (head == null) {
      return;
    }
    // Again while somebody could go who was just pushed back: another waker may have come and gone
    // meanwhile, and
    // found the stack empty.
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
        waiter.queued = false;
        LockSupport.unpark(waiter.thread);
      } else {
        lowest = Math.min(lowest, waiter.lsn);
        waiter.next = firstAsleep;
        firstAsleep = waiter;
        lastAsleep = lastAsleep == null ? waiter : lastAsleep;
      }
    }
    if (firstAsleep != null && lastAsleep != null) {
      push(firstAsleep, lastAsleep);
      VarHandle.fullFence();
    }
    return lowest;
  }

  /** Wakes everybody, to look again. */
  void wakeAll() {
    wake(lsn -> true);
  }

  /** Whether somebody may be waiting. */
  boolean isEmpty() {
    return head == null;
  }

  private void push(Waiter first, Waiter last) {
    @Nullable Waiter old;
    do {
      old = head;
      last.next = old;
    } while (!HEAD.compareAndSet(this, old, first));
  }
}
