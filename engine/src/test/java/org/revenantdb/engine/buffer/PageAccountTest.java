package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.testing.IoEvent;

/** R6: what the account of pages is told, and when. */
class PageAccountTest {
  private static final int PAGE = 50;

  @TempDir Path directory;

  private final List<String> told = new CopyOnWriteArrayList<>();
  private final PageAccount account =
      new PageAccount() {
        @Override
        public void dirtied() {
          told.add("dirtied");
        }

        @Override
        public void written(int count, int[] pageIds, long[] lsns) {
          for (int i = 0; i < count; i++) {
            told.add(pageIds[i] + "@" + lsns[i]);
          }
        }

        @Override
        public void discarded() {
          told.add("discarded");
        }
      };

  private PoolFixture fixture() {
    PoolFixture fixture =
        new PoolFixture(directory, new FakeLog(), BatchGuard.NONE, account).withPages(100);
    told.clear();
    return fixture;
  }

  private static long change(PoolFixture fixture, long value) {
    int frame = fixture.pool.fixExclusive(PAGE);
    long lsn = fixture.change(frame, value);
    fixture.pool.unfixExclusive(frame);
    return lsn;
  }

  @Test
  void a_batch_is_told_after_it_was_forced_and_not_before() {
    try (PoolFixture fixture = fixture()) {
      long lsn = change(fixture, 1);
      change(fixture, 2);
      assertEquals(List.of("dirtied"), told, "one stint, however many changes");
      StepGate forced = new StepGate(Steps.Step.PAGES_FORCED);
      fixture.steps = forced;
      fixture.faulty.hook(event -> {
        if (event.is(IoEvent.Kind.FORCE, PoolFixture.FILE)) {
          told.add("force");
        }
      });
      Started<Void> flush = Started.run(() -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      forced.awaitArrival();
      assertEquals(List.of("dirtied", "force"), told);
      forced.letGo();
      flush.result();
      assertEquals(List.of("dirtied", "force", PAGE + "@" + (lsn + FakeLog.RECORD)), told);
    }
  }

  /** Schedule 2: the cache has the page, the medium may not. */
  @Test
  void R6_a_batch_whose_force_failed_is_never_told() {
    try (PoolFixture fixture = fixture()) {
      change(fixture, 1);
      fixture.faulty.hook(event -> {
        if (event.is(IoEvent.Kind.FORCE, PoolFixture.FILE)) {
          throw new IOException("injected");
        }
      });
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      fixture.faulty.hook(event -> {});
      assertThrows(FileException.class, () -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      assertEquals(List.of("dirtied"), told);
    }
  }

  /** Freed and allocated again, say: the image that is under way is the old one. */
  @Test
  void R12_what_is_told_is_the_lsn_of_the_image_and_not_of_the_frame() {
    try (PoolFixture fixture = fixture()) {
      long copied = change(fixture, 1);
      StepGate gate = new StepGate(Steps.Step.BATCH_COPIED);
      fixture.steps = gate;
      long goal = fixture.log.tail();
      Started<Void> flush = Started.run(() -> fixture.pool.flushDirtyBefore(goal));
      gate.awaitArrival();
      change(fixture, 2);
      gate.letGo();
      flush.result();
      assertEquals(List.of("dirtied", "dirtied", PAGE + "@" + copied), told);
    }
  }

  @Test
  void a_dirty_page_that_is_forgotten_ends_its_stint() {
    try (PoolFixture fixture = fixture()) {
      change(fixture, 1);
      fixture.pool.discard(fixture.pool.fixExclusive(PAGE));
      fixture.pool.discard(fixture.pool.fixExclusive(PAGE));
      assertEquals(List.of("dirtied", "discarded"), told);
    }
  }
}
