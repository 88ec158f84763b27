package org.revenantdb.engine.buffer;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The frames that were used before and hold no page now: of pages that were freed or could not be
 * read.
 */
final class FreeFrames {
  private final ConcurrentLinkedQueue<Integer> queue = new ConcurrentLinkedQueue<>();

  /** Kept apart, as the queue counts by walking; at most too high for a moment. */
  private final AtomicInteger size = new AtomicInteger();

  void add(int frame) {
    size.incrementAndGet();
    queue.add(frame);
  }

  /** A frame, or {@link Frames#NONE}. */
  int poll() {
    if (size.get() == 0) {
      return Frames.NONE;
    }
    @Nullable Integer frame = queue.poll();
    if (frame == null) {
      return Frames.NONE;
    }
    size.decrementAndGet();
    return frame;
  }

  int size() {
    return size.get();
  }
}
