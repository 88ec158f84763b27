package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.DamagedFileException;

/** Each wait for the pool is told once, by who waits and under what he waits for. */
class PoolWaitsTest {
  private static final int PAGES = 1000;

  /** Not in the pool when the others have been read. */
  private static final int PAGE = 5;

  /** In the pool when the others have been read. */
  private static final int RESIDENT = PAGES - 1;

  /** Notes each wait, when it begins and when it has ended. */
  private static final class Noted implements PoolWaits {
    final List<String> begun = new CopyOnWriteArrayList<>();
    final List<String> ended = new CopyOnWriteArrayList<>();
    private final CountDownLatch first = new CountDownLatch(1);

    private WaitMeter meter(String name) {
      return new WaitMeter() {
        @Override
        public String waitClass() {
          return name;
        }

        @Override
        public Object begin() {
          begun.add(name);
          first.countDown();
          return name;
        }

        @Override
        public void end(@Nullable Object what) {
          ended.add((String) what);
        }
      };
    }

    @Override
    public WaitMeter latch(int pageType, boolean shared) {
      return meter("latch " + pageType + (shared ? " shared" : " exclusive"));
    }

    @Override
    public WaitMeter read() {
      return meter("read");
    }

    @Override
    public WaitMeter frame() {
      return meter("frame");
    }

    void awaitFirst() {
      try {
        first.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void assertWaits(String... expected) {
      assertEquals(List.of(expected), begun);
      assertEquals(List.of(expected), ended);
    }
  }

  @TempDir Path directory;

  private PoolFixture fixture() {
    PoolFixture fixture = new PoolFixture(directory).withPages(PAGES);
    fixture.driveOut(PAGE, PAGE + 1);
    return fixture;
  }

  private static Noted noted(PoolFixture fixture) {
    Noted noted = new Noted();
    fixture.waits = noted;
    return noted;
  }

  private static void use(BufferPool pool, int page, boolean shared) {
    if (shared) {
      pool.unfixShared(pool.fixShared(page));
    } else {
      pool.unfixExclusive(pool.fixExclusive(page));
    }
  }

  @Test
  void latch_isTold_underTypeAndMode() {
    try (PoolFixture fixture = fixture()) {
      BufferPool pool = fixture.pool;
      for (int type : new int[] {0, 2, 3, 4, 5, 6, 7, 200}) {
        for (boolean shared : new boolean[] {false, true}) {
          int frame = pool.fixExclusive(RESIDENT);
          pool.markDirty(frame, fixture.log.tail());
          pool.page(frame).set(ValueLayout.JAVA_BYTE, Page.TYPE, (byte) type);
          Noted noted = noted(fixture);
          Started<Void> other = Started.run(() -> use(pool, RESIDENT, shared));
          noted.awaitFirst();
          pool.unfixExclusive(frame);
          other.result();
          noted.assertWaits("latch " + type + (shared ? " shared" : " exclusive"));
        }
      }
    }
  }

  @Test
  void latch_ofAReader_isWaitedForByWritersAlone() {
    try (PoolFixture fixture = fixture()) {
      BufferPool pool = fixture.pool;
      int type = 0;
      int frame = pool.fixShared(RESIDENT);
      type = Page.type(pool.page(frame));
      Noted noted = noted(fixture);
      use(pool, RESIDENT, /* shared= */ true);
      noted.assertWaits();
      Started<Void> writer = Started.run(() -> use(pool, RESIDENT, /* shared= */ false));
      noted.awaitFirst();
      pool.unfixShared(frame);
      writer.result();
      noted.assertWaits("latch " + type + " exclusive");
    }
  }

  @Test
  void nothing_isTold_whereNobodyWaits() {
    try (PoolFixture fixture = fixture()) {
      BufferPool pool = fixture.pool;
      fixture.readThrough(PAGES - 50, PAGES); // what scans have driven out comes back
      Noted noted = noted(fixture);
      for (int page = PAGES - 50; page < PAGES; page++) {
        use(pool, page, /* shared= */ true);
        use(pool, page, /* shared= */ false);
        pool.unfixShared(pool.fixSharedForScan(page));
      }
      int frame = pool.fixExclusive(RESIDENT);
      assertEquals(-1, pool.tryFixExclusive(RESIDENT));
      pool.unfixExclusive(frame);
      noted.assertWaits();
    }
  }

  @Test
  void read_isTold_byWhoReadsThePage() {
    try (PoolFixture fixture = fixture()) {
      Noted noted = noted(fixture);
      long misses = fixture.pool.statistics().misses();
      use(fixture.pool, PAGE, /* shared= */ true);
      use(fixture.pool, PAGE + 1, /* shared= */ false);
      use(fixture.pool, PAGE, /* shared= */ true);
      noted.assertWaits("read", "read");
      assertEquals(misses + 2, fixture.pool.statistics().misses());
    }
  }

  @Test
  void read_isTold_byWhoWaitsForOthersToReadThePage() {
    try (PoolFixture fixture = fixture()) {
      for (boolean shared : new boolean[] {false, true}) {
        StepGate gate = new StepGate(Steps.Step.READ_AHEAD);
        fixture.steps = gate;
        fixture.pool.prefetch(shared ? PAGE : PAGE + 1);
        gate.awaitArrival();
        Noted noted = noted(fixture);
        Started<Void> other =
            Started.run(() -> use(fixture.pool, shared ? PAGE : PAGE + 1, shared));
        noted.awaitFirst();
        gate.letGo();
        other.result();
        noted.assertWaits("read");
      }
    }
  }

  @Test
  void read_ofADamagedPage_wasWaitedForAllTheSame() {
    try (PoolFixture fixture = fixture()) {
      fixture.overwriteOnDisk(PAGE, fixture.onDisk(PAGE + 1));
      Noted noted = noted(fixture);
      assertThrows(DamagedFileException.class, () -> fixture.pool.fixShared(PAGE));
      noted.assertWaits("read");
    }
  }

  /** A page that is made anew is nobody's read: who waits for it waits for its latch. */
  @Test
  void latch_ofANewPage_isNoRead() {
    try (PoolFixture fixture = fixture()) {
      int frame = fixture.pool.fixNew(PAGE);
      Noted noted = noted(fixture);
      Started<Void> other = Started.run(() -> use(fixture.pool, PAGE, /* shared= */ true));
      noted.awaitFirst();
      fixture.change(frame, PAGE);
      fixture.pool.unfixExclusive(frame);
      other.result();
      noted.assertWaits("latch 0 shared");
    }
  }

  @Test
  void frame_isTold_byWhoFindsAllInUse() {
    try (PoolFixture fixture = fixture()) {
      BufferPool pool = fixture.pool;
      List<Integer> frames = new ArrayList<>();
      for (int page = 100; page < 100 + pool.statistics().frames(); page++) {
        frames.add(pool.fixShared(page));
      }
      Noted noted = noted(fixture);
      long frameWaits = pool.statistics().frameWaits();
      Started<Void> other = Started.run(() -> use(pool, PAGE, /* shared= */ true));
      noted.awaitFirst();
      pool.unfixShared(frames.removeFirst());
      other.result();
      noted.assertWaits("frame", "read");
      assertEquals(frameWaits + 1, pool.statistics().frameWaits());
      frames.forEach(pool::unfixShared);
    }
  }
}
