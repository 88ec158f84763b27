package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/** Memory for frames is prepared before a thread with latches needs it. */
class FramesAheadTest {
  private static final int FRAMES_OF_A_SLAB = (int) (Slabs.BYTES / BufferPool.PAGE_SIZE);

  @TempDir Path directory;

  @Test
  void memory_for_the_next_frames_is_there_before_they_are_needed() {
    Slabs slabs = new Slabs(4);
    Frames frames = new Frames(slabs, 2 * FRAMES_OF_A_SLAB);
    take(frames, FRAMES_OF_A_SLAB / 4);
    assertFalse(frames.wantsSpare());
    take(frames, 1);
    assertTrue(frames.wantsSpare());
    frames.prepare();
    assertFalse(frames.wantsSpare());
    assertTrue(frames.hasSpare());
    take(frames, FRAMES_OF_A_SLAB - FRAMES_OF_A_SLAB / 4);
    assertFalse(frames.hasSpare(), "it is used");
    frames.close();
    assertEquals(2, slabs.idle());
  }

  @Test
  void no_memory_is_prepared_beyond_the_size_of_the_pool() {
    Slabs slabs = new Slabs(4);
    Frames frames = new Frames(slabs, FRAMES_OF_A_SLAB);
    take(frames, FRAMES_OF_A_SLAB);
    assertFalse(frames.wantsSpare());
    frames.prepare();
    assertFalse(frames.hasSpare());
    frames.close();
    assertEquals(1, slabs.idle());
  }

  @Test
  void memory_that_was_prepared_and_not_needed_is_given_back() {
    Slabs slabs = new Slabs(4);
    Frames frames = new Frames(slabs, 2 * FRAMES_OF_A_SLAB);
    take(frames, FRAMES_OF_A_SLAB / 2);
    frames.prepare();
    frames.close();
    assertEquals(2, slabs.idle());
    frames.prepare();
    assertEquals(2, slabs.idle());
  }

  @Test
  void the_page_writer_prepares_the_memory() {
    Slabs slabs = new Slabs(4);
    FakeLog log = new FakeLog();
    try (StorageFile file =
        StorageFile.open(directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      BufferPool pool = pool(2, file, BatchGuard.NONE, log, slabs);
      try {
        int pages = FRAMES_OF_A_SLAB / 2;
        pool.extendTo(PoolFixture.FIRST + pages);
        fill(pool, log, 0, pages);
        pool.flushDirtyBefore(Long.MAX_VALUE); // behind the request, by the same thread
      } finally {
        pool.close();
      }
      assertEquals(2, slabs.idle(), "one was used, and one was prepared");
    }
  }

  @Test
  void a_pool_does_not_stay_smaller_because_the_last_memory_is_on_its_way() {
    Runnable[] meanwhile = {() -> {}};
    Slabs slabs =
        new Slabs(4) {
          private int left = 2;

          @Override
          Slab take() {
            if (left == 0) {
              throw new OutOfMemoryError("the system has no more");
            }
            left--;
            Slab slab = super.take();
            meanwhile[0].run();
            return slab;
          }
        };
    Frames frames = new Frames(slabs, 2 * FRAMES_OF_A_SLAB);
    take(frames, FRAMES_OF_A_SLAB);
    meanwhile[0] = () -> assertEquals(Frames.NONE, frames.makeFresh());
    frames.prepare();
    take(frames, 1);
    frames.close();
    assertEquals(2, slabs.idle());
  }

  @Test
  void the_page_writer_prepares_memory_between_the_batches_of_a_checkpoint() {
    AtomicInteger taken = new AtomicInteger();
    Slabs slabs =
        new Slabs(4) {
          @Override
          Slab take() {
            taken.incrementAndGet();
            return super.take();
          }
        };
    Watched guard = new Watched(taken);
    FakeLog log = new FakeLog();
    try (StorageFile file =
        StorageFile.open(directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      BufferPool pool = pool(3, file, guard, log, slabs);
      try {
        int first = FRAMES_OF_A_SLAB / 2;
        int all = FRAMES_OF_A_SLAB + FRAMES_OF_A_SLAB / 4;
        pool.extendTo(PoolFixture.FIRST + all + 1);
        fill(pool, log, 0, first);
        pool.flushDirtyBefore(Long.MAX_VALUE); // now the second slab is there
        fill(pool, log, first, all);
        guard.inFirstBatch = () -> fill(pool, log, all, all + 1);
        pool.flushDirtyBefore(log.tail());
      } finally {
        pool.close();
      }
      assertEquals(1, guard.takenByTheSecondBatch);
    }
  }

  /** Does something in the next batch, and looks in the one after it. */
  private static final class Watched implements BatchGuard {
    private final AtomicInteger taken;
    private volatile Runnable inFirstBatch = () -> {};
    private int before = -1;
    private volatile int takenByTheSecondBatch = -1;

    Watched(AtomicInteger taken) {
      this.taken = taken;
    }

    @Override
    public void write(int[] pageIds, int count, MemorySegment images) {
      NONE.write(pageIds, count, images);
      if (before >= 0 && takenByTheSecondBatch < 0) {
        takenByTheSecondBatch = taken.get() - before;
      }
      Runnable now = inFirstBatch;
      inFirstBatch = () -> {};
      int takenUntilNow = taken.get();
      now.run();
      if (before < 0 && pageIds[0] >= PoolFixture.FIRST + FRAMES_OF_A_SLAB / 2) {
        before = takenUntilNow;
      }
    }

    @Override
    public void confirm() {}
  }

  private static BufferPool pool(
      int size, StorageFile file, BatchGuard guard, FakeLog log, Slabs slabs) {
    return new BufferPool(
        BufferPoolOptions.ofBytes(size * Slabs.BYTES),
        file,
        guard,
        log,
        PageAccount.NONE,
        PageReadCheck.NONE,
        PoolWaits.NONE,
        Steps.NONE,
        slabs);
  }

  private static void fill(BufferPool pool, FakeLog log, int from, int to) {
    for (int page = PoolFixture.FIRST + from; page < PoolFixture.FIRST + to; page++) {
      int frame = pool.fixNew(page);
      pool.markDirty(frame, log.tail());
      PoolFixture.write(pool.page(frame), log.append(), page);
      pool.unfixExclusive(frame);
    }
  }

  private static void take(Frames frames, int count) {
    for (int i = 0; i < count; i++) {
      assertTrue(frames.makeFresh() != Frames.NONE);
    }
  }
}
