package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/** A pool that reads single pages beside the cache of the system. */
class ReadsBesideTest {
  private static final long MIB = 1L << 20;
  private static final int END = PoolFixture.FIRST + 600;

  @TempDir private Path directory;

  private final FakeLog log = new FakeLog();
  private final AtomicInteger reads = new AtomicInteger();
  private volatile Steps steps = Steps.NONE;
  private StorageFile file;
  private BufferPool pool;

  @BeforeEach
  void fill() {
    file = StorageFile.open(directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
    pool =
        new BufferPool(
            new BufferPoolOptions(BufferPoolOptions.MIN_BYTES, 2, "beside", /* beside= */ true),
            file,
            BatchGuard.NONE,
            log,
            PageAccount.NONE,
            PageReadCheck.NONE,
            PoolWaits.NONE,
            (step, frame) -> {
              if (step == Steps.Step.READ_BESIDE) {
                reads.incrementAndGet();
              }
              steps.at(step, frame);
            },
            new Slabs(2));
    pool.extendTo(END);
    for (int page = PoolFixture.FIRST; page < END; page++) {
      change(pool.fixNew(page), page);
    }
    pool.flushDirtyBefore(Long.MAX_VALUE);
    readAll(0);
    Assumptions.assumeTrue(reads.get() > 0, "not offered here");
  }

  @AfterEach
  void close() {
    pool.close();
    file.close();
  }

  private void change(int frame, long value) {
    pool.markDirty(frame, log.tail());
    PoolFixture.write(pool.page(frame), log.append(), value);
    pool.unfixExclusive(frame);
  }

  private void readAll(long more) {
    for (int page = PoolFixture.FIRST; page < END; page++) {
      int frame = pool.fixShared(page);
      assertEquals(page + more, PoolFixture.value(pool.page(frame)));
      pool.unfixShared(frame);
    }
  }

  @Test
  void pages_are_those_that_were_written_whoever_reads_them() throws Exception {
    List<FutureTask<Boolean>> readers = new ArrayList<>();
    for (int round = 1; round <= 3; round++) {
      for (int page = PoolFixture.FIRST; page < END; page++) {
        change(pool.fixExclusive(page), page + round); // evicts others, which are written first
      }
      long more = round;
      FutureTask<Boolean> interrupted =
          new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            readAll(more);
            return Thread.currentThread().isInterrupted();
          });
      FutureTask<Boolean> virtual =
          new FutureTask<>(() -> {
            readAll(more);
            return true;
          });
      Thread.ofPlatform().start(interrupted);
      Thread.ofVirtual().start(virtual);
      readers.add(interrupted);
      readers.add(virtual);
      for (FutureTask<Boolean> reader : readers) {
        assertTrue(reader.get());
      }
    }
    int before = reads.get();
    readAll(3);
    assertTrue(reads.get() > before, "given up");
  }

  @Test
  void a_page_that_is_bad_beside_the_cache_and_good_in_it_is_used_and_ends_such_reads() {
    AtomicInteger spoiled = new AtomicInteger();
    steps =
        (step, frame) -> {
          if (step == Steps.Step.READ_BESIDE && spoiled.getAndIncrement() == 0) {
            pool.page(frame).asSlice(100, 4000).fill((byte) 77);
          }
        };
    readAll(0);
    readAll(0);
    assertEquals(1, spoiled.get());
  }

  @Test
  void a_page_that_is_older_beside_the_cache_than_in_it_is_not_used() {
    int page = PoolFixture.FIRST + 1;
    MemorySegment old = MemorySegment.ofArray(new byte[BufferPool.PAGE_SIZE]);
    file.read((long) page * BufferPool.PAGE_SIZE, old);
    for (int each = PoolFixture.FIRST; each < END; each++) {
      change(pool.fixExclusive(each), each + 5);
    }
    pool.flushDirtyBefore(Long.MAX_VALUE);
    while (pool.resident(page) != null) {
      readAll(5);
    }
    AtomicInteger stale = new AtomicInteger();
    steps =
        (step, frame) -> {
          MemorySegment read = pool.page(frame);
          if (step == Steps.Step.READ_BESIDE && Page.id(read) == page) {
            stale.incrementAndGet();
            read.copyFrom(old);
          }
        };
    int frame = pool.fixShared(page);
    assertEquals(page + 5, PoolFixture.value(pool.page(frame)));
    pool.unfixShared(frame);
    assertEquals(1, stale.get());
  }

  @Test
  void a_page_that_is_bad_in_both_ways_is_damaged_and_such_reads_go_on() {
    int page = PoolFixture.FIRST + 1;
    while (pool.resident(page) != null) {
      readAll(0);
    }
    file.write((long) page * BufferPool.PAGE_SIZE + 100, MemorySegment.ofArray(new byte[100]));
    file.write(
        (long) page * BufferPool.PAGE_SIZE + 300, MemorySegment.ofArray(new byte[] {1, 2, 3}));
    assertThrows(DamagedFileException.class, () -> pool.fixShared(page));
    int before = reads.get();
    assertThrows(DamagedFileException.class, () -> pool.fixShared(page));
    assertEquals(before + 1, reads.get());
  }

  @Test
  void while_pages_are_written_to_their_places_reads_go_through_the_cache() throws Exception {
    int page = PoolFixture.FIRST + 1;
    while (pool.resident(page) != null) {
      readAll(0);
    }
    AtomicInteger writes = new AtomicInteger();
    int before = reads.get();
    FutureTask<Long> reader =
        new FutureTask<>(() -> {
          int frame = pool.fixShared(page);
          long value = PoolFixture.value(pool.page(frame));
          pool.unfixShared(frame);
          return value;
        });
    steps =
        (step, frame) -> {
          if (step == Steps.Step.WRITING_IN_PLACE && writes.getAndIncrement() == 0) {
            Thread.ofPlatform().start(reader);
            try {
              reader.get();
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          }
        };
    change(pool.fixExclusive(END - 1), END - 1);
    int own = reads.get() - before; // the page that was changed may have been read
    pool.flushDirtyBefore(Long.MAX_VALUE);
    assertEquals(page, reader.get());
    assertEquals(before + own, reads.get());
    assertEquals(1, writes.get());
  }

  @Test
  void only_a_pool_that_leaves_less_to_the_cache_than_it_takes_reads_beside_it() {
    assertTrue(BufferPoolOptions.takesMost(672 * MIB, 1152 * MIB, 192 * MIB));
    assertTrue(BufferPoolOptions.takesMost(448 * MIB, 1152 * MIB, 192 * MIB));
    assertFalse(BufferPoolOptions.takesMost(447 * MIB, 1152 * MIB, 192 * MIB));
    assertFalse(BufferPoolOptions.takesMost(256 * MIB, 1152 * MIB, 192 * MIB));
    assertFalse(BufferPoolOptions.takesMost(128 * MIB, MachineMemory.UNKNOWN, 192 * MIB));
    assertFalse(BufferPoolOptions.takesMost(16 * MIB, 1152 * MIB, 4096 * MIB));
    assertTrue(BufferPoolOptions.takesMost(256 * MIB, 1152 * MIB, 4096 * MIB));
  }
}
