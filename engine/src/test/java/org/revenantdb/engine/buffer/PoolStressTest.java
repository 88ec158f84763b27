package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * Many threads over a pool a tenth of the data, against a shadow of every page; a checkpoint runs
 * beside them and looks into the file whether its redo point is true.
 *
 * <p>The seed is printed; {@code -Drevenant.seed=} repeats it, as far as threads repeat anything.
 */
@Tag("stress")
class PoolStressTest {
  private static final int PAGES = 2500;
  private static final int THREADS = 16;
  private static final int ROUNDS = 1500;
  private static final int MOST_LATCHED = 8;

  @TempDir Path directory;

  private final long seed = Long.getLong("revenant.seed", System.nanoTime());
  private final AtomicReference<Throwable> failed = new AtomicReference<>();

  /** What each page should hold; guarded by its latch. */
  private final long[] shadow = new long[PAGES];

  /** Start and end of every record, by page and start. */
  private final List<ConcurrentSkipListMap<Long, Long>> records = new ArrayList<>();

  @Test
  void platform_threads_find_what_they_left() throws InterruptedException {
    stress(Thread.ofPlatform().daemon());
  }

  @Test
  void virtual_threads_find_what_they_left() throws InterruptedException {
    stress(Thread.ofVirtual());
  }

  private void stress(Thread.Builder threads) throws InterruptedException {
    System.out.println("PoolStressTest seed " + seed);
    try (PoolFixture fixture = new PoolFixture(directory).withPages(PAGES)) {
      for (int page = 0; page < PAGES; page++) {
        records.add(new ConcurrentSkipListMap<>());
        shadow[page] = page;
      }
      CountDownLatch users = new CountDownLatch(THREADS);
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(seed + i);
        threads.start(() -> guarded(() -> use(fixture, random), users));
      }
      CountDownLatch checkpoints = new CountDownLatch(1);
      Thread.ofPlatform()
          .daemon()
          .start(() -> guarded(() -> checkpointUntil(fixture, users), checkpoints));
      users.await();
      checkpoints.await();
      assertNull(failed.get(), () -> "seed " + seed + ": " + failed.get());
      assertAllInFile(fixture);
      System.out.println(fixture.pool.statistics());
    }
  }

  private void guarded(Runnable work, CountDownLatch end) {
    try {
      work.run();
    } catch (Throwable failure) {
      if (failed.compareAndSet(null, failure)) {
        failure.printStackTrace();
      }
    } finally {
      end.countDown();
    }
  }

  private void use(PoolFixture fixture, Random random) {
    for (int round = 0; round < ROUNDS && failed.get() == null; round++) {
      switch (random.nextInt(10)) {
        case 0 -> changeSeveral(fixture, random);
        case 1 -> replace(fixture, anyPage(random), random.nextLong());
        case 2 -> tryChange(fixture, anyPage(random), random.nextLong());
        case 3, 4 -> change(fixture, anyPage(random), random.nextLong());
        default -> read(fixture.pool, anyPage(random));
      }
    }
  }

  /** Half of all visits go to a few pages. */
  private static int anyPage(Random random) {
    int among = random.nextBoolean() ? 40 : PAGES - PoolFixture.FIRST;
    return PoolFixture.FIRST + random.nextInt(among);
  }

  private void read(BufferPool pool, int page) {
    int frame = pool.fixShared(page);
    check(pool, frame, page);
    pool.unfixShared(frame);
  }

  private void check(BufferPool pool, int frame, int page) {
    assertEquals(page, PageHeaderLayout.pageId(pool.page(frame)));
    assertEquals(shadow[page], PoolFixture.value(pool.page(frame)), () -> "page " + page);
  }

  private void change(PoolFixture fixture, int page, long value) {
    int frame = fixture.pool.fixExclusive(page);
    check(fixture.pool, frame, page);
    changeLatched(fixture, frame, page, value);
    fixture.pool.unfixExclusive(frame);
  }

  private void tryChange(PoolFixture fixture, int page, long value) {
    int frame = fixture.pool.tryFixExclusive(page);
    if (frame >= 0) {
      check(fixture.pool, frame, page);
      changeLatched(fixture, frame, page, value);
      fixture.pool.unfixExclusive(frame);
    }
  }

  /** As if the page had been freed and allocated again. */
  private void replace(PoolFixture fixture, int page, long value) {
    int frame = fixture.pool.fixNew(page);
    assertEquals(0, PoolFixture.value(fixture.pool.page(frame)));
    changeLatched(fixture, frame, page, value);
    fixture.pool.unfixExclusive(frame);
  }

  private void changeLatched(PoolFixture fixture, int frame, int page, long value) {
    long end = fixture.change(frame, value);
    shadow[page] = value;
    records.get(page).put(end - FakeLog.RECORD, end);
  }

  /** Latches up to eight pages in ascending order and keeps them, as a tree does going down. */
  private void changeSeveral(PoolFixture fixture, Random random) {
    int[] pages = random.ints(MOST_LATCHED, PoolFixture.FIRST, PAGES).distinct().sorted().toArray();
    int[] frames = new int[pages.length];
    for (int i = 0; i < pages.length; i++) {
      frames[i] = fixture.pool.fixExclusive(pages[i]);
    }
    for (int i = 0; i < pages.length; i++) {
      check(fixture.pool, frames[i], pages[i]);
      changeLatched(fixture, frames[i], pages[i], random.nextLong());
      fixture.pool.unfixExclusive(frames[i]);
    }
  }

  private void checkpointUntil(PoolFixture fixture, CountDownLatch users) {
    Random random = new Random(seed);
    long former = 0;
    while (users.getCount() > 0 && failed.get() == null) {
      long tail = fixture.log.tail();
      fixture.pool.flushDirtyBefore(tail - 500 * FakeLog.RECORD);
      long redoPoint = Math.min(tail, fixture.pool.oldestDirtyLsn());
      assertTrue(redoPoint >= tail - 500 * FakeLog.RECORD, "the flush left old changes");
      assertTrue(redoPoint >= former, "the redo point went back");
      former = redoPoint;
      for (int i = 0; i < 200; i++) {
        assertRedoPointIsTrue(fixture, anyPage(random), redoPoint);
      }
    }
  }

  /** Every change that begins before the redo point is in the file's image of its page. */
  private void assertRedoPointIsTrue(PoolFixture fixture, int page, long redoPoint) {
    Map.Entry<Long, Long> last = records.get(page).lowerEntry(redoPoint);
    MemorySegment image = fixture.onDisk(page);
    boolean whole = PageHeaderLayout.crc(image) == PageChecksum.compute(image);
    if (last != null && whole) { // else it is being written at this moment
      assertTrue(
          PageHeaderLayout.pageLsn(image) >= last.getValue(),
          () -> "page %d: redo point %d, changed by %s".formatted(page, redoPoint, last));
    }
  }

  private void assertAllInFile(PoolFixture fixture) {
    fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
    assertEquals(0, fixture.pool.statistics().dirty());
    for (int page = PoolFixture.FIRST; page < PAGES; page++) {
      MemorySegment image = fixture.onDisk(page);
      assertEquals(PageChecksum.compute(image), PageHeaderLayout.crc(image));
      assertEquals(shadow[page], PoolFixture.value(image), "page " + page);
    }
    BufferStatistics statistics = fixture.pool.statistics();
    assertTrue(statistics.evictions() > PAGES, statistics::toString);
    assertTrue(statistics.pagesWritten() > PAGES, statistics::toString);
  }
}
