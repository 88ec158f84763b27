package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * A change that fails half way leaves a page with its former LSN, which is durable: waiting for the
 * log does not keep it in memory. So nothing is written once the log has stopped (R18).
 */
class StoppedLogTest {
  private static final int PAGE = 50;

  @TempDir Path directory;

  /** The log stops while the page is latched; then the latch is given up. */
  private static void changeHalf(PoolFixture fixture, int page) {
    int frame = fixture.pool.fixExclusive(page);
    fixture.pool.markDirty(frame, fixture.log.tail());
    fixture.log.append();
    fixture.pool.page(frame).set(ValueLayout.JAVA_LONG, 4096, -1);
    assertTrue(
        PageHeaderLayout.pageLsn(fixture.pool.page(frame)) <= fixture.log.durableLsn(),
        "nothing would have to wait for the log");
    fixture.log.fail(new StackOverflowError("a test"));
    fixture.pool.unfixExclusive(frame);
  }

  @Test
  void R18_a_checkpoint_does_not_write_a_page_that_was_changed_half_way() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      fixture.faulty.clearEvents();
      changeHalf(fixture, PAGE);
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      assertNotWritten(fixture);
    }
  }

  @Test
  void R18_eviction_does_not_write_a_page_that_was_changed_half_way() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(2000)) {
      for (int page = 100; page < 220; page++) {
        int frame = fixture.pool.fixExclusive(page);
        fixture.change(frame, page + 1);
        fixture.pool.unfixExclusive(frame);
      }
      fixture.log.awaitDurable(fixture.log.tail());
      fixture.faulty.clearEvents();
      changeHalf(fixture, PAGE);
      assertThrows(
          FileException.class,
          () -> {
            for (int page = 300; page < 2000; page++) { // more than there are frames
              int frame = fixture.pool.fixExclusive(page);
              fixture.pool.markDirty(frame, fixture.log.tail()); // its LSN is durable
              fixture.pool.unfixExclusive(frame);
            }
          });
      assertNotWritten(fixture);
    }
  }

  /** Pages that were changed wholly may be on their way already when the log stops. */
  private static void assertNotWritten(PoolFixture fixture) {
    long place = (long) PAGE * BufferPool.PAGE_SIZE;
    List<IoEvent> writes =
        fixture.faulty.events().stream()
            .filter(event -> event.is(IoEvent.Kind.WRITE, PoolFixture.FILE))
            .filter(event -> event.position() <= place)
            .filter(event -> place < event.position() + event.length())
            .toList();
    assertEquals(List.of(), writes);
    assertEquals(PAGE, PoolFixture.value(fixture.onDisk(PAGE)));
  }
}
