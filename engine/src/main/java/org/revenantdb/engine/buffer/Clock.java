package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.revenantdb.latch.HybridLatch;

/**
 * Chooses the page that gives up its frame: a clock over all frames with a small count of recent
 * uses, its heat. A page comes in cold, so one that is used once leaves before those that are used
 * again (quick demotion).
 *
 * <p>Only a clean frame whose latch is free at once is taken.
 *
 * <p>Threads: any, several at once; each takes its own steps of the hand.
 */
final class Clock {
  /** After so many rounds every clean page has become cold. */
  private static final int ROUNDS = 4;

  private final Frames frames;
  private final Translation translation;
  private final AtomicInteger hand = new AtomicInteger();
  private final LongAdder evictions = new LongAdder();

  Clock(Frames frames, Translation translation) {
    this.frames = frames;
    this.translation = translation;
  }

  /** The frame at which the hand is. */
  int hand() {
    return position(hand.get(), Math.max(frames.used(), 1));
  }

  long evictions() {
    return evictions.sum();
  }

  private static int position(int hand, int frames) {
    return (hand & Integer.MAX_VALUE) % frames;
  }

  /** A frame that has just lost its page, in nobody's reach; or {@link Frames#NONE}. */
  int evict() {
    int used = frames.used();
    for (int round = 0; round < ROUNDS; round++) {
      boolean cooled = false;
      for (int i = 0; i < used; i++) {
        int frame = position(hand.getAndIncrement(), used);
        if (frames.pageIdVolatile(frame) == Frames.NO_PAGE || frames.isDirty(frame)) {
          continue;
        }
        if (frames.cool(frame)) {
          cooled = true;
        } else if (tryEvict(frame)) {
          return frame;
        }
      }
      if (!cooled) {
        return Frames.NONE;
      }
    }
    return Frames.NONE;
  }

  private boolean tryEvict(int frame) {
    HybridLatch latch = frames.latchVolatile(frame);
    if (!latch.tryAcquireExclusive()) {
      return false;
    }
    try {
      int page = frames.pageIdVolatile(frame);
      if (frames.latchVolatile(frame) != latch || page == Frames.NO_PAGE || frames.isDirty(frame)) {
        return false;
      }
      translation.remove(page);
      frames.setPageIdVolatile(frame, Frames.NO_PAGE);
      evictions.increment();
      return true;
    } finally {
      latch.releaseExclusive();
    }
  }
}
