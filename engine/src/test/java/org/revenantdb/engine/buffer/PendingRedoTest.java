package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.format.PageHeaderLayout;

/** Pages that lack something since a crash are redone when they are brought into memory (§44). */
class PendingRedoTest {
  private static final int PAGES = 1_000;
  private static final int PAGE = 10;
  private static final long SINCE = 5;
  private static final long REDONE = 77;
  private static final long HALF_REDONE = 76;

  @TempDir private Path directory;

  private PoolFixture fixture;
  private BufferPool pool;
  private final Lacking lacking = new Lacking();

  /** What pages lack: a change that gives them a value. */
  private final class Lacking implements PendingRedo {
    final Map<Integer, Long> lsns = new ConcurrentHashMap<>();
    boolean format;
    boolean readOnly;
    boolean needsFiles;
    boolean failsLate;
    Error failureOfDone;
    boolean onFileThreadOnly;
    Throwable failure;
    int redone;

    @Override
    public boolean isPending(int pageId) {
      return lsns.containsKey(pageId);
    }

    @Override
    public boolean beginsWithFormat(int pageId) {
      return format;
    }

    @Override
    public long lastLsn(int pageId) {
      return lsns.get(pageId);
    }

    @Override
    public boolean readsFiles() {
      return needsFiles;
    }

    @Override
    public boolean redo(int pageId, MemorySegment page) {
      if (onFileThreadOnly && !FileThread.isCurrent()) {
        PoolFixture.write(page, lsns.get(pageId), HALF_REDONE);
        return false;
      }
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure instanceof RuntimeException exception) {
        throw exception;
      }
      redone++;
      PoolFixture.write(page, lsns.get(pageId), REDONE);
      return true;
    }

    @Override
    public long dirtySince(int pageId) {
      return readOnly ? 0 : SINCE;
    }

    @Override
    public void done(int pageId) {
      if (failureOfDone != null && !failsLate) {
        throw failureOfDone;
      }
      // A checkpoint that does not count the page any more must find it in one of these places.
      boolean isDirty = pool.oldestDirtyLsn() <= SINCE;
      boolean isNoted = pool.refusedPages().stream().anyMatch(page -> page.page() == pageId);
      boolean isNew = isFormatting;
      assertTrue(isDirty || isNoted || isNew, "neither dirty nor noted: " + pageId);
      lsns.remove(pageId);
      if (failureOfDone != null) {
        throw failureOfDone;
      }
    }
  }

  private boolean isFormatting;

  @BeforeEach
  void open() {
    fixture = new PoolFixture(directory).withPages(PAGES);
    pool = fixture.pool;
    fixture.driveOut(PAGE);
    lacking.lsns.put(PAGE, 1L << 20);
    fixture.log.append();
    pool.redoOnDemand(lacking);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private long read() {
    int frame = pool.fixShared(PAGE);
    try {
      return PoolFixture.value(pool.page(frame));
    } finally {
      pool.unfixShared(frame);
    }
  }

  private void damageOnDisk() {
    MemorySegment bytes = fixture.onDisk(PAGE);
    bytes.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 5_000, (byte) 9);
    fixture.overwriteOnDisk(PAGE, bytes);
  }

  @Test
  void R6_a_page_is_redone_before_anybody_sees_it_and_dirty_before_it_ceases_to_be_pending() {
    assertEquals(REDONE, read());
    assertFalse(lacking.isPending(PAGE));
    assertEquals(SINCE, pool.oldestDirtyLsn());
    assertEquals(REDONE, read());
    assertEquals(1, lacking.redone);
  }

  @Test
  void R12_a_page_that_the_log_can_build_is_not_read() {
    damageOnDisk();
    lacking.format = true;
    assertEquals(REDONE, read());
    assertEquals(List.of(), pool.refusedPages());
  }

  @Test
  void a_page_that_needs_log_files_is_read_again_and_redone_by_a_thread_of_the_engine() {
    lacking.onFileThreadOnly = true;
    assertEquals(REDONE, read());
    assertEquals(1, lacking.redone);
    assertEquals(SINCE, pool.oldestDirtyLsn());
  }

  @Test
  void a_page_that_the_log_has_from_its_beginning_is_judged_for_changes_before_anybody_sees_it() {
    lacking.format = true;
    fixture.check =
        new PageReadCheck() {
          @Override
          public String problemOf(int pageId, MemorySegment page) {
            return null;
          }

          @Override
          public String problemBeforeChange(int pageId, MemorySegment page) {
            return PoolFixture.value(page) == REDONE ? "its cells overlap" : null;
          }
        };
    assertTrue(
        assertThrows(DamagedFileException.class, this::read).getMessage().contains("overlap"));
  }

  @Test
  void where_nothing_is_mapped_a_thread_of_the_engine_redoes_at_once() {
    lacking.onFileThreadOnly = true;
    lacking.needsFiles = true;
    long before = pool.statisticsOfWork().pagesRead();
    assertEquals(REDONE, read());
    assertEquals(before + 1, pool.statisticsOfWork().pagesRead());
  }

  /** Else the next reader would get the page without what the log had for it. */
  @Test
  void R18_an_error_behind_the_mark_gives_the_page_up_only_while_it_is_pending() {
    lacking.failureOfDone = new OutOfMemoryError("planted");
    assertThrows(OutOfMemoryError.class, this::read);
    assertTrue(lacking.isPending(PAGE));
    assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
    lacking.failsLate = true;
    assertEquals(REDONE, read());
    assertEquals(SINCE, pool.oldestDirtyLsn());
    assertEquals(lacking.failureOfDone, fixture.log.failure());
  }

  @Test
  void a_page_that_was_read_ahead_is_redone_by_the_thread_that_reads_it() {
    assertEquals(BufferPool.Ahead.BEGUN, pool.prefetch(PAGE));
    assertEquals(REDONE, read());
    assertEquals(1, lacking.redone);
  }

  @Test
  void a_damaged_page_that_lacks_something_is_refused_until_it_is_formatted_anew() {
    damageOnDisk();
    for (int i = 0; i < 2; i++) {
      assertThrows(DamagedFileException.class, this::read);
      assertEquals(List.of(new RefusedPage(PAGE, 1L << 20)), pool.refusedPages());
      assertFalse(lacking.isPending(PAGE), "the redo point would stand still");
    }
    int frame = pool.fixNew(PAGE);
    fixture.change(frame, 3);
    pool.unfixExclusive(frame);
    assertEquals(3, read());
  }

  /** Else a read that went wrong once would cost what the log has for the page. */
  @Test
  void a_page_that_was_bad_only_when_it_was_read_ahead_is_redone_when_it_is_needed() {
    MemorySegment good = fixture.onDisk(PAGE);
    damageOnDisk();
    assertEquals(BufferPool.Ahead.BEGUN, pool.prefetch(PAGE));
    while (pool.resident(PAGE) != null) {
      Thread.yield(); // until the reading thread has given it up
    }
    assertTrue(lacking.isPending(PAGE));
    assertEquals(List.of(), pool.refusedPages());
    fixture.overwriteOnDisk(PAGE, good);
    assertEquals(REDONE, read());
  }

  @Test
  void R18_a_page_whose_change_does_not_fit_is_seen_by_nobody_and_refused() {
    lacking.failure = new DamagedFileException(fixture.file.path(), 0, "does not fit");
    assertThrows(DamagedFileException.class, this::read);
    assertFalse(lacking.isPending(PAGE));
    assertThrows(DamagedFileException.class, this::read);
    assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
  }

  @Test
  void a_page_whose_log_cannot_be_read_now_stays_pending() {
    for (Throwable notNow :
        new Throwable[] {
          new OutOfMemoryError("planted"),
          new DamagedFileException(Path.of("a log file"), 0, "it is not what it was")
        }) {
      lacking.failure = notNow;
      assertEquals(notNow, assertThrows(Throwable.class, this::read));
      assertTrue(lacking.isPending(PAGE));
      assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
      assertEquals(List.of(), pool.refusedPages());
    }
    lacking.failure = null;
    assertEquals(REDONE, read());
  }

  /** It was freed in this life, by a record that analysis will find, and claimed anew. */
  @Test
  void R12_a_page_that_is_formatted_anew_lacks_nothing_any_more() {
    isFormatting = true;
    int frame = pool.fixNew(PAGE);
    assertFalse(lacking.isPending(PAGE));
    fixture.change(frame, 3);
    pool.unfixExclusive(frame);
    assertEquals(3, read());
    assertEquals(0, lacking.redone);
  }

  @Test
  void where_nothing_is_written_a_page_is_redone_each_time_it_is_brought_in() {
    lacking.readOnly = true;
    for (int i = 1; i <= 3; i++) {
      assertEquals(REDONE, read());
      assertEquals(i, lacking.redone);
      assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
      fixture.driveOut(PAGE);
    }
    damageOnDisk();
    assertThrows(DamagedFileException.class, this::read);
    assertEquals(List.of(), pool.refusedPages());
  }

  /** The next life would read it as sound if only what the log has for it were noted. */
  @Test
  void R7_a_page_from_between_two_lives_is_refused_below_its_own_lsn() {
    MemorySegment page = fixture.onDisk(PAGE);
    long lsn = PageHeaderLayout.pageLsn(page);
    lacking.lsns.put(PAGE, lsn - 1);
    fixture.betweenLives = lsn;
    assertThrows(DamagedFileException.class, this::read);
    assertEquals(List.of(new RefusedPage(PAGE, lsn + 1)), pool.refusedPages());
  }
}
