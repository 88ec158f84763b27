package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * The power is cut at each write and force of some batches, in which some pages were formatted
 * since they were clean (docs/protocols.md §58). Such a page may be torn until it was forced once;
 * every other page is whole.
 *
 * <p>The seed is printed; {@code -Drevenant.seed=} repeats it.
 */
class RebuiltPagesTest {
  /** One batch; and more than one large batch. */
  private static final int[] SIZES = {120, 700};

  /** The power is cut at one operation in so many; the seed draws which. */
  private static final int EVERY = Boolean.getBoolean("revenant.long") ? 1 : 3;

  private static final int MANY = 97;

  private static final byte[] ID = new byte[16];

  /** Which pages are formatted in each of the batches; in the others pages are changed. */
  private static final IntPredicate[] FORMATTED = {
    page -> true, // the batch before has all of them in the double-write file
    page -> page % 3 == 0,
    page -> false,
    page -> page % 2 == 0,
    page -> page % 2 == 1,
    page -> page % 3 == 0,
  };

  @TempDir Path directory;

  private final long seed = Long.getLong("revenant.seed", System.nanoTime());

  @Test
  void R24_a_page_is_torn_at_most_where_its_format_is_in_the_range_of_redo() throws IOException {
    System.out.println("RebuiltPagesTest seed " + seed);
    for (int pages : SIZES) {
      int every = pages > PageWriter.MAX_BATCH ? MANY : EVERY;
      int first = (int) Math.floorMod(seed, (long) every);
      int torn = 0;
      // Few cuts may tear nothing: then those beside them are made, too.
      for (int more = 0; torn == 0 && more < every; more++) {
        torn += cutAndCountTorn(pages, (first + more) % every, every);
      }
      assertTrue(torn > 0, "no cut has torn a page");
    }
  }

  private int cutAndCountTorn(int pages, int first, int every) throws IOException {
    int torn = 0;
    boolean cut = true;
    for (int cutAt = first; cut; cutAt += every) {
      Path place = Files.createDirectory(directory.resolve(pages + "-" + cutAt));
      Run run = new Run(place, pages, cutAt);
      cut = run.untilPowerCut();
      torn += run.reopenAndCountTorn(cut);
    }
    return torn;
  }

  @Test
  void pages_that_were_formatted_are_not_in_the_double_write_file() throws IOException {
    Path data = directory.resolve("data");
    Path doubleWritten = directory.resolve("dw");
    DoubleWriteFile.create(doubleWritten, ID, new IoStatistics()).close();
    FakeLog log = new FakeLog();
    try (StorageFile file = StorageFile.open(data, OpenMode.CREATE_NEW, /* ownerOnly= */ true);
        DoubleWriteFile doubleWrite = DoubleWriteFile.open(doubleWritten, ID, new IoStatistics());
        BufferPool pool = pool(file, doubleWrite, log)) {
      doubleWrite.restore(file);
      pool.extendTo(8);
      change(pool, log, PoolFixture.FIRST, 1, /* isFormatted= */ true);
      change(pool, log, PoolFixture.FIRST + 1, 1, /* isFormatted= */ false);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertFalse(doubleWrite.namesAny(new int[] {PoolFixture.FIRST}, 0, 1));
      assertTrue(doubleWrite.namesAny(new int[] {PoolFixture.FIRST + 1}, 0, 1));
      change(pool, log, PoolFixture.FIRST, 2, /* isFormatted= */ false);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertTrue(
          doubleWrite.namesAny(new int[] {PoolFixture.FIRST}, 0, 1),
          "it was written before, so the redo point may pass its format");
      change(pool, log, PoolFixture.FIRST, 3, /* isFormatted= */ true);
      pool.markFreed(fixed(pool, PoolFixture.FIRST));
      pool.unfixExclusive(fixedFrame);
      change(pool, log, PoolFixture.FIRST + 1, 3, /* isFormatted= */ false);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertTrue(
          doubleWrite.namesAny(new int[] {PoolFixture.FIRST}, 0, 1),
          "it was freed, which makes its format void");
    }
  }

  @Test
  void a_large_load_is_written_with_one_force_for_many_pages() throws IOException {
    Path data = directory.resolve("data");
    Path doubleWritten = directory.resolve("dw");
    DoubleWriteFile.create(doubleWritten, ID, new IoStatistics()).close();
    FakeLog log = new FakeLog();
    IoStatistics io = new IoStatistics();
    try (StorageFile file = StorageFile.open(data, OpenMode.CREATE_NEW, /* ownerOnly= */ true, io);
        DoubleWriteFile doubleWrite = DoubleWriteFile.open(doubleWritten, ID, new IoStatistics());
        BufferPool pool = pool(file, doubleWrite, log)) {
      doubleWrite.restore(file);
      int many = PageWriter.LARGE_BATCH;
      pool.extendTo(PoolFixture.FIRST + many);
      int[] pages = new int[many];
      int[] inFrames = new int[many];
      for (int i = 0; i < many; i++) {
        pages[i] = PoolFixture.FIRST + i;
        inFrames[i] = pool.fixNew(pages[i]);
        pool.markDirty(inFrames[i], log.tail());
        PoolFixture.write(pool.page(inFrames[i]), log.append(), 1);
        pool.markFormatted(inFrames[i]);
        pool.unfixExclusive(inFrames[i]);
      }
      long before = io.forces();
      pool.writeSoon(pages, inFrames, 0, many - 1);
      assertEquals(before, io.forces());
      pool.writeSoon(pages, inFrames, many - 1, many);
      while (pool.oldestDirtyLsn() != Long.MAX_VALUE) {
        Thread.onSpinWait(); // nothing else writes them
      }
      assertEquals(before + 1, io.forces());
      assertFalse(doubleWrite.namesAny(pages, 0, many));
    }
  }

  @Test
  void R24_a_header_of_a_clean_close_that_is_lost_brings_no_older_batch_back() throws IOException {
    endLifeAndFormatPage((life, faulty) -> life.doubleWrite.clear());
  }

  @Test
  void R24_a_header_of_a_killed_process_that_is_lost_brings_no_older_batch_back()
      throws IOException {
    endLifeAndFormatPage((life, faulty) -> {
      faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.FORCE) {
          throw new IOException("killed before " + event);
        }
      });
      life.changeInVain(PoolFixture.FIRST + 1);
    });
  }

  @Test
  void R24_a_header_whose_force_failed_brings_no_older_batch_back() throws IOException {
    endLifeAndFormatPage((life, faulty) -> {
      faulty.failForces(true);
      life.changeInVain(PoolFixture.FIRST + 1);
    });
  }

  /**
   * A batch names a page, and is confirmed. Then the life ends in some way, without a force of the
   * next header. The next life formats the page. A power cut drops all that was not forced.
   */
  private void endLifeAndFormatPage(BiConsumer<Life, FaultyFileSystem> ending) throws IOException {
    int page = PoolFixture.FIRST;
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path place = faulty.wrap(directory);
    FakeLog firstLog = new FakeLog();
    DoubleWriteFile.create(place.resolve("dw"), ID, new IoStatistics()).close();
    StorageFile.open(place.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true).close();
    faulty.trackForces();
    try (Life first = new Life(place, firstLog)) {
      first.pool.extendTo(8);
      change(first.pool, firstLog, page, 1, /* isFormatted= */ false);
      first.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertTrue(first.doubleWrite.namesAny(new int[] {page}, 0, 1));
      ending.accept(first, faulty);
    }
    faulty.hook(event -> {});
    faulty.failForces(false);
    FakeLog log = new FakeLog(); // the former one may have stopped
    while (log.tail() < firstLog.tail()) {
      log.append();
    }
    try (Life second = new Life(place, log)) {
      assertFalse(second.doubleWrite.namesAny(new int[] {page}, 0, 1));
      change(second.pool, log, page, 2, /* isFormatted= */ true);
      second.pool.flushDirtyBefore(Long.MAX_VALUE);
    }
    faulty.powerCut(new DropsAll());
    try (Life third = new Life(place, log)) {
      int frame = third.pool.fixExclusive(page);
      assertEquals(2, PoolFixture.value(third.pool.page(frame)));
      third.pool.unfixExclusive(frame);
    }
  }

  /** Keeps no sector that was not forced. */
  private static final class DropsAll extends Random {
    private static final long serialVersionUID = 1;

    @Override
    public boolean nextBoolean() {
      return false;
    }
  }

  /** From an open with its checks and repairs to a close. */
  private static final class Life implements AutoCloseable {
    private final FakeLog log;
    private final StorageFile data;
    private final DoubleWriteFile doubleWrite;
    private final BufferPool pool;

    Life(Path place, FakeLog log) {
      this.log = log;
      this.data =
          StorageFile.open(place.resolve("data"), OpenMode.READ_WRITE, /* ownerOnly= */ true);
      this.doubleWrite = DoubleWriteFile.open(place.resolve("dw"), ID, new IoStatistics());
      doubleWrite.compare(data, log.tail());
      doubleWrite.restore(data);
      this.pool = pool(data, doubleWrite, log);
    }

    void changeInVain(int page) {
      change(pool, log, page, 1, /* isFormatted= */ false);
      assertThrows(FileException.class, () -> pool.flushDirtyBefore(Long.MAX_VALUE));
    }

    @Override
    public void close() {
      pool.close();
      doubleWrite.close();
      data.close();
    }
  }

  private int fixedFrame;

  private int fixed(BufferPool pool, int page) {
    fixedFrame = pool.fixExclusive(page);
    return fixedFrame;
  }

  private static void change(
      BufferPool pool, FakeLog log, int page, long value, boolean isFormatted) {
    int frame = pool.fixNew(page);
    pool.markDirty(frame, log.tail());
    PoolFixture.write(pool.page(frame), log.append(), value);
    if (isFormatted) {
      pool.markFormatted(frame);
    }
    pool.unfixExclusive(frame);
  }

  private static BufferPool pool(StorageFile data, DoubleWriteFile doubleWrite, FakeLog log) {
    return new BufferPool(
        BufferPoolOptions.ofBytes(16L << 20),
        data,
        BatchGuard.of(doubleWrite),
        log,
        PageAccount.NONE,
        PageReadCheck.NONE);
  }

  /** One database, some batches, one power cut. */
  private final class Run {
    private final FaultyFileSystem faulty = new FaultyFileSystem();
    private final Random random;
    private final Path dataPath;
    private final Path doubleWritePath;
    private final int pages;
    private final int cutAt;
    private final FakeLog log = new FakeLog();

    /** The last batch that was forced. */
    private int flushed;

    Run(Path directory, int pages, int cutAt) {
      this.pages = pages;
      this.cutAt = cutAt;
      this.random = new Random(seed + cutAt);
      this.dataPath = faulty.wrap(directory.resolve("data"));
      this.doubleWritePath = faulty.wrap(directory.resolve("dw"));
      DoubleWriteFile.create(doubleWritePath, ID, new IoStatistics()).close();
      StorageFile.open(dataPath, OpenMode.CREATE_NEW, /* ownerOnly= */ true).close();
    }

    /** False if everything was done before it came to the cut. */
    boolean untilPowerCut() throws IOException {
      faulty.trackForces();
      AtomicInteger events = new AtomicInteger(-1);
      boolean cut = false;
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite();
          BufferPool pool = pool(data, doubleWrite, log)) {
        doubleWrite.restore(data);
        pool.extendTo(pages);
        writeAll(pool, 0, null);
        faulty.hook(event -> {
          if (events.incrementAndGet() >= cutAt) {
            throw new IOException("power cut before " + event);
          }
        });
        try {
          for (int batch = 1; batch <= FORMATTED.length; batch++) {
            writeAll(pool, batch, FORMATTED[batch - 1]);
          }
        } catch (FileException stopped) {
          cut = true;
        }
      }
      faulty.hook(event -> {});
      faulty.powerCut(random);
      return cut;
    }

    private void writeAll(BufferPool pool, int value, @Nullable IntPredicate formatted) {
      for (int page = PoolFixture.FIRST; page < pages; page++) {
        change(pool, log, page, value, formatted != null && formatted.test(page));
      }
      pool.flushDirtyBefore(Long.MAX_VALUE);
      flushed = value;
    }

    int reopenAndCountTorn(boolean cut) {
      int torn = 0;
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite();
          BufferPool pool = pool(data, doubleWrite, log)) {
        doubleWrite.compare(data, log.tail());
        assertEquals(0, doubleWrite.restore(data).beyondRepair().size());
        for (int page = PoolFixture.FIRST; page < pages; page++) {
          boolean isRebuilt = cut && FORMATTED[flushed].test(page);
          int frame = pool.fixInAnyCondition(page);
          if (pool.condition(frame) == PageCondition.GOOD) {
            long value = PoolFixture.value(pool.page(frame));
            long newest = cut ? flushed + 1 : flushed;
            assertTrue(value == flushed || value == newest, "page " + page + " holds " + value);
            pool.unfixExclusive(frame);
          } else {
            pool.discard(frame);
            assertTrue(isRebuilt, "page " + page + " is torn, seed " + seed + " cut " + cutAt);
            torn++;
          }
        }
      }
      return torn;
    }

    private StorageFile openData() {
      return StorageFile.open(dataPath, OpenMode.READ_WRITE, /* ownerOnly= */ true);
    }

    private DoubleWriteFile openDoubleWrite() {
      return DoubleWriteFile.open(doubleWritePath, ID, new IoStatistics());
    }
  }
}
