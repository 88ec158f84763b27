package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.buffer.PageAccount;
import org.revenantdb.engine.buffer.PageReadCheck;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.restart.PageRange;
import org.revenantdb.recovery.restart.Restart;
import org.revenantdb.recovery.restart.RestartProgress;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * R13: pages are, byte by byte, the same in whatever order they are redone, by however many
 * threads.
 */
class RedoneInAnyOrderTest {
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(64L << 20)
          .withMaxRecoveryPages(1 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(256L << 20)
          .withDurability(Durability.LAZY);

  private static Path database(CrashDisk disk) {
    return disk.path("/db");
  }

  private static Path dataFile(CrashDisk disk) {
    return database(disk).resolve(DatabaseFiles.DATA);
  }

  /** Rows, large values, removals, splits, merges and freed pages, with no checkpoint between. */
  private static CrashDisk crashed(long seed, int transactions) {
    Random random = new Random(seed);
    CrashDisk disk = new CrashDisk();
    try (Database database = Database.open(database(disk), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      for (int i = 0; i < transactions; i++) {
        database.run(tx -> {
          for (int row = random.nextInt(1, 30); row > 0; row--) {
            byte[] key = ("key" + random.nextInt(5000)).getBytes();
            switch (random.nextInt(20)) {
              case 0 -> tx.put(table, key, new byte[random.nextInt(60_000)]);
              case 1, 2, 3, 4, 5, 6 -> tx.delete(table, key);
              default -> {
                byte[] value = new byte[random.nextInt(400)];
                random.nextBytes(value);
                tx.put(table, key, value);
              }
            }
          }
        });
      }
      database.sync();
      return disk.afterKill();
    }
  }

  /** Redo of a copy of what a crash left: without a new life, and the log does not change. */
  private static final class Redone implements AutoCloseable {
    final StorageFile data;
    final BufferPool pool;
    final Restart restart;
    final AtomicReference<PageReadCheck> check = new AtomicReference<>(PageReadCheck.NONE);

    Redone(CrashDisk disk) {
      data = StorageFile.open(dataFile(disk), OpenMode.READ_WRITE, /* ownerOnly= */ true);
      DataFileHeader header = DataFileHeader.read(data);
      restart =
          Restart.analyse(
              database(disk).resolve(DatabaseFiles.LOG),
              header.databaseId(),
              header.segmentSize(),
              ControlFile.read(data).state(),
              PageRange.ofFile(data.size()),
              new IoStatistics(),
              RestartProgress.NONE);
      pool =
          new BufferPool(
              BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
              data,
              null,
              Journal.readOnly(restart.result().endOfLog()),
              PageAccount.NONE,
              (pageId, page) -> check.get().problemOf(pageId, page));
      pool.redoOnDemand(new LoggedChanges(restart.pending(), data.path(), /* readOnly= */ false));
    }

    /** Brings all pending pages into memory, in an order of its own, but for the last ones. */
    void redo(int workers, Random random, int leave) throws InterruptedException {
      List<Integer> pages = new ArrayList<>();
      for (int page : restart.pending().pages()) {
        pages.add(page);
      }
      Collections.shuffle(pages, random);
      Iterator<Integer> next = pages.subList(0, pages.size() - leave).iterator();
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  try {
                    for (int page = take(next); page >= 0; page = take(next)) {
                      pool.unfixShared(pool.fixShared(page));
                    }
                  } catch (Throwable failure) {
                    failures.add(failure);
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
      assertEquals(leave, restart.pending().left());
    }

    private static int take(Iterator<Integer> pages) {
      synchronized (pages) {
        return pages.hasNext() ? pages.next() : -1;
      }
    }

    byte[] pages(int workers, Random random) throws InterruptedException {
      redo(workers, random, /* leave= */ 0);
      pool.flushDirtyBefore(Long.MAX_VALUE);
      byte[] all = new byte[(int) data.size()];
      data.read(0, MemorySegment.ofArray(all));
      return all;
    }

    @Override
    public void close() {
      pool.close();
      restart.pending().close();
      data.close();
    }
  }

  private static byte[] pages(CrashDisk disk, int workers, Random random)
      throws InterruptedException {
    try (Redone redone = new Redone(disk)) {
      return redone.pages(workers, random);
    }
  }

  @Test
  void R13_all_pages_are_equal_in_whatever_order_they_are_redone() throws InterruptedException {
    long seed = Long.getLong("redo.seed", System.nanoTime());
    String story = "redo.seed=" + seed;
    Random random = new Random(seed);
    CrashDisk disk = crashed(seed, 150);
    byte[] expected = pages(disk.afterKill(), 1, random);
    for (int workers : new int[] {1, 3, 8}) {
      assertArrayEquals(
          expected, pages(disk.afterKill(), workers, random), story + " by " + workers);
    }
  }

  /** The pool is small: each crash leaves pages of which some were redone and others not. */
  @Test
  void a_redo_that_is_killed_three_times_ends_with_the_same_pages() throws InterruptedException {
    long seed = Long.getLong("redo.seed", System.nanoTime());
    String story = "redo.seed=" + seed;
    Random random = new Random(seed);
    CrashDisk disk = crashed(seed, 150);
    byte[] expected = pages(disk.afterKill(), 1, random);
    CrashDisk left = disk.afterKill();
    for (int depth = 0; depth < 3; depth++) {
      try (Redone redone = new Redone(left)) {
        redone.redo(4, random, random.nextInt(redone.restart.pending().left()));
        left = left.afterKill();
      }
    }
    assertArrayEquals(expected, pages(left, 4, random), story);
  }

  /**
   * A checkpoint has all leaves, and then a row of each was changed: redo has to read them. The
   * rows stay in their leaves, where nobody but the writer decides which page is changed.
   */
  private static CrashDisk withLeavesToRead(int leaves) {
    CrashDisk disk = new CrashDisk();
    int rows = leaves * (Page.SIZE / 600);
    try (Database database = Database.open(database(disk), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      for (byte[] value : new byte[][] {new byte[600], new byte[599]}) {
        database.checkpoint();
        for (int row = 0; row < rows; row += 100) {
          int from = row;
          database.run(tx -> {
            for (int i = from; i < from + 100; i++) {
              tx.put(table, ("key" + i).getBytes(), value);
            }
          });
        }
      }
      database.sync();
      return disk.afterKill();
    }
  }

  /** The workers that have something to read, and the pages afterwards. */
  private static byte[] pagesRead(CrashDisk disk, Set<Integer> read) throws InterruptedException {
    try (Redone redone = new Redone(disk)) {
      redone.check.set((pageId, page) -> {
        read.add(pageId);
        return null;
      });
      return redone.pages(1, new Random(1));
    }
  }

  /** Each worker latches one frame, and waits for a frame with none. */
  @Test
  void a_pool_with_fewer_frames_than_workers_is_enough() throws InterruptedException {
    CrashDisk disk = withLeavesToRead(700);
    Set<Integer> read = new HashSet<>();
    byte[] expected = pagesRead(disk.afterKill(), read);
    try (Redone redone = new Redone(disk.afterKill())) {
      int frames = redone.pool.statistics().frames();
      assertTrue(read.size() > 2 * frames, "only " + read.size() + " pages are read");
      AtomicInteger held = new AtomicInteger();
      redone.check.set((pageId, page) -> {
        // Reads are held up, with their frames latched, until somebody finds none.
        if (held.incrementAndGet() <= frames) {
          while (redone.pool.statistics().frameWaits() == 0) {
            LockSupport.parkNanos(1_000_000); // hundreds wait here, and others have to run
          }
        }
        return null;
      });
      assertArrayEquals(expected, redone.pages(frames + 50, new Random(2)));
    }
  }
}
