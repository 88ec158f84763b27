package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.buffer.BufferPool.Ahead;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.testing.IoEvent;

/** Pages that are read before somebody asks for them. */
class PrefetchTest {
  private static final int PAGES = 1000;

  /** Not in the pool any more when all others have been read. */
  private static final int PAGE = 5;

  @TempDir Path directory;

  private PoolFixture fixture() {
    PoolFixture fixture = new PoolFixture(directory).withPages(PAGES);
    fixture.driveOut(PAGE, PAGE + 1, PAGE + 2);
    return fixture;
  }

  private static long valueOf(PoolFixture fixture, int page) {
    int frame = fixture.pool.fixShared(page);
    try {
      return PoolFixture.value(fixture.pool.page(frame));
    } finally {
      fixture.pool.unfixShared(frame);
    }
  }

  @Test
  void page_thatWasReadAhead_isAHit() {
    try (PoolFixture fixture = fixture()) {
      long misses = fixture.pool.statistics().misses();
      assertEquals(Ahead.BEGUN, fixture.pool.prefetch(PAGE));
      assertEquals(Ahead.RESIDENT, fixture.pool.prefetch(PAGE));
      assertEquals(PAGE, valueOf(fixture, PAGE));
      assertEquals(misses, fixture.pool.statistics().misses());
      assertEquals(1, fixture.pool.statistics().pagesAhead());
    }
  }

  @Test
  void whoAsksMeanwhile_waitsForTheReader() {
    try (PoolFixture fixture = fixture()) {
      StepGate gate = new StepGate(Steps.Step.READ_AHEAD);
      fixture.steps = gate;
      fixture.pool.prefetch(PAGE);
      gate.awaitArrival();
      assertEquals(-1, fixture.pool.tryFixExclusive(PAGE));
      Started<Long> value = Started.of(() -> valueOf(fixture, PAGE));
      assertFalse(value.isDone());
      gate.letGo();
      assertEquals(PAGE, value.result());
    }
  }

  @Test
  void damagedPage_isReportedToWhoNeedsIt() {
    try (PoolFixture fixture = fixture()) {
      MemorySegment good = fixture.onDisk(PAGE);
      MemorySegment bad = fixture.onDisk(PAGE);
      bad.set(ValueLayout.JAVA_BYTE, 100, (byte) 77);
      fixture.overwriteOnDisk(PAGE, bad);
      fixture.pool.prefetch(PAGE);
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
      fixture.overwriteOnDisk(PAGE, good);
      assertEquals(PAGE, valueOf(fixture, PAGE));
      assertEquals(0, fixture.pool.statistics().pagesAhead());
    }
  }

  @Test
  void pageWhoseWriteIsLost_isReportedToWhoNeedsIt() {
    try (PoolFixture fixture = fixture()) {
      fixture.pool.wasFlushed(PAGE, Long.MAX_VALUE);
      fixture.pool.prefetch(PAGE);
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
    }
  }

  @Test
  void checkThatThrows_costsNoReader() {
    try (PoolFixture fixture = fixture()) {
      fixture.check =
          (pageId, page) -> {
            throw new IllegalStateException("by the test");
          };
      for (int page = PAGE; page < PAGE + 3; page++) {
        fixture.pool.prefetch(page);
        int mine = page;
        assertThrows(IllegalStateException.class, () -> fixture.pool.fixShared(mine));
      }
      fixture.check = PageReadCheck.NONE;
      assertEquals(PAGE, valueOf(fixture, PAGE));
    }
  }

  @Test
  void readThatFails_isTriedAgainByWhoNeedsThePage() {
    try (PoolFixture fixture = fixture()) {
      AtomicBoolean failed = new AtomicBoolean();
      fixture.faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.READ && failed.compareAndSet(false, true)) {
          throw new IOException("injected");
        }
      });
      fixture.pool.prefetch(PAGE);
      assertEquals(PAGE, valueOf(fixture, PAGE));
      assertEquals(0, fixture.pool.statistics().pagesAhead());
    }
  }

  @Test
  void hotPages_areNotGivenUpForPagesThatNobodyUses() {
    try (PoolFixture fixture = fixture()) {
      long waits = fixture.pool.statistics().frameWaits();
      int hot = 240;
      for (int turn = 0; turn < 20; turn++) {
        fixture.readThrough(300, 300 + hot);
      }
      for (int page = PAGE; page < 290; page++) {
        if (fixture.pool.prefetch(page) == Ahead.BEGUN) {
          valueWithoutUse(fixture, page);
        }
      }
      for (int page = 300; page < 300 + hot; page++) {
        assertNotNull(fixture.pool.resident(page), "page " + page);
      }
      assertEquals(waits, fixture.pool.statistics().frameWaits());
    }
  }

  /** Waits until a page has arrived, without making it warmer. */
  private static void valueWithoutUse(PoolFixture fixture, int page) {
    fixture.pool.unfixShared(fixture.pool.fixSharedForScan(page));
  }

  @Test
  void pagesAhead_areBounded() {
    try (PoolFixture fixture = fixture()) {
      StepGate first = new StepGate(Steps.Step.READ_AHEAD);
      StepGate second = new StepGate(Steps.Step.READ_AHEAD); // there are two readers
      fixture.steps =
          (step, frame) -> {
            first.at(step, frame);
            second.at(step, frame);
          };
      List<Ahead> became = new ArrayList<>();
      for (int i = 0; i <= fixture.pool.maxAhead(); i++) {
        became.add(fixture.pool.prefetch(PAGE + i));
      }
      int last = became.size() - 1;
      assertEquals(Ahead.REFUSED, became.get(last));
      assertEquals(List.of(Ahead.BEGUN), became.subList(0, last).stream().distinct().toList());
      first.letGo();
      second.letGo();
      for (int i = 0; i < last; i++) {
        assertEquals(PAGE + i, valueOf(fixture, PAGE + i));
      }
      assertEquals(PAGE + last, valueOf(fixture, PAGE + last));
    }
  }

  @Test
  void poolWithoutAFrame_refuses() {
    try (PoolFixture fixture = fixture()) {
      long waits = fixture.pool.statistics().frameWaits();
      for (int page = 600; page < 600 + 256; page++) {
        fixture.pool.fixShared(page);
      }
      assertEquals(Ahead.REFUSED, fixture.pool.prefetch(PAGE));
      for (int page = 600; page < 600 + 256; page++) {
        fixture.pool.unfixShared(frameOf(fixture, page));
      }
      assertEquals(waits, fixture.pool.statistics().frameWaits());
    }
  }

  private static int frameOf(PoolFixture fixture, int page) {
    return fixture.pool.frameOf(page);
  }

  @Test
  void pageBeyondTheFile_isRefused() {
    try (PoolFixture fixture = fixture()) {
      assertEquals(Ahead.REFUSED, fixture.pool.prefetch(fixture.pool.sizeInPages()));
      assertEquals(Ahead.REFUSED, fixture.pool.prefetch(-1));
    }
  }

  @Test
  void pageThatIsMadeAnew_whileItIsReadAhead_isTheNewOne() {
    try (PoolFixture fixture = fixture()) {
      StepGate gate = new StepGate(Steps.Step.READ_AHEAD);
      fixture.steps = gate;
      fixture.pool.prefetch(PAGE);
      gate.awaitArrival();
      Started<Integer> fresh = Started.of(() -> fixture.pool.fixNew(PAGE));
      assertFalse(fresh.isDone());
      gate.letGo();
      int frame = fresh.result();
      fixture.change(frame, 4711);
      fixture.pool.unfixExclusive(frame);
      assertEquals(4711, valueOf(fixture, PAGE));
    }
  }

  @Test
  void close_leavesNoFrameLatched() {
    PoolFixture fixture = fixture();
    try {
      StepGate first = new StepGate(Steps.Step.READ_AHEAD);
      StepGate second = new StepGate(Steps.Step.READ_AHEAD);
      fixture.steps =
          (step, frame) -> {
            first.at(step, frame);
            second.at(step, frame);
          };
      for (int i = 0; i < fixture.pool.maxAhead(); i++) {
        assertEquals(Ahead.BEGUN, fixture.pool.prefetch(PAGE + i));
      }
      first.awaitArrival();
      second.awaitArrival();
      Started<Void> closing = Started.run(fixture.pool::close);
      first.letGo();
      second.letGo();
      closing.result();
      assertEquals(1, fixture.slabs.idle(), "memory of a pool in which something is latched stays");
    } finally {
      fixture.close();
    }
  }
}
