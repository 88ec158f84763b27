package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.restart.PageRange;
import org.revenantdb.recovery.restart.Restart;
import org.revenantdb.recovery.restart.RestartProgress;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;

/** How many pages a restart has to read: R17 for pages, and what FLUSHED records spare (R6). */
class RecoveryPagesTest {
  private static final int MOST = 256;
  private static final int ROWS = 2_000;

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(4L << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(16L << 20)
          .withMaxRecoveryPages(MOST)
          .withDurability(Durability.LAZY);

  private static Path database(CrashDisk disk) {
    return disk.path("/db");
  }

  private static byte[] key(int row) {
    return ("key%05d".formatted(row)).getBytes();
  }

  @Test
  void a_bound_that_an_operation_alone_could_exceed_is_refused() {
    IllegalArgumentException told =
        assertThrows(IllegalArgumentException.class, () -> OPTIONS.withMaxRecoveryPages(255));
    assertTrue(told.getMessage().contains("256"), told.getMessage());
  }

  /**
   * Writers of every kind are stopped for want of pages; every page and every space map can be
   * latched meanwhile, the page writer writes, transactions end. One that waited with a latch would
   * keep the checkpoint from what it waits for.
   */
  @Test
  void R17_nobody_waits_for_pages_with_a_latch(@TempDir Path directory) throws Exception {
    List<Consumer<TestEngine.Tx>> kinds =
        List.of(
            tx -> tx.put(table(tx), key(1), new byte[100]),
            tx -> tx.put(table(tx), key(2), new byte[100_000]),
            tx -> tx.putStream(table(tx), key(3), new byte[10_000]),
            tx -> tx.delete(table(tx), key(4)),
            tx -> engine(tx).catalog.create("another", TableOptions.defaults()));
    for (Consumer<TestEngine.Tx> kind : kinds) {
      PageSpace pages = new PageSpace(() -> 0, MOST, MOST / 8, () -> {});
      try (TestEngine engine = new TestEngine(directory, 200, pages)) {
        Tree tree = engine.table("t");
        TestEngine.Tx before = engine.begin();
        for (int row = 0; row < 500; row++) {
          before.put(tree, key(row), new byte[100]);
        }
        before.commitDurably();
        int others = 0;
        while (pages.inUse() < MOST) {
          pages.dirtied();
          others++;
        }
        Set<Integer> inUse = engine.memory().keySet();
        TestEngine.Tx tx = engine.begin();
        Thread writer = Thread.ofPlatform().start(() -> kind.accept(tx));
        while (writer.getState() != Thread.State.TIMED_WAITING) {
          assertTrue(writer.isAlive(), "nothing was waited for");
          Await.pause();
        }
        for (int page : inUse) {
          int frame = engine.pool.tryFixExclusive(page);
          assertTrue(frame >= 0, "page " + page + " is latched by one who waits");
          engine.pool.unfixExclusive(frame);
        }
        TestEngine.Tx other = engine.begin();
        other.abort();
        engine.pool.flushDirtyBefore(Long.MAX_VALUE);
        pages.written(others, 1, PageSpace.NOT_ON_RECORD);
        pages.redoPointMoved(engine.journal.tail());
        writer.join();
        tx.commitDurably();
        engine.check();
      }
    }
  }

  private static Tree table(TestEngine.Tx tx) {
    return engine(tx).table("t");
  }

  private static TestEngine engine(TestEngine.Tx tx) {
    return tx.engine();
  }

  /** Rows in many leaves, all of which a restart would visit; nothing is left to be cleaned. */
  private static Database filled(CrashDisk disk, DatabaseOptions options) {
    Database database = Database.open(database(disk), options);
    Table table = database.getOrCreateTable("t");
    for (int from = 0; from < ROWS; from += 100) {
      int first = from;
      database.run(tx -> {
        for (int row = first; row < first + 100; row++) {
          tx.put(table, key(row), new byte[200]);
        }
      });
    }
    database.sync();
    database.cleanNow();
    return database;
  }

  private static void demandAllRows(CrashDisk disk, DatabaseOptions options, String story) {
    try (Database database = Database.open(database(disk), options)) {
      assertEquals(List.of(), database.check().problems(), story);
      int rows = 0;
      try (Transaction tx = database.begin();
          Cursor cursor = tx.scan(database.getOrCreateTable("t"), null, null)) {
        while (cursor.next()) {
          rows++;
        }
      }
      assertEquals(ROWS, rows, story);
    }
  }

  private static long redoPoint(CrashDisk disk) {
    try (StorageFile data = openData(disk, new IoStatistics())) {
      return ControlFile.read(data).state().redoPoint();
    }
  }

  private static StorageFile openData(CrashDisk disk, IoStatistics statistics) {
    return StorageFile.open(
        database(disk).resolve(DatabaseFiles.DATA),
        OpenMode.READ_WRITE,
        /* ownerOnly= */ true,
        statistics);
  }

  /** How many pages redo has to read from the data file. */
  private static long readsOfRedo(CrashDisk disk) {
    try (StorageFile data = openData(disk, new IoStatistics())) {
      DataFileHeader header = DataFileHeader.read(data);
      Restart restart =
          Restart.analyse(
              database(disk).resolve(DatabaseFiles.LOG),
              header.databaseId(),
              header.segmentSize(),
              ControlFile.read(data).state(),
              PageRange.ofFile(data.size()),
              new IoStatistics(),
              RestartProgress.NONE);
      int reads = 0;
      for (int page : restart.pending().pages()) {
        reads += restart.pending().beginsWithFormat(page) ? 0 : 1;
      }
      return reads;
    }
  }

  /**
   * A crash before each change of the disk that a checkpoint makes. Until the record of the batch
   * is in the log all pages are read; from then on, while the redo point is still the old one, none
   * is. Whatever a kill or a power cut leaves, all rows are there.
   */
  @Tag("slow")
  @Test
  void R6_pages_that_are_on_record_as_written_are_not_read() {
    long seed = Long.getLong("pages.seed", System.nanoTime());
    Random random = new Random(seed);
    DatabaseOptions options = OPTIONS.withMaxRecoveryPages(4096);
    CrashDisk disk = new CrashDisk();
    // In its second life, so that no page is built by a FORMAT, which needs no read.
    filled(disk, options).close();
    List<CrashDisk> left = new ArrayList<>();
    List<CrashDisk> cut = new ArrayList<>();
    try (Database database = Database.open(database(disk), options)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> {
        for (int row = 0; row < ROWS; row += 10) {
          tx.put(table, key(row), new byte[210]);
        }
      });
      database.sync();
      database.cleanNow();
      database.sync();
      disk.observe(() -> {
        left.add(disk.afterKill());
        cut.add(disk.afterPowerCut(random));
      });
      database.checkpoint();
      disk.observe(() -> {});
    }
    String story = "pages.seed=" + seed;
    long oldRedoPoint = redoPoint(left.getFirst());
    List<Long> reads = new ArrayList<>();
    for (CrashDisk one : left) {
      if (redoPoint(one) == oldRedoPoint) {
        reads.add(readsOfRedo(one));
      }
    }
    assertTrue(reads.getFirst() > 40, "pages that have to be read: " + reads);
    long before = reads.getFirst();
    int stillAll = 0;
    for (long now : reads) {
      assertTrue(now == before || now == 0, "reads by redo after each change: " + reads);
      stillAll += now == before ? 1 : 0;
      before = now;
    }
    assertEquals(0, reads.getLast(), "reads by redo after each change: " + reads);
    assertTrue(stillAll > 2, "written, but not yet on record: " + reads);
    for (int i = 0; i < left.size(); i++) {
      demandAllRows(left.get(i), options, "killed before change " + i + ", " + story);
      demandAllRows(cut.get(i), options, "cut before change " + i + ", " + story);
    }
  }

  /**
   * At many moments of a workload that wants far more pages: what a restart reads of a copy of the
   * directory is at most what the database says, and that at most the bound. Large values come and
   * go, so pages are freed and allocated again.
   */
  @Tag("slow")
  @Test
  void R17_a_restart_never_reads_more_pages_than_it_may() throws InterruptedException {
    long seed = Long.getLong("pages.seed", System.nanoTime());
    String story = "pages.seed=" + seed;
    CrashDisk disk = new CrashDisk();
    filled(disk, OPTIONS).close();
    Sampler sampler = new Sampler(disk, new Random(seed), story);
    try (Database database = Database.open(database(disk), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      sampler.database = database;
      disk.observe(sampler);
      List<Thread> writers = new ArrayList<>();
      for (int writer = 0; writer < 4; writer++) {
        Random random = new Random(seed + 1 + writer);
        writers.add(
            Thread.ofVirtual()
                .start(() -> {
                  for (int i = 0; i < 500 || !sampler.hasSeenEnough(); i++) {
                    database.run(tx -> change(tx, table, random));
                  }
                }));
      }
      for (Thread writer : writers) {
        writer.join();
      }
      disk.observe(() -> {});
    }
    if (sampler.failure != null) {
      throw new AssertionError(story, sampler.failure);
    }
  }

  private static void change(Transaction tx, Table table, Random random) {
    for (int i = 0; i < 3; i++) {
      byte[] key = key(random.nextInt(10 * ROWS));
      switch (random.nextInt(20)) {
        case 0 -> tx.put(table, key, new byte[random.nextInt(100_000)]);
        case 1, 2, 3, 4 -> tx.delete(table, key);
        default -> tx.put(table, key, new byte[random.nextInt(500)]);
      }
    }
  }

  /**
   * Stops the disk now and then, and lets a restart have a copy; goes on until one has read an
   * eighth of the bound, and half of it was in use.
   */
  private static final class Sampler implements CrashDisk.Observer {
    private static final int EVERY = 40;
    private static final int SAMPLES = 20;

    private final CrashDisk disk;
    private final Random random;
    private final String story;
    private Database database;
    private int changes;
    private int samples;
    private volatile long mostRead;
    private volatile long mostCounted;
    private volatile @Nullable Throwable failure;

    Sampler(CrashDisk disk, Random random, String story) {
      this.disk = disk;
      this.random = random;
      this.story = story;
    }

    boolean hasSeenEnough() {
      return failure != null || (mostRead > MOST / 8 && mostCounted > MOST / 2);
    }

    @Override
    public void beforeChange() {
      if (++changes % EVERY != 0 || (samples >= SAMPLES && hasSeenEnough()) || failure != null) {
        return;
      }
      samples++;
      // The disk stands still: both numbers hold for what it has now.
      long counted = database.statistics().files().restartPages();
      CrashDisk copy = samples % 2 == 0 ? disk.afterKill() : disk.afterPowerCut(random);
      mostCounted = Math.max(mostCounted, counted);
      try (Database restarted = Database.open(database(copy), OPTIONS)) {
        long read = restarted.recoveryReport().pagesPending();
        mostRead = Math.max(mostRead, read);
        assertTrue(read <= counted, "read " + read + " of " + counted + ", " + story);
        assertTrue(counted <= MOST, "counted " + counted + ", " + story);
        assertEquals(List.of(), restarted.check().problems(), story);
      } catch (Throwable thrown) {
        failure = thrown;
      }
    }
  }
}
