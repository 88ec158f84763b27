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
 * The threads that wait for a frame, in the order of their arrival.
 *
 * <p>Use: {@link #enter}; then, in a loop, read {@link #generation}, look for a frame, and {@link
 * #await} with the generation; {@link #leave} in any case.
 *
 * <p>Threads: any.
 */
final class FrameWaiters {
  /*
   * The first
   *   The first thread in the queue looks for frames: at each signal, and after a few milliseconds
   *   without one, because a frame becomes usable without a signal when its latch is released. The
   *   others sleep. A thread that leaves wakes the next one, which is then the first and looks at
   *   once. So one frame wakes one thread. If all were woken, each frame would cost as many
   *   switches as there are waiting threads. With one processor the page writer, which makes the
   *   frames clean, would then hardly run.
   *
   * No lost wake-up
   *   A signal between the look and the wait changes the generation. A thread leaves the queue
   *   before it looks for the next one. So of two threads that leave at the same time, the later
   *   one finds the thread that is first afterwards.
   *
   * Not only the first
   *   The others look, too, every tenth of a second. The first may be a virtual thread without a carrier, and the
   *   carriers may be held by the others.
   *
   * No hope
   *   No thread got a frame for a minute, and many looks failed. A minute alone is not enough,
   *   because on a busy machine there may be only one look in a minute.
   */
  private static final long NOT_FIRST = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long HOPELESS = TimeUnit.SECONDS.toNanos(60);
  private static final int LOOKS = 2_000;

  private final ConcurrentLinkedQueue<Waiter> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong generation = new AtomicLong();

  /** Failed looks since a waiter got a frame. */
  private final AtomicInteger inVain = new AtomicInteger();

  private final LongSupplier nanoTime;

  /** When a waiter last got a frame. */
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

  /** With its own clock, for tests. */
  FrameWaiters(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.served = nanoTime.getAsLong();
  }

  long generation() {
    return generation.get();
  }

  /** Whether a thread waits. */
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
   * Notes a failed look.
   *
   * @return whether there is no hope: all threads together had many for a minute
   */
  boolean isHopeless(Waiter me) {
    long now = nanoTime.getAsLong();
    return inVain.incrementAndGet() >= LOOKS
        && now - me.begun > HOPELESS
        && now - served > HOPELESS;
  }

  /** After how many seconds without a frame for any thread there is no hope. */
  static long hopelessSeconds() {
    return TimeUnit.NANOSECONDS.toSeconds(HOPELESS);
  }

  /**
   * Waits until this thread should look again. An interrupt is kept until it leaves.
   *
   * @param seen the generation before the last look
   * @param nanos how long the first thread waits at most
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

  @SuppressWarnings("ReferenceEquality") // compares waiters by identity
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
      inVain.setPlain(0); // approximate: a lost count does not matter
      served = nanoTime.getAsLong();
    }
    queue.remove(me);
    wake(queue.peek());
    if (me.isInterrupted) {
      me.thread.interrupt();
    }
  }

  /** A frame can be taken, or the pool has stopped: the first thread looks again. */
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
      // It looks by itself soon.
    }
  }
}
