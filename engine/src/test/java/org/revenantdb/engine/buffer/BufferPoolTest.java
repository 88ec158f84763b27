package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.PageHeaderLayout;

class BufferPoolTest {
  private static final int FRAMES = 256;

  @TempDir Path directory;

  @Test
  void evicted_dirty_pages_read_back_as_they_were_left() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(2000).pool;
      for (int page = PoolFixture.FIRST; page < 2000; page++) {
        int frame = pool.fixExclusive(page);
        fixture.change(frame, page * 31L);
        pool.unfixExclusive(frame);
      }
      for (int page = PoolFixture.FIRST; page < 2000; page++) {
        int frame = pool.fixShared(page);
        assertEquals(page, pool.pageIdOf(frame));
        assertEquals(page * 31L, PoolFixture.value(pool.page(frame)));
        pool.unfixShared(frame);
      }
      BufferStatistics statistics = pool.statistics();
      assertTrue(statistics.evictions() > 2000, statistics::toString);
      assertEquals(FRAMES, statistics.framesUsed());
    }
  }

  @Test
  void a_page_in_use_again_and_again_outlives_a_scan() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(3000).pool;
      long missesOfHot = 0;
      for (int page = PoolFixture.FIRST; page < 3000; page++) {
        pool.unfixShared(pool.fixShared(page));
        for (int hot = 0; hot < 4; hot++) {
          long before = pool.statistics().misses();
          pool.unfixShared(pool.fixShared(100 + hot));
          missesOfHot += pool.statistics().misses() - before;
        }
      }
      // Without a count of uses each of the four would be read again in every round, eleven times.
      assertTrue(missesOfHot < 16, "hot pages were read again " + missesOfHot + " times");
    }
  }

  @Test
  void bad_pages_are_errors_that_say_where_and_cost_no_frame() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(100).pool;
      pool.extendTo(1000);
      MemorySegment flipped = fixture.onDisk(7);
      flipped.set(ValueLayout.JAVA_BYTE, 5000, (byte) 1);
      fixture.overwriteOnDisk(807, flipped);
      fixture.overwriteOnDisk(808, fixture.onDisk(8));
      for (int i = 0; i < 2 * FRAMES; i++) {
        assertBad(pool, 807, "page 807 is damaged: its checksum is");
        assertBad(pool, 808, "page 808 is damaged: the bytes at its place are those of page 8");
        assertBad(pool, 809, "page 809 was never written");
        assertBad(pool, 5_000_000, "page 5000000 lies beyond the end of the file");
        assertBad(pool, -1, "page 4294967295 lies beyond the end of the file");
      }
      assertReadable(pool, 7);
    }
  }

  @Test
  void a_thread_never_waits_for_a_page_that_it_is_changing() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(100).pool;
      for (boolean wasRead : List.of(true, false)) {
        int held = wasRead ? pool.fixExclusive(20) : pool.fixNew(20);
        for (IntConsumer again :
            List.<IntConsumer>of(pool::fixExclusive, pool::fixShared, pool::fixNew)) {
          DamagedFileException told =
              assertThrows(DamagedFileException.class, () -> again.accept(20));
          assertTrue(told.getMessage().contains("page 20 was reached again"), told.getMessage());
        }
        fixture.change(held, 20);
        pool.unfixExclusive(held);
        assertReadable(pool, 20);
      }
      int upgraded = pool.fixShared(20);
      assertTrue(pool.tryUpgrade(upgraded));
      assertThrows(DamagedFileException.class, () -> pool.fixShared(20));
      pool.downgrade(upgraded);
      pool.unfixShared(upgraded);
      assertReadable(pool, 20);
    }
  }

  @Test
  void a_page_that_the_check_refuses_is_an_error_until_it_does_not() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(1000).pool;
      fixture.driveOut(5);
      fixture.check = (page, bytes) -> page == 5 ? "the page is ahead of the log" : null;
      assertBad(pool, 5, "the page is ahead of the log");
      fixture.check = PageReadCheck.NONE;
      assertReadable(pool, 5);
    }
  }

  private static void assertBad(BufferPool pool, int page, String says) {
    DamagedFileException shared =
        assertThrows(DamagedFileException.class, () -> pool.fixShared(page));
    DamagedFileException exclusive =
        assertThrows(DamagedFileException.class, () -> pool.fixExclusive(page));
    assertTrue(shared.reason().contains(says), shared.reason());
    assertEquals(shared.reason(), exclusive.reason());
    assertEquals(Integer.toUnsignedLong(page) * BufferPool.PAGE_SIZE, shared.offset());
  }

  private static void assertReadable(BufferPool pool, int page) {
    int frame = pool.fixShared(page);
    assertEquals(page, PoolFixture.value(pool.page(frame)));
    pool.unfixShared(frame);
  }

  @Test
  void redo_is_told_what_is_there_and_gets_a_blank_page_where_it_is_bad() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(400).pool;
      pool.extendTo(420);
      fixture.overwriteOnDisk(410, fixture.onDisk(9));
      MemorySegment torn = fixture.onDisk(9);
      torn.asSlice(4096).fill((byte) 0x55);
      fixture.overwriteOnDisk(411, torn);
      assertRedo(pool, 9, PageCondition.GOOD);
      assertRedo(pool, 409, PageCondition.NEVER_WRITTEN);
      assertRedo(pool, 410, PageCondition.DAMAGED);
      assertRedo(pool, 411, PageCondition.DAMAGED);
      assertRedo(pool, pool.sizeInPages() + 50, PageCondition.BEYOND_END);
      fixture.check = (page, bytes) -> "ahead of the log"; // asked only of what is read
      int resident = 0;
      while (pool.resident(resident) == null) {
        resident++;
      }
      assertRedo(pool, resident, PageCondition.GOOD);
    }
  }

  private static void assertRedo(BufferPool pool, int page, PageCondition expected) {
    int frame = pool.fixInAnyCondition(page);
    assertEquals(expected, pool.condition(frame), "page " + page);
    assertEquals(page, pool.pageIdOf(frame));
    if (expected == PageCondition.GOOD) {
      pool.unfixExclusive(frame);
    } else {
      assertEquals(0, PoolFixture.value(pool.page(frame)));
      pool.discard(frame);
    }
  }

  @Test
  void redo_formats_a_damaged_page_and_it_is_good() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(1000).pool;
      fixture.overwriteOnDisk(5, fixture.onDisk(6));
      fixture.driveOut(5);
      int frame = pool.fixInAnyCondition(5);
      assertEquals(PageCondition.DAMAGED, pool.condition(frame));
      fixture.change(frame, 55);
      pool.unfixExclusive(frame);
      frame = pool.fixInAnyCondition(5);
      assertEquals(PageCondition.GOOD, pool.condition(frame), "formatted, still in its frame");
      pool.unfixExclusive(frame);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      fixture.driveOut(5);
      frame = pool.fixInAnyCondition(5);
      assertEquals(PageCondition.GOOD, pool.condition(frame));
      assertEquals(55, PoolFixture.value(pool.page(frame)));
      pool.unfixExclusive(frame);
    }
  }

  @Test
  void a_new_page_is_blank_also_in_the_frame_of_its_former_life() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(100).pool;
      int frame = pool.fixExclusive(50);
      fixture.change(frame, 77);
      pool.unfixExclusive(frame);
      int again = pool.fixNew(50);
      assertEquals(frame, again);
      assertEquals(0, PoolFixture.value(pool.page(again)));
      assertEquals(50, PageHeaderLayout.pageId(pool.page(again)));
      fixture.change(again, 78);
      pool.unfixExclusive(again);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(78, PoolFixture.value(fixture.onDisk(50)));
    }
  }

  @Test
  void R12_a_discarded_page_is_not_written_and_does_not_hold_the_redo_point() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(100).pool;
      int frame = pool.fixExclusive(50);
      fixture.change(frame, 77);
      assertNotEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
      pool.discard(frame);
      assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
      assertEquals(0, pool.statistics().dirty());
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(50, PoolFixture.value(fixture.onDisk(50)));
      assertReadable(pool, 50);
    }
  }

  @Test
  void try_gives_up_where_somebody_holds_the_latch_and_reads_where_nobody_does() throws Exception {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(1000).pool;
      int held = pool.fixShared(20);
      AtomicInteger tried = new AtomicInteger();
      Thread other = Thread.ofVirtual().start(() -> tried.set(pool.tryFixExclusive(20)));
      other.join();
      assertEquals(-1, tried.get());
      pool.unfixShared(held);
      fixture.driveOut(20);
      long reads = pool.statistics().pagesRead();
      int frame = pool.tryFixExclusive(20);
      assertTrue(frame >= 0);
      assertEquals(reads + 1, pool.statistics().pagesRead());
      pool.unfixExclusive(frame);
      frame = pool.tryFixExclusive(20);
      assertTrue(frame >= 0);
      pool.unfixExclusive(frame);
    }
  }

  @Test
  void upgrade_works_for_the_only_reader() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(10).pool;
      int frame = pool.fixShared(5);
      assertTrue(pool.tryUpgrade(frame));
      fixture.change(frame, 1);
      pool.downgrade(frame);
      assertEquals(1, PoolFixture.value(pool.page(frame)));
      pool.unfixShared(frame);
    }
  }

  @Test
  void an_interrupted_caller_gets_its_page_and_stays_interrupted_and_the_file_stays_open() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      BufferPool pool = fixture.withPages(1000).pool;
      Thread.currentThread().interrupt();
      fixture.readThrough(PoolFixture.FIRST, 1000);
      int frame = pool.fixExclusive(5);
      fixture.change(frame, 6);
      pool.unfixExclusive(frame);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      pool.extendTo(5000);
      assertTrue(Thread.interrupted());
      assertReadable(pool, 900);
    }
  }

  @Test
  void a_pool_too_small_or_larger_than_the_machine_is_refused() {
    assertThrows(PoolSizeException.class, () -> BufferPoolOptions.ofBytes((2 << 20) - 1));
    PoolSizeException large =
        assertThrows(PoolSizeException.class, () -> BufferPoolOptions.ofBytes(1L << 42));
    assertTrue(large.getMessage().contains("not 4398046511104"), large.getMessage());
    assertEquals(FRAMES, BufferPoolOptions.ofBytes(2 << 20).frames());
  }

  @Test
  void a_closed_pool_says_so() {
    PoolFixture fixture = new PoolFixture(directory);
    fixture.withPages(400).close();
    BufferPool pool = fixture.pool;
    for (int page : new int[] {PoolFixture.FIRST, 20, 399}) {
      assertThrows(IllegalStateException.class, () -> pool.fixShared(page));
      assertThrows(IllegalStateException.class, () -> pool.fixExclusive(page));
      assertThrows(IllegalStateException.class, () -> pool.fixNew(page));
      assertThrows(IllegalStateException.class, () -> pool.tryFixExclusive(page));
    }
    assertThrows(IllegalStateException.class, () -> pool.flushDirtyBefore(1));
    assertThrows(IllegalStateException.class, () -> pool.extendTo(100_000));
    pool.close();
  }

  @Test
  void a_slab_in_which_a_page_is_still_latched_at_close_is_not_given_to_the_next_pool() {
    PoolFixture fixture = new PoolFixture(directory);
    int frame = fixture.withPages(10).pool.fixShared(5);
    MemorySegment page = fixture.pool.page(frame);
    fixture.close();
    assertEquals(0, fixture.slabs.idle());
    assertEquals(5, PoolFixture.value(page));
  }
}
