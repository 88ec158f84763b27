package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Frames without a page: a stack. Thread-safe, lock-free, and without allocation, because a frame
 * is released under a latch.
 */
final class FreeFrames {
  /*
   * State       head: the frame on top, plus one, and above that a count of changes.
   *             next[frame]: the frame below, plus one; used only by that frame while no other
   *             thread can reach it.
   *
   * ABA         each change of head raises the count, so a head that was read earlier never equals
   *             a later one.
   */
  private static final long FRAME = 0xFFFFFFFFL;
  private static final long CHANGE = 1L << 32;

  private final AtomicLong head = new AtomicLong();
  private final AtomicIntegerArray next;

  /**
   * Counted separately, because the stack would have to be walked; at most too high for a moment.
   */
  private final AtomicInteger size = new AtomicInteger();

  FreeFrames(int capacity) {
    next = new AtomicIntegerArray(capacity);
  }

  void add(int frame) {
    size.incrementAndGet();
    long before;
    do {
      before = head.get();
      next.set(frame, (int) before);
    } while (!head.compareAndSet(before, (before & ~FRAME) + CHANGE + frame + 1));
  }

  /** A frame, or {@link Frames#NONE}. */
  int poll() {
    while (true) {
      long before = head.get();
      int frame = (int) before - 1;
      if (frame < 0) {
        return Frames.NONE;
      }
      if (head.compareAndSet(before, (before & ~FRAME) + CHANGE + next.get(frame))) {
        size.decrementAndGet();
        return frame;
      }
    }
  }

  int size() {
    return size.get();
  }
}
