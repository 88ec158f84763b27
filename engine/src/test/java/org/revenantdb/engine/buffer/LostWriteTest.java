package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/**
 * A device says that a page was written, and it was not, or elsewhere: what is at the page's place
 * has a good checksum, and the page's id, and is not the page.
 */
class LostWriteTest {
  private static final int PAGES = 2000;
  private static final int PAGE = 5;

  @TempDir Path directory;

  private static void misplace(PoolFixture fixture, int page, long to) {
    fixture.faulty.misplace(
        PoolFixture.FILE, (long) page * BufferPool.PAGE_SIZE, BufferPool.PAGE_SIZE, to);
  }

  /** Changes a page, has it written, and drives it out of the pool; the LSN that it has. */
  private static long writeAndEvict(PoolFixture fixture, int page) {
    int frame = fixture.pool.fixExclusive(page);
    long lsn = fixture.change(frame, 77);
    fixture.pool.unfixExclusive(frame);
    fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
    fixture.driveOut(page);
    return lsn;
  }

  private static void assertNamesBoth(
      PoolFixture fixture, DamagedFileException told, int page, long found, long written) {
    assertEquals(fixture.file.path(), told.file());
    assertEquals((long) page * BufferPool.PAGE_SIZE, told.offset());
    assertTrue(told.reason().contains("page " + page + " "), told.reason());
    assertTrue(told.reason().contains("LSN is " + found + ","), told.reason());
    assertTrue(told.reason().contains("with LSN " + written + ","), told.reason());
    assertTrue(told.cure().contains("restore"), told.cure());
  }

  @Test
  void a_write_that_was_lost_is_an_error_with_both_lsns_for_each_who_reads_the_page() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      long before = PageHeaderLayout.pageLsn(fixture.onDisk(PAGE));
      misplace(fixture, PAGE, FaultyFileSystem.NOWHERE);
      long written = writeAndEvict(fixture, PAGE);
      for (int attempt = 0; attempt < 2; attempt++) {
        assertNamesBoth(
            fixture,
            assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE)),
            PAGE,
            before,
            written);
        assertNamesBoth(
            fixture,
            assertThrows(DamagedFileException.class, () -> fixture.pool.fixInAnyCondition(PAGE)),
            PAGE,
            before,
            written);
      }
      fixture.readThrough(PAGE + 1, PAGES);
      assertNull(fixture.log.failure);
      assertEquals(List.of(new RefusedPage(PAGE, written)), fixture.pool.refusedPages());
    }
  }

  @Test
  void a_write_that_went_elsewhere_is_an_error_at_both_places() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      long before = PageHeaderLayout.pageLsn(fixture.onDisk(PAGE));
      misplace(fixture, PAGE, 9L * BufferPool.PAGE_SIZE);
      long written = writeAndEvict(fixture, PAGE);
      assertNamesBoth(
          fixture,
          assertThrows(DamagedFileException.class, () -> fixture.pool.fixExclusive(PAGE)),
          PAGE,
          before,
          written);
      fixture.driveOut(9);
      DamagedFileException other =
          assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(9));
      assertTrue(other.reason().contains("are those of page " + PAGE), other.reason());
    }
  }

  @Test
  void the_first_write_of_a_page_that_was_lost_is_told_from_a_page_that_was_never_written() {
    try (PoolFixture fixture = new PoolFixture(directory)) {
      misplace(fixture, PAGE, FaultyFileSystem.NOWHERE);
      fixture.withPages(PAGES);
      fixture.driveOut(PAGE);
      DamagedFileException told =
          assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
      assertTrue(told.reason().contains("was written with LSN"), told.reason());
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixInAnyCondition(PAGE));
    }
  }

  @Test
  void what_a_former_life_is_known_to_have_written_counts() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      long lsn = PageHeaderLayout.pageLsn(fixture.onDisk(PAGE));
      fixture.driveOut(PAGE);
      fixture.pool.wasFlushed(PAGE, lsn);
      fixture.pool.unfixShared(fixture.pool.fixShared(PAGE));
      fixture.driveOut(PAGE);
      fixture.pool.wasFlushed(PAGE, lsn + 8);
      assertNamesBoth(
          fixture,
          assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE)),
          PAGE,
          lsn,
          lsn + 8);
    }
  }

  @Test
  void a_page_that_is_built_anew_need_not_be_read() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      misplace(fixture, PAGE, FaultyFileSystem.NOWHERE);
      writeAndEvict(fixture, PAGE);
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
      assertEquals(1, fixture.pool.refusedPages().size());
      fixture.faulty.misplace("", 0, 0, FaultyFileSystem.NOWHERE);
      int frame = fixture.pool.fixNew(PAGE);
      fixture.change(frame, 99);
      fixture.pool.unfixExclusive(frame);
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      fixture.driveOut(PAGE);
      frame = fixture.pool.fixShared(PAGE);
      MemorySegment page = fixture.pool.page(frame);
      assertEquals(99, PoolFixture.value(page));
      fixture.pool.unfixShared(frame);
      assertEquals(List.of(), fixture.pool.refusedPages(), "written since");
    }
  }

  @Test
  void a_page_that_a_former_life_has_refused_is_refused_until_it_is_written() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      long lsn = PageHeaderLayout.pageLsn(fixture.onDisk(PAGE));
      fixture.driveOut(PAGE);
      fixture.pool.wasFlushed(PAGE, lsn + 1);
      fixture.pool.wasRefused(PAGE, lsn + 1);
      assertEquals(List.of(new RefusedPage(PAGE, lsn + 1)), fixture.pool.refusedPages());
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
      int frame = fixture.pool.fixNew(PAGE);
      fixture.change(frame, 99);
      fixture.pool.unfixExclusive(frame);
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(List.of(), fixture.pool.refusedPages());
    }
  }

  /** A page that is not named any more would be read as sound by the life after next. */
  @Test
  void all_pages_that_a_former_life_has_refused_are_taken_over() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      for (int page = 10; page < 5_010; page++) {
        fixture.pool.wasRefused(page, 8);
      }
      assertEquals(5_000, fixture.pool.refusedPages().size());
    }
  }

  @Test
  void a_page_behind_a_cut_of_the_file_was_never_written_when_the_file_has_grown_again() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      fixture.readThrough(PAGE, PAGES / 2); // drives the others out
      fixture.pool.wasRefused(PAGES - 1, Long.MAX_VALUE);
      assertTrue(fixture.pool.cutTo(PAGES / 2));
      fixture.pool.extendTo(PAGES);
      assertEquals(List.of(), fixture.pool.refusedPages());
      DamagedFileException told =
          assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGES - 1));
      assertTrue(told.reason().contains("was never written"), told.reason());
    }
  }
}
