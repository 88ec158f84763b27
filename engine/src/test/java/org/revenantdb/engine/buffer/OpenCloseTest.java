package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.testing.Drawn;

/** Pools that come and go leave nothing: no memory, no thread. */
@Tag("slow")
class OpenCloseTest {
  private static final int CYCLES = 10_000;
  private static final int WARM_UP = 1_000;

  /**
   * What the heap may take meanwhile. A slab lost in each cycle is 36,000 MiB, a copy buffer 900.
   */
  private static final long NOISE_MIB = 512;

  @TempDir Path directory;

  @Test
  @Drawn(oneIn = 2)
  void ten_thousand_pools_one_after_the_other_need_the_memory_of_one() throws IOException {
    try (StorageFile file = open("data")) {
      long before = 0;
      for (int cycle = 0; cycle < CYCLES; cycle++) {
        useOnce(file, Slabs.OF_PROCESS, cycle % 10 == 0);
        if (cycle == WARM_UP) {
          before = residentMiB();
        }
      }
      assertFlat(before);
      assertNoThreads();
    }
  }

  @Test
  void pools_whose_slabs_are_not_kept_give_them_back_to_the_system() throws IOException {
    Slabs keepsNone = new Slabs(0);
    try (StorageFile file = open("data")) {
      long before = 0;
      for (int cycle = 0; cycle < 1_500; cycle++) {
        useOnce(file, keepsNone, /* withThreads= */ false);
        if (cycle == 100) {
          before = residentMiB();
        }
      }
      assertEquals(0, keepsNone.idle());
      assertFlat(before);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void twenty_pools_at_once_again_and_again_keep_no_more_than_the_cap() throws IOException {
    Slabs slabs = new Slabs(16);
    long before = 0;
    for (int round = 0; round < 12; round++) {
      List<StorageFile> files = new ArrayList<>();
      List<BufferPool> pools = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        StorageFile file = open("data" + round + "-" + i);
        files.add(file);
        pools.add(use(file, slabs, /* withThreads= */ true));
      }
      pools.forEach(BufferPool::close);
      files.forEach(StorageFile::close);
      assertEquals(16, slabs.idle());
      if (round == 2) {
        before = residentMiB();
      }
    }
    assertFlat(before);
    assertNoThreads();
  }

  private StorageFile open(String name) {
    return StorageFile.open(directory.resolve(name), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
  }

  private static void useOnce(StorageFile file, Slabs slabs, boolean withThreads) {
    use(file, slabs, withThreads).close();
  }

  private static BufferPool use(StorageFile file, Slabs slabs, boolean withThreads) {
    FakeLog log = new FakeLog();
    BufferPool pool =
        new BufferPool(
            new BufferPoolOptions(BufferPoolOptions.MIN_BYTES, 2, "openclose"),
            file,
            BatchGuard.NONE,
            log,
            PageAccount.NONE,
            PageReadCheck.NONE,
            PoolWaits.NONE,
            Steps.NONE,
            slabs);
    int frame = pool.fixNew(5);
    pool.markDirty(frame, log.tail());
    PoolFixture.write(pool.page(frame), log.append(), 5);
    pool.unfixExclusive(frame);
    if (withThreads) {
      pool.extendTo(10);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      pool.unfixExclusive(pool.fixInAnyCondition(7));
    }
    return pool;
  }

  private static void assertNoThreads() {
    List<String> left =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("openclose"))
            .toList();
    assertEquals(List.of(), left);
  }

  private static void assertFlat(long before) throws IOException {
    long after = residentMiB();
    System.out.println("resident MiB before " + before + ", after " + after);
    assertTrue(after < before + NOISE_MIB, "resident memory grew from " + before + " to " + after);
  }

  private static long residentMiB() throws IOException {
    System.gc(); // gives back what the heap does not need: only what is off heap is asked for here
    Path status = Path.of("/proc/self/status");
    Assumptions.assumeTrue(Files.exists(status), "only Linux says how much is resident");
    return Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("VmRSS:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
            .sum()
        / 1024;
  }
}
