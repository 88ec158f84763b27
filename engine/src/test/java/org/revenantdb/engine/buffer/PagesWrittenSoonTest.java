package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/** Pages that are handed to the page writer before a checkpoint needs them (protocols.md §58). */
class PagesWrittenSoonTest {
  private static final byte[] ID = new byte[16];
  private static final int FIRST = PoolFixture.FIRST;

  /** Enough for a large batch. */
  private static final int MANY = PageWriter.LARGE_BATCH;

  @TempDir Path directory;

  private final FakeLog log = new FakeLog();
  private final int[] pages = new int[MANY];
  private final int[] inFrames = new int[MANY];
  private volatile Steps steps = Steps.NONE;
  private StorageFile file;
  private DoubleWriteFile doubleWrite;
  private BufferPool pool;

  @BeforeEach
  void open() {
    DoubleWriteFile.create(directory.resolve("dw"), ID, new IoStatistics()).close();
    file = StorageFile.open(directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
    file.preallocate(0, (FIRST + MANY) * (long) BufferPool.PAGE_SIZE); // starts no thread
    doubleWrite = DoubleWriteFile.open(directory.resolve("dw"), ID, new IoStatistics());
    doubleWrite.restore(file);
    pool = poolOf(4L * MANY * BufferPool.PAGE_SIZE);
  }

  private BufferPool poolOf(long bytes) {
    return new BufferPool(
        BufferPoolOptions.ofBytes(bytes),
        file,
        BatchGuard.of(doubleWrite),
        log,
        PageAccount.NONE,
        PageReadCheck.NONE,
        PoolWaits.NONE,
        (step, frame) -> steps.at(step, frame),
        Slabs.OF_PROCESS);
  }

  @AfterEach
  void close() {
    pool.close();
    doubleWrite.close();
    file.close();
  }

  @Test
  void R12_a_formatted_page_that_is_handed_over_twice_holds_the_redo_point_until_it_is_forced() {
    long firstLsn = log.tail();
    changeAll(MANY - 1, /* isFormatted= */ true);
    AtomicLong oldest = handOverFirstPageTwiceAndChangeItBetween(/* isFormatted= */ true);
    assertEquals(firstLsn, oldest.get());
    pool.flushDirtyBefore(Long.MAX_VALUE);
    assertEquals(2, value(FIRST));
  }

  @Test
  void R24_a_page_that_is_handed_over_twice_is_in_the_double_write_file_once() {
    changeAll(1, /* isFormatted= */ false);
    changeAll(1, MANY - 1, /* isFormatted= */ true);
    handOverFirstPageTwiceAndChangeItBetween(/* isFormatted= */ false);
    assertTrue(doubleWrite.namesAny(pages, 0, 1));
    DoubleWriteFile.open(directory.resolve("dw"), ID, new IoStatistics()).close();
  }

  @Test
  void pages_are_handed_over_without_failure_when_there_is_no_memory_for_a_thread() {
    changeAll(MANY, /* isFormatted= */ true);
    AtomicInteger thrown = new AtomicInteger();
    steps =
        (step, frame) -> {
          if (step == Steps.Step.ABOUT_TO_ALLOCATE) {
            thrown.incrementAndGet();
            throw new OutOfMemoryError("thrown by the test");
          }
        };
    try {
      pool.writeSoon(pages, inFrames, 0, MANY);
    } catch (OutOfMemoryError failed) {
      throw new AssertionError("a hint has failed", failed); // JUnit dies of the error itself
    }
    assertEquals(1, thrown.get());
    steps = Steps.NONE;
    pool.flushDirtyBefore(Long.MAX_VALUE);
    assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
  }

  @Test
  void a_checkpoint_writes_small_batches_when_there_is_no_memory_for_a_large_one() {
    long firstLsn = log.tail();
    changeAll(MANY, /* isFormatted= */ true);
    pool.flushDirtyBefore(firstLsn + 1); // one page; starts the thread
    AtomicInteger thrown = new AtomicInteger();
    steps =
        (step, frame) -> {
          if (step == Steps.Step.ABOUT_TO_ALLOCATE) {
            if (thrown.incrementAndGet() > MANY) {
              throw new AssertionError("the same batch is repeated for ever");
            }
            throw new OutOfMemoryError("thrown by the test");
          }
        };
    pool.flushDirtyBefore(Long.MAX_VALUE);
    assertTrue(thrown.get() > 0);
    assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
  }

  @Test
  void a_batch_has_at_most_a_quarter_of_a_pool_that_has_more_than_four_batches() {
    int most = PageWriter.LARGE_BATCH / 2;
    pool.close();
    pool = poolOf(4L * most * BufferPool.PAGE_SIZE);
    changeAll(MANY, /* isFormatted= */ true);
    AtomicInteger inBatch = new AtomicInteger();
    AtomicInteger highest = new AtomicInteger();
    steps =
        (step, frame) -> {
          if (step == Steps.Step.PAGE_COPIED) {
            highest.accumulateAndGet(inBatch.incrementAndGet(), Math::max);
          } else if (step == Steps.Step.PAGES_FORCED) {
            inBatch.set(0);
          }
        };
    pool.flushDirtyBefore(Long.MAX_VALUE);
    assertEquals(most, highest.get());
  }

  /** Returns the oldest LSN that the pool reported when the batch was copied. */
  private AtomicLong handOverFirstPageTwiceAndChangeItBetween(boolean isFormatted) {
    AtomicInteger copies = new AtomicInteger();
    AtomicLong oldest = new AtomicLong();
    steps =
        (step, frame) -> {
          if (step == Steps.Step.PAGE_COPIED
              && frame == inFrames[0]
              && copies.getAndIncrement() == 0) {
            change(0, 2, isFormatted);
          }
          if (step == Steps.Step.LOG_DURABLE && oldest.get() == 0) {
            oldest.set(pool.oldestDirtyLsn());
          }
        };
    long before = pool.statistics().pagesWritten();
    pool.writeSoon(pages, inFrames, 0, 1);
    pool.writeSoon(pages, inFrames, 0, MANY - 1);
    while (pool.statistics().pagesWritten() == before) {
      Thread.onSpinWait(); // the page writer has been woken
    }
    return oldest;
  }

  private void changeAll(int end, boolean isFormatted) {
    changeAll(0, end, isFormatted);
  }

  private void changeAll(int from, int end, boolean isFormatted) {
    for (int i = from; i < end; i++) {
      pages[i] = FIRST + i;
      change(i, 1, isFormatted);
    }
  }

  private void change(int i, long value, boolean isFormatted) {
    int frame = pool.fixNew(pages[i]);
    inFrames[i] = frame;
    pool.markDirty(frame, log.tail());
    PoolFixture.write(pool.page(frame), log.append(), value);
    if (isFormatted) {
      pool.markFormatted(frame);
    }
    pool.unfixExclusive(frame);
  }

  private long value(int page) {
    int frame = pool.fixExclusive(page);
    try {
      return PoolFixture.value(pool.page(frame));
    } finally {
      pool.unfixExclusive(frame);
    }
  }
}
