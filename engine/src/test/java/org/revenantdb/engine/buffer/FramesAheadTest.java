package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
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
      BufferPool pool =
          new BufferPool(
              BufferPoolOptions.ofBytes(2 * Slabs.BYTES),
              file,
              BatchGuard.NONE,
              log,
              PageAccount.NONE,
              PageReadCheck.NONE,
              PoolWaits.NONE,
              Steps.NONE,
              slabs);
      try {
        int pages = FRAMES_OF_A_SLAB / 2;
        pool.extendTo(PoolFixture.FIRST + pages);
        for (int page = PoolFixture.FIRST; page < PoolFixture.FIRST + pages; page++) {
          int frame = pool.fixNew(page);
          pool.markDirty(frame, log.tail());
          PoolFixture.write(pool.page(frame), log.append(), page);
          pool.unfixExclusive(frame);
        }
        pool.flushDirtyBefore(Long.MAX_VALUE); // behind the request, by the same thread
      } finally {
        pool.close();
      }
      assertEquals(2, slabs.idle(), "one was used, and one was prepared");
    }
  }

  private static void take(Frames frames, int count) {
    for (int i = 0; i < count; i++) {
      assertTrue(frames.makeFresh() != Frames.NONE);
    }
  }
}
