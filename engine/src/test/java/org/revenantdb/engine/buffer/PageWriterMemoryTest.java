package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.testing.IoEvent;

/** A page writer that meets an OutOfMemoryError: what it does again, and what stops the engine. */
class PageWriterMemoryTest {
  private static final int PAGE = 50;
  private static final OutOfMemoryError NO_MEMORY = new OutOfMemoryError("on purpose");

  @TempDir Path directory;

  /** Whether the error has been thrown; it is thrown once. */
  private final AtomicBoolean thrown = new AtomicBoolean();

  private void once() {
    if (thrown.compareAndSet(false, true)) {
      throw NO_MEMORY;
    }
  }

  private static void dirty(PoolFixture fixture, long value) {
    int frame = fixture.pool.fixExclusive(PAGE);
    fixture.change(frame, value);
    fixture.pool.unfixExclusive(frame);
  }

  @Test
  void a_growth_without_memory_before_its_force_is_done_again() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      fixture.faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.WRITE) {
          once();
        }
      });
      fixture.pool.extendTo(10_000);
      assertTrue(thrown.get());
      assertNull(fixture.log.failure);
      assertTrue(fixture.file.size() >= 10_000L * BufferPool.PAGE_SIZE);
      fixture.pool.extendTo(20_000);
    }
  }

  @Test
  void a_growth_without_memory_in_its_force_stops_the_engine() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      fixture.faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.FORCE) {
          once();
        }
      });
      assertThrows(FileException.class, () -> fixture.pool.extendTo(10_000));
      assertSame(NO_MEMORY, fixture.log.failure);
      assertThrows(FileException.class, () -> fixture.pool.extendTo(20_000));
    }
  }

  @Test
  void a_wait_for_the_log_without_memory_is_repeated() {
    FakeLog log =
        new FakeLog() {
          @Override
          public void awaitDurable(long lsn) {
            if (armed) {
              once();
            }
            super.awaitDurable(lsn);
          }
        };
    try (PoolFixture fixture = new PoolFixture(directory, log, BatchGuard.NONE).withPages(100)) {
      armed = true;
      dirty(fixture, 7);
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertTrue(thrown.get());
      assertNull(log.failure);
      assertEquals(Long.MAX_VALUE, fixture.pool.oldestDirtyLsn());
      assertEquals(7, PoolFixture.value(fixture.onDisk(PAGE)));
    }
  }

  private volatile boolean armed;

  @ParameterizedTest
  @EnumSource(
      value = Steps.Step.class,
      names = {"FLUSHING_SET", "BATCH_COPIED", "LOG_DURABLE", "DOUBLE_WRITTEN", "PAGES_FORCED"})
  void a_batch_that_is_half_done_without_memory_stops_the_engine(Steps.Step at) {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      fixture.steps =
          (step, frame) -> {
            if (step == at) {
              once();
            }
          };
      dirty(fixture, 7);
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      assertSame(NO_MEMORY, fixture.log.failure);
    }
  }
}
