package org.revenantdb.engine.buffer;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.revenantdb.latch.Parking;

/**
 * The threads that wait until some frame can be taken.
 *
 * <p>Use: read {@link #generation}, look for a frame, and only then {@link #await} with what was
 * read: a signal in between is not lost. A wait also ends after a few milliseconds, because a frame
 * becomes usable without a signal when its latch is released.
 */
final class FrameWaiters {
  private static final Consumer<Thread> UNPARK = FrameWaiters::unpark;

  private final ConcurrentLinkedQueue<Thread> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong generation = new AtomicLong();

  long generation() {
    return generation.get();
  }

  /** Whether anybody waits. */
  boolean any() {
    return !queue.isEmpty();
  }

  /** Waits for a signal after {@code seen}, at most for a time; an interrupt is kept for later. */
  void await(long seen, long nanos) {
    Thread me = Thread.currentThread();
    boolean interrupted = false;
    queue.add(me);
    try {
      long end = System.nanoTime() + nanos;
      long left = nanos;
      while (generation.get() == seen && left > 0) {
        Parking.parkNanos(this, left);
        interrupted |= Thread.interrupted();
        left = end - System.nanoTime();
      }
    } finally {
      queue.remove(me);
      if (interrupted) {
        me.interrupt();
      }
    }
  }

  /** A frame can be taken, or the pool has stopped: all look again. */
  void signal() {
    generation.incrementAndGet();
    queue.forEach(UNPARK);
  }

  private static void unpark(Thread thread) {
    try {
      Parking.unpark(thread);
    } catch (OutOfMemoryError | StackOverflowError | RejectedExecutionException e) {
      // It looks by itself in a moment; the others have to be woken.
    }
  }
}
