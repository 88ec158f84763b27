package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** What users of a pool see when reading, writing, forcing or the log fails; nobody hangs. */
class PoolFailureTest {
  @TempDir Path directory;

  private static FaultyFileSystem.Hook failing(IoEvent.Kind kind) {
    return event -> {
      if (event.kind() == kind) {
        throw new IOException("injected");
      }
    };
  }

  @Test
  void a_read_that_fails_is_an_error_for_all_who_wait_and_the_next_one_succeeds() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(1000)) {
      fixture.driveOut(5);
      fixture.faulty.hook(failing(IoEvent.Kind.READ));
      AtomicInteger failures = new AtomicInteger();
      List<Started<Void>> all = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        all.add(
            Started.run(() -> {
              assertThrows(FileException.class, () -> fixture.pool.fixShared(5));
              failures.incrementAndGet();
            }));
      }
      all.forEach(Started::result);
      assertEquals(16, failures.get());
      fixture.faulty.hook(event -> {});
      fixture.readThrough(PoolFixture.FIRST, 1000);
      assertNull(fixture.log.failure);
    }
  }

  @Test
  void a_full_disk_at_growth_is_an_error_for_the_caller_alone() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(300)) {
      int size = fixture.pool.sizeInPages();
      long end = (size + 20L) * 8192 + 100;
      fixture.faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.WRITE && event.position() + event.length() > end) {
          throw new IOException("No space left on device");
        }
      });
      assertThrows(DiskFullException.class, () -> fixture.pool.extendTo(size + 100));
      assertEquals(size, fixture.pool.sizeInPages());
      fixture.pool.extendTo(size + 20);
      assertEquals(size + 20, fixture.pool.sizeInPages(), "less than usual, but what was asked");
      dirty(fixture, 5);
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertNull(fixture.log.failure);
    }
  }

  /** A close compares the size that the file will have with what is in use. */
  @Test
  void a_growth_ahead_that_found_the_disk_full_is_not_expected_any_more() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(300)) {
      int size = fixture.pool.sizeInPages();
      long end = size * 8192L;
      fixture.faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.WRITE && event.position() + event.length() > end) {
          throw new IOException("No space left on device");
        }
      });
      fixture.pool.extendAhead(size + 100);
      int more = size + 1; // is served behind the first
      assertThrows(DiskFullException.class, () -> fixture.pool.extendTo(more));
      assertEquals(size, fixture.pool.sizeSoon());
    }
  }

  @Test
  void a_write_that_fails_stops_the_engine() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(300)) {
      dirty(fixture, 5);
      fixture.faulty.hook(failing(IoEvent.Kind.WRITE));
      assertStopped(fixture);
    }
  }

  @Test
  void a_force_that_fails_stops_the_engine_and_no_later_one_is_trusted() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(300)) {
      dirty(fixture, 5);
      fixture.faulty.failForces(true);
      assertStopped(fixture);
      fixture.faulty.failForces(false);
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      assertTrue(fixture.pool.oldestDirtyLsn() < Long.MAX_VALUE, "counts as written");
    }
  }

  @Test
  void a_log_that_has_stopped_stops_the_page_writer_before_it_writes() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      dirty(fixture, 5);
      fixture.log.fail(new IOException("injected"));
      fixture.faulty.clearEvents();
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      assertEquals(0, fixture.faulty.count(IoEvent.Kind.WRITE, PoolFixture.FILE));
    }
  }

  private static void assertStopped(PoolFixture fixture) {
    FileException first =
        assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
    assertTrue(first.reason().contains("the database has stopped"), first.reason());
    assertNotNull(fixture.log.failure);
    assertInstanceOf(FileException.class, first.getCause());
    assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(1));
    assertThrows(FileException.class, () -> fixture.pool.extendTo(1_000_000));
  }

  @Test
  void those_who_wait_for_a_frame_are_told_when_no_page_can_be_written_any_more() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(2000)) {
      fixture.faulty.hook(failing(IoEvent.Kind.WRITE));
      List<Started<Void>> all = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        int from = PoolFixture.FIRST + thread * 400;
        all.add(
            Started.run(() ->
                assertThrows(
                    FileException.class,
                    () -> {
                      for (int page = from; page < from + 400; page++) {
                        dirty(fixture, page);
                      }
                    })));
      }
      all.forEach(Started::result);
    }
  }

  @Test
  void those_who_wait_are_told_when_the_pool_is_closed() {
    PoolFixture fixture = new PoolFixture(directory).withPages(2000);
    long waitsBefore = fixture.pool.statistics().frameWaits();
    StepGate gate = new StepGate(Steps.Step.LOG_DURABLE);
    fixture.steps = gate;
    Started<Void> writer =
        Started.run(() -> {
          for (int page = PoolFixture.FIRST; page < 2000; page++) {
            dirty(fixture, page);
          }
        });
    gate.awaitArrival();
    Started<Void> checkpoint = Started.run(() -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
    while (fixture.pool.statistics().frameWaits() == waitsBefore) {
      Await.pause();
    }
    Started<Void> close = Started.run(fixture.pool::close);
    assertThrows(IllegalStateException.class, writer::result);
    gate.letGo();
    try {
      checkpoint.result(); // it may have been served in time
    } catch (IllegalStateException closed) {
      assertEquals("The buffer pool is closed.", closed.getMessage());
    }
    close.result();
    fixture.file.close();
  }

  private static void dirty(PoolFixture fixture, int page) {
    int frame = fixture.pool.fixExclusive(page);
    fixture.change(frame, page);
    fixture.pool.unfixExclusive(frame);
  }
}
