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
 * <p>Unlike a parking lot it wakes by value: those whose position has been reached, and only those.
 *
 * <p>Threads: any may wait, virtual ones too, without being interrupted; their interrupt status
 * stays. Any may wake.
 */
public final class LsnWaiters {
  /*
   * State       a stack of waiters, pushed by CAS, taken whole by the waker, who pushes back those it leaves asleep
   *             and pushes the others on a second stack, `awake`. The waker unparks one of these; each thread that
   *             goes on unparks two more (a relay: the waker has better things to do, unparking is a system call).
   *
   * Ordering    the waiter pushes itself, then evaluates `reached`; the waker makes `reached` true, then takes the
   *             stack. Push and take are full fences, and a full fence stands on the other side of each, so one of
   *             the two sees the other: no wake-up is lost.
   * Spinning    none: what is waited for is a force, a write of a chunk or a checkpoint, none of them shorter than
   *             parking, and processors are what many have least of. Who is alone stays awake before he comes here
   *             (Log).
   * Relay       a waiter that leaves sets `gone`, then takes two from `awake`; who takes one that is gone takes
   *             another instead. So of each that was taken either `gone` was seen, and the taker went on, or it
   *             leaves later, and takes two itself: nobody stays on `awake` while all others have gone. A waiter is
   *             pushed once on each stack and never again, so taking by CAS meets no node a second time.
   * Races left in   a waiter that left by itself stays on its stack until the next wake-up. While the waker holds
   *             the stack a waiter is on no stack, but the waker has seen it or will push it back before it looks at
   *             `reached` again. A waiter that was woken for nothing (its predicate has become false again) goes, as
   *             far as the stacks are concerned, and comes anew.
   *             An unpark may be lost on the way (no memory to schedule a virtual thread): the waiter looks
   *             again after a slice.
   */

  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);
  private static final long NOBODY = Long.MAX_VALUE;

  /** So many does each who goes on wake. */
  private static final int RELAY = 2;

  @SuppressWarnings("UnnecessaryLambda") // made before there is something to tell
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

  /** Nobody waits. */
  public LsnWaiters() {
    this(SLICE);
  }

  /** For tests, which would not notice a lost wake-up if everybody looked by himself soon after. */
  LsnWaiters(long slice) {
    this.slice = slice;
  }

  /**
   * Waits until the predicate holds of the position.
   *
   * @param lsn the position
   * @param reached evaluated by this thread and by those that wake; it becomes true by what is
   *     written before a {@link #wake}
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

  /** Unparks one of those who were found to have reached their position, if there are any. */
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
   * Wakes those of whose position the predicate holds by now.
   *
   * @param reached the predicate
   */
  public void wake(LongPredicate reached) {
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

  /** Wakes everybody, to look again. */
  public void wakeAll() {
    wake(EVERYBODY);
  }

  /** For tests: how many are on the stack, those included that have left by themselves. */
  int queued() {
    int n = 0;
    for (@Nullable Waiter waiter = head; waiter != null; waiter = waiter.next) {
      n++;
    }
    return n;
  }

  /**
   * Whether nobody waits, as far as was known a moment ago.
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
