package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.Await;

/** That clean frames are there before somebody has to wait for one. */
class CleanFramesTest {
  private static final int FRAMES = 256;
  private static final int FIRST = PoolFixture.FIRST;

  @TempDir Path directory;

  private PoolFixture emptyPool() {
    PoolFixture fixture = new PoolFixture(directory);
    fixture.pool.extendTo(4000);
    return fixture;
  }

  private static void makeDirty(PoolFixture fixture, int page) {
    int frame = fixture.pool.fixNew(page);
    fixture.change(frame, page);
    fixture.pool.unfixExclusive(frame);
  }

  private static void awaitFewerDirty(PoolFixture fixture, int than) {
    while (fixture.pool.statistics().dirty() >= than) {
      Await.pause(); // nobody but this test asks for frames: the writer comes by itself
    }
  }

  @Test
  void writer_beginsWhileThereAreCleanFrames() {
    try (PoolFixture fixture = emptyPool()) {
      StepGate gate = new StepGate(Steps.Step.BATCH_COPIED);
      fixture.steps = gate;
      for (int page = FIRST; page < FIRST + FRAMES * 15 / 16; page++) {
        makeDirty(fixture, page);
      }
      gate.awaitArrival();
      assertEquals(0, fixture.pool.statistics().frameWaits());
    }
  }

  @Test
  void workloadThatTheWriterCanFollow_neverWaits() {
    try (PoolFixture fixture = emptyPool()) {
      for (int page = FIRST; page < 3000; page++) {
        makeDirty(fixture, page);
        awaitFewerDirty(fixture, FRAMES * 15 / 16);
      }
      assertEquals(0, fixture.pool.statistics().frameWaits());
      assertTrue(fixture.pool.statistics().pagesWritten() > 2000);
    }
  }

  @Test
  void dirtyPages_thatEvictionPassesBy_areWritten() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(1000)) {
      int half = FRAMES / 2;
      for (int page = FIRST; page < FIRST + half; page++) {
        makeDirty(fixture, page);
      }
      long waits = fixture.pool.statistics().frameWaits();
      StepGate gate = new StepGate(Steps.Step.BATCH_COPIED);
      fixture.steps = gate;
      fixture.readThrough(400, 1000);
      gate.awaitArrival();
      gate.letGo();
      assertEquals(waits, fixture.pool.statistics().frameWaits());
    }
  }

  @Test
  void warmDirtyPage_isNotWrittenForTheSakeOfAFrame() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(1000)) {
      int warm = FIRST;
      int frame = fixture.pool.fixExclusive(warm);
      fixture.change(frame, 4711);
      fixture.pool.unfixExclusive(frame);
      StepGate gate = new StepGate(Steps.Step.PAGES_FORCED);
      fixture.steps = gate;
      for (int page = warm + 1; page < warm + FRAMES / 2; page++) {
        fixture.readThrough(warm, warm + 1); // before anything can pass it by
        makeDirty(fixture, page);
      }
      for (int page = 400; page < 1000; page++) {
        fixture.readThrough(page, page + 1);
        fixture.readThrough(warm, warm + 1);
      }
      gate.awaitArrival();
      assertEquals(warm, PoolFixture.value(fixture.onDisk(warm)));
    }
  }
}
