package org.revenantdb.engine.buffer;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;

/**
 * Frames that get a page and frames that lose it: claims a frame that is free, fresh or evicted,
 * enters a page in it, and gives it up.
 *
 * <p>Owns the free frames and whether the pool is closed: from then on nothing is claimed. Frames,
 * translation, clock, waiters and page writer are shared with the rest of the pool. What a frame
 * may be is told in {@link BufferPool}.
 *
 * <p>Threads: any, several at once. A frame that is claimed is in nobody's reach but the claimer's,
 * until its stay is in the translation.
 *
 * <p>Latches: the one of a new stay is free, and acquired before the stay can be found: nobody
 * waits for it here. Eviction tries the latches of others and never waits for one. So a claimer may
 * hold latches of pages; but who waits for a frame holds no space map.
 */
final class FrameClaims {
  /*
   * Waiting for a frame
   *   When every frame is dirty or latched, the claimer asks the page writer and waits, perhaps with latches on
   *   other pages. The page writer waits for no latch, and the log waits for no latch, so frames become clean as
   *   long as fewer are latched than there are. If nothing moves for a long time the pool is too small for what
   *   is latched at once, and that is what the exception says.
   */

  private static final long SHORTEST_WAIT = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LONGEST_WAIT = TimeUnit.MILLISECONDS.toNanos(5);

  private final Frames frames;
  private final Translation translation;
  private final FreeFrames free;
  private final Clock clock;
  private final FrameWaiters waiters;
  private final PageWriter writer;
  private final PoolWaits waits;
  private final PoolCounters counters;
  private final Path dataPath;
  private volatile boolean closed;

  /**
   * No frame is in use yet.
   *
   * @param free empty, with room for all frames
   * @param dataPath for messages
   */
  FrameClaims(
      Frames frames,
      Translation translation,
      FreeFrames free,
      Clock clock,
      FrameWaiters waiters,
      PageWriter writer,
      PoolWaits waits,
      PoolCounters counters,
      Path dataPath) {
    this.frames = frames;
    this.translation = translation;
    this.free = free;
    this.clock = clock;
    this.waiters = waiters;
    this.writer = writer;
    this.waits = waits;
    this.counters = counters;
    this.dataPath = dataPath;
  }

  /** A frame for a page that is not resident, latched exclusively; NONE if it is by now. */
  int enter(int pageId, boolean forScan) {
    translation.prepare(pageId);
    return enter(pageId, claim(), forScan);
  }

  /** Gives a page a frame that was claimed for it; NONE if the page has one by now. */
  int enter(int pageId, int frame, boolean forScan) {
    Stay stay = newStay(pageId, frame, forScan);
    stay.acquireExclusive();
    frames.setCondition(frame, PageCondition.GOOD);
    frames.setStayVolatile(frame, stay);
    if (!translation.install(stay)) {
      release(stay);
      return Frames.NONE;
    }
    try {
      clock.entered(stay);
    } catch (Throwable failure) {
      leave(stay);
      throw failure;
    }
    return frame;
  }

  private Stay newStay(int pageId, int frame, boolean forScan) {
    try {
      return new Stay(pageId, frame, frames.memory(frame), forScan);
    } catch (Throwable noMemory) {
      free.add(frame);
      throw noMemory;
    }
  }

  /** Gives a frame up that is in the translation. */
  void leave(Stay stay) {
    translation.remove(stay.pageId());
    release(stay);
  }

  /** Gives a frame up that is not in the translation. */
  private void release(Stay stay) {
    stay.markObsolete();
    FramePoison.pageLeft(stay);
    frames.setStayVolatile(stay.frame(), null);
    free.add(stay.frame());
    stay.releaseExclusive();
    waiters.signal();
  }

  /** A frame without a page, in nobody's reach; waits for one if need be. */
  private int claim() {
    int frame = claimAtOnce();
    return frame != Frames.NONE ? frame : claimPatiently();
  }

  private int claimAtOnce() {
    checkOpen();
    int frame = free.poll();
    if (frame == Frames.NONE) {
      frame = frames.makeFresh();
    }
    if (frame == Frames.NONE) {
      frame = clock.evict();
      writer.keepUp();
    }
    return frame;
  }

  private int claimPatiently() {
    counters.frameWaits.increment();
    WaitMeter meter = waits.frame();
    @Nullable Object begun = meter.begin();
    try {
      return claimInTime();
    } finally {
      meter.end(begun);
    }
  }

  private int claimInTime() {
    FrameWaiters.Waiter me = waiters.enter();
    int frame = Frames.NONE;
    try {
      long wait = SHORTEST_WAIT;
      while (true) {
        long seen = waiters.generation();
        frame = claimAtOnce();
        if (frame != Frames.NONE) {
          return frame;
        }
        writer.checkRunning();
        if (waiters.isHopeless(me)) {
          throw tooSmall();
        }
        writer.wantCleanFrames();
        waiters.await(me, seen, wait);
        wait = Math.min(wait * 2, LONGEST_WAIT);
      }
    } finally {
      waiters.leave(me, frame != Frames.NONE);
    }
  }

  private PoolSizeException tooSmall() {
    return PoolSizeException.noFrameFree(
        "No frame became free for %d s: all %d frames of the buffer pool of %s are latched or cannot be written; open the database with a larger pool or use fewer threads at once."
            .formatted(FrameWaiters.hopelessSeconds(), frames.used(), dataPath));
  }

  /** A frame for a page that perhaps nobody asks for, or {@link Frames#NONE}; waits for nothing. */
  int claimForAhead() {
    int frame = free.poll();
    if (frame == Frames.NONE) {
      frame = frames.makeFresh();
    }
    return frame != Frames.NONE ? frame : clock.evictCold();
  }

  /** Whether none is for what nobody waits for: somebody waits for one, or the pool is closed. */
  boolean isRefusingAhead() {
    return closed || waiters.any();
  }

  /** To be called by who found an obsolete stay, or nothing, before it looks again. */
  void checkOpen() {
    if (closed) {
      throw new PoolClosedException();
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Ends the waits for frames, and all claims to come. */
  void close() {
    closed = true;
    waiters.signal();
  }
}
