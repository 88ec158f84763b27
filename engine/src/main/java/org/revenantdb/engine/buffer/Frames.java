package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.HybridLatch;

/**
 * The frames of a pool: for each its 8 KiB of memory, its latch, the page it holds, and how dirty
 * that is. State only; what may be done with it, and when, is told in {@link BufferPool}.
 *
 * <p>Frames come in blocks, one for each slab of memory, made when their first frame is needed.
 */
final class Frames {
  /** The page id of a frame that holds none. */
  static final int NO_PAGE = -1;

  /** What {@link #makeFresh} returns when there are no more. */
  static final int NONE = -1;

  private static final int BLOCK_SHIFT = 9;
  private static final int BLOCK_FRAMES = 1 << BLOCK_SHIFT;
  private static final int MAX_HEAT = 3;

  /**
   * Stands where no latch is yet; nobody acquires it, since a frame without a page is let alone.
   */
  private static final HybridLatch NEVER_USED = new HybridLatch();

  private static final VarHandle INT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final VarHandle LONG = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle BYTE = MethodHandles.arrayElementVarHandle(byte[].class);
  private static final VarHandle LATCH = MethodHandles.arrayElementVarHandle(HybridLatch[].class);

  /** The frames of one slab. */
  private static final class Block {
    final Slabs.Slab slab;
    final MemorySegment memory;
    final HybridLatch[] latches = new HybridLatch[BLOCK_FRAMES];
    final int[] pageIds = new int[BLOCK_FRAMES];
    final long[] firstLsns = new long[BLOCK_FRAMES];
    final long[] flushing = new long[BLOCK_FRAMES];
    final byte[] heat = new byte[BLOCK_FRAMES];
    final PageCondition[] conditions = new PageCondition[BLOCK_FRAMES];

    Block(Slabs.Slab slab) {
      this.slab = slab;
      this.memory = slab.memory;
      Arrays.fill(pageIds, NO_PAGE);
      Arrays.fill(conditions, PageCondition.GOOD);
      Arrays.fill(latches, NEVER_USED);
    }
  }

  private final Slabs slabs;
  private final int capacity;
  private final AtomicReferenceArray<@Nullable Block> blocks;
  private final ReentrantLock growth = new ReentrantLock();
  private final AtomicInteger used = new AtomicInteger();
  private volatile int limit;

  Frames(Slabs slabs, int capacity) {
    this.slabs = slabs;
    this.capacity = capacity;
    this.limit = capacity;
    this.blocks = new AtomicReferenceArray<>((capacity + BLOCK_FRAMES - 1) / BLOCK_FRAMES);
  }

  /** How many frames the pool may have. */
  int capacity() {
    return capacity;
  }

  /** How many frames have been handed out at least once: those with lower numbers. */
  int used() {
    return used.get();
  }

  /**
   * A frame that was never used, or {@link #NONE}.
   *
   * <p>If the system has no memory for another slab, the pool goes on with the frames it has; only
   * without any frame at all that is an error.
   */
  int makeFresh() {
    if (used.get() >= limit) {
      return NONE;
    }
    growth.lock();
    try {
      int frame = used.get();
      if (frame >= limit || !hasMemory(frame)) {
        return NONE;
      }
      used.set(frame + 1);
      return frame;
    } finally {
      growth.unlock();
    }
  }

  private boolean hasMemory(int frame) {
    int index = frame >>> BLOCK_SHIFT;
    if (blocks.get(index) != null) {
      return true;
    }
    try {
      blocks.set(index, new Block(slabs.take()));
      return true;
    } catch (OutOfMemoryError full) {
      if (frame == 0) {
        throw full;
      }
      limit = frame;
      return false;
    }
  }

  /** Gives all memory back, except that of slabs in which somebody still holds a latch. */
  void close() {
    growth.lock();
    try {
      limit = 0;
      for (int i = 0; i < blocks.length(); i++) {
        Block block = blocks.get(i);
        if (block != null && isQuiet(block)) {
          slabs.giveBack(block.slab);
        }
      }
    } finally {
      growth.unlock();
    }
  }

  /** Takes every frame its page, so that nobody can come in again; false if somebody is inside. */
  private static boolean isQuiet(Block block) {
    boolean quiet = true;
    for (int i = 0; i < BLOCK_FRAMES; i++) {
      INT.setVolatile(block.pageIds, i, NO_PAGE);
      HybridLatch latch = (HybridLatch) LATCH.getVolatile(block.latches, i);
      if (latch == NEVER_USED) {
        continue;
      }
      if (latch.tryAcquireExclusive()) {
        latch.releaseExclusive();
      } else {
        quiet = false;
      }
    }
    return quiet;
  }

  private Block block(int frame) {
    Block block = blocks.getAcquire(frame >>> BLOCK_SHIFT);
    if (block == null) {
      throw new IllegalArgumentException("frame " + frame + " was never handed out");
    }
    return block;
  }

  private static int slot(int frame) {
    return frame & (BLOCK_FRAMES - 1);
  }

  /** The 8 KiB of a frame. */
  MemorySegment memory(int frame) {
    return block(frame)
        .memory
        .asSlice((long) slot(frame) * BufferPool.PAGE_SIZE, BufferPool.PAGE_SIZE);
  }

  HybridLatch latchVolatile(int frame) {
    return (HybridLatch) LATCH.getVolatile(block(frame).latches, slot(frame));
  }

  void setLatchVolatile(int frame, HybridLatch latch) {
    LATCH.setVolatile(block(frame).latches, slot(frame), latch);
  }

  int pageIdVolatile(int frame) {
    return (int) INT.getVolatile(block(frame).pageIds, slot(frame));
  }

  void setPageIdVolatile(int frame, int pageId) {
    INT.setVolatile(block(frame).pageIds, slot(frame), pageId);
  }

  long firstLsnVolatile(int frame) {
    return (long) LONG.getVolatile(block(frame).firstLsns, slot(frame));
  }

  void setFirstLsnVolatile(int frame, long lsn) {
    LONG.setVolatile(block(frame).firstLsns, slot(frame), lsn);
  }

  long flushingVolatile(int frame) {
    return (long) LONG.getVolatile(block(frame).flushing, slot(frame));
  }

  void setFlushingVolatile(int frame, long lsn) {
    LONG.setVolatile(block(frame).flushing, slot(frame), lsn);
  }

  /** Whether the frame has to be written, or is being written. */
  boolean isDirty(int frame) {
    return firstLsnVolatile(frame) != 0 || flushingVolatile(frame) != 0;
  }

  /** What was found when the page was read; written and read under the exclusive latch. */
  PageCondition condition(int frame) {
    return block(frame).conditions[slot(frame)];
  }

  void setCondition(int frame, PageCondition condition) {
    block(frame).conditions[slot(frame)] = condition;
  }

  /**
   * Notes that the page was asked for. Two who note it at once may count as one: a page that is
   * wanted that much is warm anyway.
   */
  void warm(int frame) {
    byte[] heat = block(frame).heat;
    int slot = slot(frame);
    byte now = (byte) BYTE.getOpaque(heat, slot);
    if (now < MAX_HEAT) {
      BYTE.setOpaque(heat, slot, (byte) (now + 1));
    }
  }

  /** Takes one degree off; false if it was cold. */
  boolean cool(int frame) {
    byte[] heat = block(frame).heat;
    int slot = slot(frame);
    byte now = (byte) BYTE.getOpaque(heat, slot);
    if (now == 0) {
      return false;
    }
    BYTE.setOpaque(heat, slot, (byte) (now - 1));
    return true;
  }

  void setCold(int frame) {
    BYTE.setOpaque(block(frame).heat, slot(frame), (byte) 0);
  }

  /**
   * The lowest first LSN of all changes that are not yet in the data file, or {@link
   * Long#MAX_VALUE}.
   */
  long oldestLsn(Steps steps) {
    long oldest = Long.MAX_VALUE;
    int n = used.get();
    for (int frame = 0; frame < n; frame++) {
      long first = firstLsnVolatile(frame);
      steps.at(Steps.Step.SCANNED_FIRST_LSN, frame);
      long flushing = flushingVolatile(frame);
      oldest = Math.min(oldest, first == 0 ? Long.MAX_VALUE : first);
      oldest = Math.min(oldest, flushing == 0 ? Long.MAX_VALUE : flushing);
    }
    return oldest;
  }
}
