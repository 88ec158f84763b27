package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * The frames of a pool: for each its 8 KiB of memory, the stay of its page, and its dirty state.
 * State only; {@link BufferPool} defines what may be done with it, and when.
 *
 * <p>Frames come in blocks, one for each slab of memory, created with their first frame.
 */
final class Frames {
  /** The result of {@link #makeFresh} when there are no more. */
  static final int NONE = -1;

  private static final int BLOCK_SHIFT = 9;
  private static final int BLOCK_FRAMES = 1 << BLOCK_SHIFT;

  /** When that many frames of the last block are used, memory for the next block is prepared. */
  private static final int AHEAD_FROM = BLOCK_FRAMES / 4;

  private static final VarHandle LONG = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle STAY = MethodHandles.arrayElementVarHandle(Stay[].class);

  /** The frames of one slab. */
  private static final class Block {
    final Slabs.Slab slab;
    final MemorySegment memory;
    final @Nullable Stay[] stays = new Stay[BLOCK_FRAMES];
    final long[] firstLsns = new long[BLOCK_FRAMES];
    final long[] flushing = new long[BLOCK_FRAMES];
    final PageCondition[] conditions = new PageCondition[BLOCK_FRAMES];

    Block(Slabs.Slab slab) {
      this.slab = slab;
      this.memory = slab.memory;
      Arrays.fill(conditions, PageCondition.GOOD);
    }
  }

  private final Slabs slabs;
  private final int capacity;
  private final AtomicReferenceArray<@Nullable Block> blocks;
  private final PatientLock growth = new PatientLock();
  private final AtomicInteger used = new AtomicInteger();
  private volatile int limit;

  /** Memory for the next block; under {@code growth}. */
  private Slabs.@Nullable Slab spare;

  /** Whether a thread is about to bring memory for the next block; under {@code growth}. */
  private boolean onItsWay;

  /** Whether memory for the next block is to be prepared. */
  private volatile boolean wantsSpare;

  Frames(Slabs slabs, int capacity) {
    this.slabs = slabs;
    this.capacity = capacity;
    this.limit = capacity;
    this.blocks = new AtomicReferenceArray<>((capacity + BLOCK_FRAMES - 1) / BLOCK_FRAMES);
  }

  /** The maximum number of frames. */
  int capacity() {
    return capacity;
  }

  /** How many frames were used at least once: those with lower numbers. */
  int used() {
    return used.get();
  }

  /**
   * A frame that was never used, or {@link #NONE}.
   *
   * <p>If the system has no memory for another slab, the pool continues with the frames it has. It
   * is an error only if there is no frame at all.
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
      if (slot(frame) == AHEAD_FROM) {
        wantsSpare = spare == null && nextBlock(frame) < limit;
      }
      return frame;
    } finally {
      growth.unlock();
    }
  }

  /** The first frame of the next block. */
  private static int nextBlock(int frame) {
    return ((frame >>> BLOCK_SHIFT) + 1) << BLOCK_SHIFT;
  }

  /** Whether {@link #prepare} has something to do. */
  boolean wantsSpare() {
    return wantsSpare;
  }

  /**
   * Takes memory for the next block. The system clears fresh memory page by page, which takes a
   * millisecond for a slab. A thread that needs a frame has latches.
   *
   * <p>If there is no more memory, the thread that needs the frame finds that out by itself. It may
   * also find none because this thread has just taken the last. Then the pool does not stay
   * smaller: there is no fresh frame until this thread is back. For one thread at a time.
   */
  void prepare() {
    if (!wantsSpare) {
      return;
    }
    setOnItsWay(true);
    Slabs.@Nullable Slab made = null;
    try {
      made = slabs.take();
    } catch (OutOfMemoryError full) {
      wantsSpare = false;
    } finally {
      if (made == null) {
        setOnItsWay(false);
      }
    }
    if (made != null) {
      arrived(made);
    }
  }

  private void setOnItsWay(boolean isOnItsWay) {
    growth.lock();
    try {
      onItsWay = isOnItsWay;
    } finally {
      growth.unlock();
    }
  }

  private void arrived(Slabs.Slab made) {
    boolean isUsed = false;
    growth.lock();
    try {
      onItsWay = false;
      wantsSpare = false;
      if (spare == null && nextBlock(used.get() - 1) < limit) {
        spare = made;
        isUsed = true;
      }
    } finally {
      growth.unlock();
      if (!isUsed) {
        slabs.giveBack(made);
      }
    }
  }

  /** For tests: whether memory for the next block is there. */
  boolean hasSpare() {
    growth.lock();
    try {
      return spare != null;
    } finally {
      growth.unlock();
    }
  }

  private boolean hasMemory(int frame) {
    int index = frame >>> BLOCK_SHIFT;
    if (blocks.get(index) != null) {
      return true;
    }
    Slabs.@Nullable Slab slab = spare;
    try {
      if (slab == null) {
        slab = slabs.take();
      }
      spare = slab; // so it is not lost if the heap is full
      blocks.set(index, new Block(slab));
      spare = null;
      return true;
    } catch (OutOfMemoryError full) {
      if (frame == 0) {
        throw full;
      }
      if (!onItsWay) {
        limit = frame;
      }
      return false;
    }
  }

  /** Releases all memory, except slabs in which a latch is still held. */
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
      Slabs.Slab unused = spare;
      spare = null;
      if (unused != null) {
        slabs.giveBack(unused);
      }
    } finally {
      growth.unlock();
    }
  }

  /** Ends every stay, so that no thread can enter again; false if a thread is inside. */
  private static boolean isQuiet(Block block) {
    boolean quiet = true;
    for (int i = 0; i < BLOCK_FRAMES; i++) {
      Stay stay = (Stay) STAY.getVolatile(block.stays, i);
      if (stay == null) {
        continue;
      }
      if (stay.tryAcquireExclusive()) {
        stay.markObsolete();
        stay.releaseExclusive();
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

  /** The slab of memory with a frame; {@link #base} returns the offset. */
  MemorySegment slab(int frame) {
    return block(frame).memory;
  }

  /** The offset of a frame in its slab. */
  static long base(int frame) {
    return (long) slot(frame) * BufferPool.PAGE_SIZE;
  }

  /** The 8 KiB of a frame. */
  MemorySegment memory(int frame) {
    return slab(frame).asSlice(base(frame), BufferPool.PAGE_SIZE);
  }

  /** The stay of the page that the frame holds, or null. */
  @Nullable Stay stayVolatile(int frame) {
    return (Stay) STAY.getVolatile(block(frame).stays, slot(frame));
  }

  void setStayVolatile(int frame, @Nullable Stay stay) {
    STAY.setVolatile(block(frame).stays, slot(frame), stay);
  }

  /** The stay in a frame that the caller has latched. */
  Stay stayOf(int frame) {
    Stay stay = (Stay) STAY.get(block(frame).stays, slot(frame));
    if (stay == null) {
      throw new IllegalStateException("frame " + frame + " holds no page");
    }
    return stay;
  }

  /** Reads the state of a frame for {@link BufferPool#touchForChange}; a meaningless number. */
  int touch(int frame) {
    Block block = block(frame);
    return (int) (long) LONG.getOpaque(block.firstLsns, slot(frame))
        + (STAY.getOpaque(block.stays, slot(frame)) == null ? 0 : 1);
  }

  long firstLsnVolatile(int frame) {
    return (long) LONG.getVolatile(block(frame).firstLsns, slot(frame));
  }

  void setFirstLsnVolatile(int frame, long lsn) {
    LONG.setVolatile(block(frame).firstLsns, slot(frame), lsn);
  }

  /** Sets the first LSN of a clean frame; false if another thread did. */
  boolean beginsDirty(int frame, long lsn) {
    return LONG.compareAndSet(block(frame).firstLsns, slot(frame), 0L, lsn);
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

  /** The condition in which the page was read; written and read under the exclusive latch. */
  PageCondition condition(int frame) {
    return block(frame).conditions[slot(frame)];
  }

  void setCondition(int frame, PageCondition condition) {
    block(frame).conditions[slot(frame)] = condition;
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
