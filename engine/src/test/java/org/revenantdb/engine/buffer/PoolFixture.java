package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/** A pool of the smallest size over a file that can fail and a log that is none. */
final class PoolFixture implements AutoCloseable {
  static final String FILE = "data";

  /** The first page that is not a header; what is below is never written through the pool. */
  static final int FIRST = 3;

  private static final long[] PLACES = {24, 4096, 8184};

  final FaultyFileSystem faulty = new FaultyFileSystem();
  final FakeLog log;
  final Slabs slabs = new Slabs(2);
  final StorageFile file;
  final BufferPool pool;
  volatile Steps steps = Steps.NONE;
  volatile PageReadCheck check = PageReadCheck.NONE;
  volatile PoolWaits waits = PoolWaits.NONE;

  /** A page with this LSN is ahead of log that was lost. */
  volatile long betweenLives = -1;

  private int formatted;

  PoolFixture(Path directory) {
    this(directory, new FakeLog(), BatchGuard.NONE);
  }

  PoolFixture(Path directory, FakeLog log, BatchGuard guard) {
    this(directory, log, guard, PageAccount.NONE);
  }

  PoolFixture(Path directory, FakeLog log, BatchGuard guard, PageAccount account) {
    this.log = log;
    file =
        StorageFile.open(
            faulty.wrap(directory.resolve(FILE)), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
    pool =
        new BufferPool(
            BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
            file,
            guard,
            log,
            account,
            new PageReadCheck() {
              @Override
              public @Nullable String problemOf(int pageId, MemorySegment page) {
                return isBetweenLives(page)
                    ? "it is from between two lives"
                    : check.problemOf(pageId, page);
              }

              @Override
              public @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
                return check.problemBeforeChange(pageId, page);
              }

              @Override
              public boolean isBetweenLives(MemorySegment page) {
                return Page.lsn(page) == betweenLives;
              }
            },
            new PoolWaits() {
              @Override
              public WaitMeter latch(int pageType, boolean shared) {
                return waits.latch(pageType, shared);
              }

              @Override
              public WaitMeter read() {
                return waits.read();
              }

              @Override
              public WaitMeter frame() {
                return waits.frame();
              }
            },
            (step, frame) -> steps.at(step, frame),
            slabs);
  }

  /** Formats pages so that all of them have been written. */
  PoolFixture withPages(int pages) {
    pool.extendTo(pages);
    for (int page = FIRST; page < pages; page++) {
      int frame = pool.fixNew(page);
      if (page == SpaceMapPage.POSITION) {
        Page.putByte(pool.page(frame), Page.TYPE, Page.SPACE_MAP);
      }
      change(frame, page);
      pool.unfixExclusive(frame);
    }
    pool.flushDirtyBefore(Long.MAX_VALUE);
    formatted = pages;
    return this;
  }

  /** Changes a page that is latched exclusively, as the engine does; the LSN of the record. */
  long change(int frame, long value) {
    pool.markDirty(frame, log.tail());
    long lsn = log.append();
    write(pool.page(frame), lsn, value);
    return lsn;
  }

  static void write(MemorySegment page, long lsn, long value) {
    for (long place : PLACES) {
      page.set(ValueLayout.JAVA_LONG, place, value);
    }
    page.set(ValueLayout.JAVA_LONG, 8, lsn);
  }

  /** The value of a page, the same in all places. */
  static long value(MemorySegment page) {
    long[] found = new long[PLACES.length];
    Arrays.setAll(found, i -> page.get(ValueLayout.JAVA_LONG, PLACES[i]));
    for (long one : found) {
      assertEquals(found[0], one, "a page of two changes");
    }
    return found[0];
  }

  /**
   * Drives pages out of the pool, by reading others as often as it takes: which page gives up its
   * frame depends on what the page writer had written when its turn came.
   */
  void driveOut(int... pages) {
    int half = formatted / 2;
    for (int page : pages) {
      while (pool.resident(page) != null) {
        readThrough(page < half ? half : FIRST, page < half ? formatted : half);
      }
    }
  }

  /** Reads pages; most others have to leave for them. */
  void readThrough(int from, int to) {
    for (int page = from; page < to; page++) {
      pool.unfixShared(pool.fixShared(page));
    }
  }

  /** What the file holds for a page. */
  MemorySegment onDisk(int page) {
    MemorySegment bytes = Arena.ofAuto().allocate(BufferPool.PAGE_SIZE);
    file.read((long) page * BufferPool.PAGE_SIZE, bytes);
    return bytes;
  }

  void overwriteOnDisk(int page, MemorySegment bytes) {
    file.write((long) page * BufferPool.PAGE_SIZE, bytes);
  }

  @Override
  public void close() {
    StepGate.letAllGo();
    pool.close();
    file.close();
  }
}
