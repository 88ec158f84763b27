package org.revenantdb.engine.buffer;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.WaitMeter;

/**
 * Assigns frames to pages: claims a frame that is free, fresh or evicted, enters a page in it, and
 * releases it.
 *
 * <p>It owns the free frames and the state "closed": from then on nothing is claimed. It shares
 * frames, translation, clock, waiters and page writer with the rest of the pool. {@link BufferPool}
 * defines the states of a frame.
 *
 * <p>Threads: any, several at once. Only the claiming thread can reach a claimed frame, until its
 * stay is in the translation.
 *
 * <p>Latches: a new stay's latch is free, and acquired before the stay can be found, so no thread
 * waits for it here. Eviction tries the latches of others and never waits for one. So a claiming
 * thread may hold latches of pages, but a thread that waits for a frame holds no space map.
 */
final class FrameClaims {
  /*
   * Waiting for a frame
   *   When every frame is dirty or latched, the claiming thread asks the page writer and waits,
   *   perhaps with latches on other pages. The page writer and the log wait for no latch, so frames
   *   become clean as long as fewer are latched than exist. If nothing changes for a long time, the
   *   pool is too small for the number of latches, and the exception says so.
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
   * Creates the claims of an empty pool.
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

  /**
   * A frame for a page that is not resident, latched exclusively; NONE if the page is resident by
   * now.
   */
  int enter(int pageId, boolean forScan) {
    translation.prepare(pageId);
    return enter(pageId, claim(), forScan);
  }

  /** Gives a claimed frame to a page; NONE if the page has one by now. */
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

  /** Releases a frame that is in the translation. */
  void leave(Stay stay) {
    translation.remove(stay.pageId());
    release(stay);
  }

  /** Releases a frame that is not in the translation. */
  private void release(Stay stay) {
    stay.markObsolete();
    FramePoison.pageLeft(stay);
    frames.setStayVolatile(stay.frame(), null);
    free.add(stay.frame());
    stay.releaseExclusive();
    waiters.signal();
  }

  /** A frame without a page that no other thread can reach; waits for one if needed. */
  private int claim() {
    int frame = claimAtOnce();
    return frame != Frames.NONE ? frame : claimPatiently();
  }

  private int claimAtOnce() {
    checkOpen();
    int frame = free.poll();
    if (frame == Frames.NONE) {
      frame = frames.makeFresh();
      if (frames.wantsSpare()) {
        writer.prepareFrames();
      }
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

  /** A frame for a page that may never be requested, or {@link Frames#NONE}; waits for nothing. */
  int claimForAhead() {
    int frame = free.poll();
    if (frame == Frames.NONE) {
      frame = frames.makeFresh();
    }
    return frame != Frames.NONE ? frame : clock.evictCold();
  }

  /**
   * Whether no frame is available for reading ahead, because a thread waits for one or the pool is
   * closed.
   */
  boolean isRefusingAhead() {
    return closed || waiters.any();
  }

  /** Called by a thread that found an obsolete stay, or none, before it looks again. */
  void checkOpen() {
    if (closed) {
      throw new PoolClosedException();
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Ends the waits for frames, and all later claims. */
  void close() {
    closed = true;
    waiters.signal();
  }
}
