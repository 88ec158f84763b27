package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.RestoreResult;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * The power is cut at each write and force of two batches, and any sectors that were not forced are
 * lost: with the double-write file every page is whole afterwards, as it was or as it became.
 *
 * <p>The seed is printed; {@code -Drevenant.seed=} repeats it.
 */
class TornPagesTest {
  private static final int PAGES = 120;
  private static final byte[] ID = new byte[16];

  @TempDir Path directory;

  private final long seed = Long.getLong("revenant.seed", System.nanoTime());

  @Test
  void R24_a_power_cut_at_any_step_of_a_batch_leaves_every_page_whole() throws IOException {
    System.out.println("TornPagesTest seed " + seed);
    int restored = 0;
    for (int cutAt = 0; ; cutAt++) {
      Run run = new Run(Files.createDirectory(directory.resolve("whole" + cutAt)), cutAt);
      boolean cut = run.untilPowerCut(/* protect= */ true);
      restored += run.reopenAndCheck(cut);
      if (!cut) {
        break;
      }
    }
    assertTrue(restored > 0, "no cut has torn a page");
  }

  @Test
  void R24_so_it_does_where_the_disk_is_full_and_a_batch_is_written_in_parts() throws IOException {
    System.out.println("TornPagesTest seed " + seed);
    int restored = 0;
    for (int cutAt = 0; ; cutAt += 7) {
      Run run = new Run(Files.createDirectory(directory.resolve("parts" + cutAt)), cutAt);
      run.full = true;
      boolean cut = run.untilPowerCut(/* protect= */ true);
      restored += run.reopenAndCheck(cut);
      assertEquals(
          DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM),
          Files.size(run.doubleWritePath));
      if (!cut) {
        break;
      }
    }
    assertTrue(restored > 0, "no cut has torn a page");
  }

  @Test
  void without_the_double_write_file_the_same_cuts_leave_torn_pages() throws IOException {
    System.out.println("TornPagesTest seed " + seed);
    int torn = 0;
    boolean cut = true;
    for (int cutAt = 0; cut; cutAt++) {
      Run run = new Run(Files.createDirectory(directory.resolve("torn" + cutAt)), cutAt);
      cut = run.untilPowerCut(/* protect= */ false);
      torn += run.countTorn();
    }
    assertTrue(torn > 0, "the cuts of the other test tear nothing");
  }

  /** One database, two batches, one power cut. */
  private final class Run {
    private final FaultyFileSystem faulty = new FaultyFileSystem();
    private final Random random;
    private final Path dataPath;
    private final Path doubleWritePath;
    private final int cutAt;
    private final FakeLog log = new FakeLog();

    /** Whether the double-write file finds no room to grow. */
    private boolean full;

    /** What the pages are known to hold in the file: the last batch that was flushed. */
    private long flushed;

    Run(Path directory, int cutAt) {
      this.cutAt = cutAt;
      this.random = new Random(seed + cutAt);
      this.dataPath = faulty.wrap(directory.resolve("data"));
      this.doubleWritePath = faulty.wrap(directory.resolve("dw"));
      DoubleWriteFile.create(doubleWritePath, ID, new IoStatistics()).close();
      StorageFile.open(dataPath, OpenMode.CREATE_NEW, /* ownerOnly= */ true).close();
    }

    /** False if everything was done before it came to the cut. */
    boolean untilPowerCut(boolean protect) throws IOException {
      faulty.trackForces();
      AtomicInteger events = new AtomicInteger(-1);
      boolean cut = false;
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite();
          BufferPool pool = pool(data, protect ? BatchGuard.of(doubleWrite) : null)) {
        doubleWrite.restore(data);
        pool.extendTo(PAGES);
        faulty.hook(this::refuseGrowth);
        writeAll(pool, 0);
        faulty.hook(event -> {
          refuseGrowth(event);
          if (events.incrementAndGet() >= cutAt) {
            throw new IOException("power cut before " + event);
          }
        });
        try {
          writeAll(pool, 1);
          writeAll(pool, 2);
        } catch (FileException stopped) {
          cut = true;
        }
      }
      faulty.hook(event -> {});
      faulty.powerCut(random);
      return cut;
    }

    private void refuseGrowth(IoEvent event) throws IOException {
      boolean grows =
          event.is(IoEvent.Kind.WRITE, "dw")
              && event.position() + event.length()
                  > DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM);
      if (full && grows) {
        throw new IOException("No space left on device");
      }
    }

    private void writeAll(BufferPool pool, long value) {
      for (int page = PoolFixture.FIRST; page < PAGES; page++) {
        int frame = pool.fixNew(page);
        pool.markDirty(frame, log.tail());
        PoolFixture.write(pool.page(frame), log.append(), value);
        pool.unfixExclusive(frame);
      }
      pool.flushDirtyBefore(Long.MAX_VALUE);
      flushed = value;
    }

    int reopenAndCheck(boolean cut) {
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite();
          BufferPool pool = pool(data, BatchGuard.of(doubleWrite))) {
        RestoreResult result = doubleWrite.restore(data);
        assertEquals(0, result.beyondRepair().size(), () -> "seed " + seed + " cut " + cutAt);
        for (int page = PoolFixture.FIRST; page < PAGES; page++) {
          int frame = pool.fixShared(page);
          long value = PoolFixture.value(pool.page(frame));
          long newest = cut ? flushed + 1 : flushed;
          assertTrue(value == flushed || value == newest, "page " + page + " holds " + value);
          pool.unfixShared(frame);
        }
        return result.restored();
      }
    }

    int countTorn() {
      int torn = 0;
      try (StorageFile data = openData();
          BufferPool pool = pool(data, /* guard= */ null)) {
        for (int page = PoolFixture.FIRST; page < PAGES; page++) {
          int frame = pool.fixInAnyCondition(page);
          if (pool.condition(frame) == PageCondition.GOOD) {
            pool.unfixExclusive(frame);
          } else {
            pool.discard(frame);
            int bad = page;
            assertThrows(DamagedFileException.class, () -> pool.fixShared(bad));
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

    private BufferPool pool(StorageFile data, @Nullable BatchGuard guard) {
      return new BufferPool(
          BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
          data,
          guard,
          log,
          PageAccount.NONE,
          PageReadCheck.NONE);
    }
  }
}
