package org.revenantdb.engine.buffer;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;

/**
 * The threads that wait until some frame can be taken, in the order in which they came.
 *
 * <p>Use: {@link #enter}; then, in a loop, read {@link #generation}, look for a frame, and {@link
 * #await} with what was read; {@link #leave} in any case.
 *
 * <p>Threads: any.
 */
final class FrameWaiters {
  /*
   * The first
   *   One thread, the first in the queue, looks for frames: at each signal, and after a few milliseconds without one,
   *   because a frame becomes usable without a signal when its latch is released. The others sleep. A thread that
   *   leaves wakes the next one, which is the first then and looks at once. So one frame wakes one thread. Were all
   *   woken, each frame would cost as many switches as threads wait, and with one processor the page writer, which is
   *   to make the frames clean, would hardly run.
   *
   * No lost wake-up
   *   A signal between the look and the wait changes the generation. A thread leaves the queue before it looks who is
   *   next; so of two that leave at the same time, the later one finds the thread that is the first afterwards.
   *
   * Not only the first
   *   The others look, too, every tenth of a second. The first may be a virtual thread without a carrier, and the
   *   carriers may be held by the others.
   *
   * No hope
   *   Nobody was given a frame for a minute, and many looks were in vain. A minute alone would not do: on a machine
   *   that is busy with other things a minute may be one look.
   */
  private static final long NOT_FIRST = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long HOPELESS = TimeUnit.SECONDS.toNanos(60);
  private static final int LOOKS = 2_000;

  private final ConcurrentLinkedQueue<Waiter> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong generation = new AtomicLong();

  /** Looks in vain since a waiter was given a frame. */
  private final AtomicInteger inVain = new AtomicInteger();

  private final LongSupplier nanoTime;

  /** When a waiter was given a frame the last time. */
  private volatile long served;

  /** A thread that waits. Compared by identity. */
  static final class Waiter {
    private final Thread thread = Thread.currentThread();
    private final long begun;
    private boolean isInterrupted;

    private Waiter(long begun) {
      this.begun = begun;
    }
  }

  FrameWaiters() {
    this(System::nanoTime);
  }

  /** With a clock of its own, for tests. */
  FrameWaiters(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.served = nanoTime.getAsLong();
  }

  long generation() {
    return generation.get();
  }

  /** Whether anybody waits. */
  boolean any() {
    return !queue.isEmpty();
  }

  /** Puts this thread at the end of the queue. */
  Waiter enter() {
    Waiter me = new Waiter(nanoTime.getAsLong());
    queue.add(me);
    return me;
  }

  /**
   * Notes a look in vain.
   *
   * @return whether there is no hope: there were many, for a minute, by whomever
   */
  boolean isHopeless(Waiter me) {
    long now = nanoTime.getAsLong();
    return inVain.incrementAndGet() >= LOOKS
        && now - me.begun > HOPELESS
        && now - served > HOPELESS;
  }

  /** How long nobody was given a frame if there is no hope, in seconds. */
  static long hopelessSeconds() {
    return TimeUnit.NANOSECONDS.toSeconds(HOPELESS);
  }

  /**
   * Waits until this thread has to look again. An interrupt is kept until it leaves.
   *
   * @param seen the generation before the last look
   * @param nanos how long the first waits at most
   */
  void await(Waiter me, long seen, long nanos) {
    if (isFirst(me)) {
      long end = System.nanoTime() + nanos;
      for (long left = nanos;
          generation.get() == seen && left > 0;
          left = end - System.nanoTime()) {
        park(me, left);
      }
      return;
    }
    long end = System.nanoTime() + NOT_FIRST;
    for (long left = NOT_FIRST; !isFirst(me) && left > 0; left = end - System.nanoTime()) {
      park(me, left);
    }
  }

  @SuppressWarnings("ReferenceEquality") // which waiter it is
  private boolean isFirst(Waiter me) {
    return queue.peek() == me;
  }

  private void park(Waiter me, long nanos) {
    Parking.parkNanos(this, nanos);
    me.isInterrupted |= Thread.interrupted();
  }

  /**
   * Ends the wait of this thread; the next one looks.
   *
   * @param isServed whether it has a frame
   */
  void leave(Waiter me, boolean isServed) {
    if (isServed) {
      inVain.setPlain(0); // about how many: one that is lost does not matter
      served = nanoTime.getAsLong();
    }
    queue.remove(me);
    wake(queue.peek());
    if (me.isInterrupted) {
      me.thread.interrupt();
    }
  }

  /** A frame can be taken, or the pool has stopped: the first looks again. */
  void signal() {
    generation.incrementAndGet();
    wake(queue.peek());
  }

  private static void wake(@Nullable Waiter waiter) {
    if (waiter == null) {
      return;
    }
    try {
      Parking.unpark(waiter.thread);
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException e) {
      // It looks by itself in a moment.
    }
  }
}
