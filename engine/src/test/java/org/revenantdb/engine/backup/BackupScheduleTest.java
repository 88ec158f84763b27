package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.between;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.onOtherThread;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.Refusals;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/** The schedules of protocols.md §47, played step by step. */
class BackupScheduleTest {
  private static final int PAGE = 8_192;

  @TempDir Path temporary;
  private Path target;
  private Database db;

  @BeforeEach
  void open() {
    target = temporary.resolve("copy");
    db = Database.open(temporary.resolve("db"), SMALL);
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** Does something once, at a step. */
  private void once(BackupSteps.Step step, Runnable action) {
    AtomicBoolean done = new AtomicBoolean();
    between(
        db,
        step,
        () -> {
          if (!done.getAndSet(true)) {
            action.run();
          }
        });
  }

  /** Makes the backup; its content is that of the database, which has not changed since. */
  private void backUpAndCompare() {
    db.backup(target);
    assertEquals(contents(db), opened(target));
  }

  @Test
  void R26_pages_that_were_copied_get_what_was_written_and_flushed_afterwards() {
    put(db, "rows", 0, 5_000, 1, 200);
    once(
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          for (int round = 2; round < 5; round++) {
            put(db, "rows", 0, 5_000, round, 200);
            db.checkpoint(); // writes the pages and says so in the log
          }
        });
    backUpAndCompare();
  }

  @Test
  void R26_the_log_from_the_redo_point_is_there_however_much_is_recycled_meanwhile() {
    put(db, "rows", 0, 2_000, 1, 200);
    AtomicInteger round = new AtomicInteger(1);
    BackedUp.steps(
        db,
        step -> {
          switch (step) {
            case HELD, CHECKPOINTED, PAGES_COPIED, ALL_PAGES_COPIED, END_KNOWN ->
                onOtherThread(() -> {
                  put(db, "rows", 0, 2_000, round.incrementAndGet(), 200);
                  db.checkpoint();
                  if (step == BackupSteps.Step.ALL_PAGES_COPIED) {
                    expected.set(contents(db));
                  }
                });
            default -> {}
          }
        });
    db.backup(target);
    assertEquals(expected.get(), opened(target));
  }

  private final AtomicReference<Map<String, Map<String, String>>> expected =
      new AtomicReference<>();

  @Test
  void R26_pages_that_are_dirty_at_the_begin_are_completed_by_the_log_since_the_last_checkpoint() {
    put(db, "rows", 0, 5_000, 1, 200);
    db.cleanNow();
    db.checkpoint();
    long redoPoint = db.statistics().files().redoPoint();
    for (int i = 0; i < 5_000; i += 50) { // every page, and little log
      put(db, "rows", i, i + 1, 2, 200);
    }
    BackupReport report = db.backup(target);
    assertEquals(redoPoint, report.redoPoint(), "a checkpoint was made");
    assertEquals(contents(db), opened(target));
  }

  @Test
  void a_checkpoint_is_made_if_there_is_more_log_than_dirty_pages() {
    put(db, "rows", 0, 10, 1, 200);
    db.cleanNow();
    db.checkpoint();
    long redoPoint = db.statistics().files().redoPoint();
    for (int i = 0; i < 2_000; i++) { // one page, and much log
      put(db, "rows", 5, 6, i, 200);
    }
    BackupReport report = db.backup(target);
    assertTrue(report.redoPoint() > redoPoint, report::toString);
    assertEquals(contents(db), opened(target));
  }

  /** A thread that lets the file grow waits between the new size and the new space map. */
  @Test
  void R26_the_end_is_not_found_while_the_file_grows_into_a_group_without_a_space_map()
      throws Exception {
    db.close();
    db = Database.open(temporary.resolve("db"), SMALL.withMaxLogSize(256L << 20));
    BufferPool pool = BackedUp.pool(db);
    int map = SpaceMapPage.mapOf(SpaceMapPage.GROUP);
    int row = 0;
    while (pool.sizeInPages() < SpaceMapPage.GROUP) {
      put(db, "large", row, row + 10, 1, 80_000);
      row += 10;
    }
    int next = row;
    CountDownLatch latched = new CountDownLatch(1);
    CountDownLatch mayGrow = new CountDownLatch(1);
    AtomicBoolean known = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    BackedUp.steps(
        db,
        step -> {
          if (step == BackupSteps.Step.END_KNOWN) {
            known.set(true);
          }
          if (step != BackupSteps.Step.ALL_PAGES_COPIED) {
            return;
          }
          Thread backup = Thread.currentThread();
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    int frame = pool.fixNew(map);
                    latched.countDown();
                    awaitUninterruptibly(mayGrow);
                    pool.discard(frame);
                  }));
          awaitUninterruptibly(latched);
          Thread grows =
              Thread.ofPlatform()
                  .start(() -> {
                    for (int i = next; pool.sizeInPages() <= SpaceMapPage.GROUP; i++) {
                      put(db, "large", i, i + 1, 2, 80_000);
                    }
                  });
          threads.add(grows);
          while (pool.sizeInPages() <= SpaceMapPage.GROUP && grows.isAlive()) {
            Thread.onSpinWait();
          }
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    while (!known.get() && isRunning(backup)) {
                      Thread.onSpinWait();
                    }
                    mayGrow.countDown();
                  }));
        });
    db.backup(target);
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(3, threads.size());
    assertTrue(opened(target).get("large").size() >= next);
  }

  private static boolean isRunning(Thread thread) {
    return thread.getState() == Thread.State.RUNNABLE;
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException unexpected) {
      throw new AssertionError(unexpected);
    }
  }

  @Test
  void R26_what_is_written_after_the_end_is_not_in_the_copy() {
    put(db, "rows", 0, 2_000, 1, 200);
    Map<String, Map<String, String>> before = contents(db);
    once(
        BackupSteps.Step.END_KNOWN,
        () -> {
          put(db, "rows", 0, 4_000, 2, 200);
          put(db, "more", 0, 4_000, 2, 200);
          db.checkpoint();
        });
    db.backup(target);
    assertEquals(before, opened(target));
  }

  @Test
  void splits_and_merges_across_the_place_that_the_copy_has_reached() {
    put(db, "rows", 0, 6_000, 1, 150);
    AtomicInteger round = new AtomicInteger();
    between(
        db,
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          int now = round.incrementAndGet();
          db.run(tx -> tx.deleteRange(db.table("rows"), key(now * 700), key(now * 700 + 600)));
          put(db, "rows", 100_000 - now * 300, 100_000 - now * 300 + 300, now, 400);
          db.cleanNow();
          db.checkpoint();
        });
    backUpAndCompare();
    assertTrue(round.get() > 1, "one piece of pages is too few");
  }

  @Test
  void the_file_grows_when_all_pages_were_copied() {
    put(db, "rows", 0, 1_000, 1, 200);
    once(
        BackupSteps.Step.ALL_PAGES_COPIED,
        () -> {
          put(db, "more", 0, 10_000, 2, 300);
          put(db, "large", 0, 3, 3, 300_000);
        });
    backUpAndCompare();
  }

  @Test
  void the_file_is_cut_and_grows_again() throws IOException {
    put(db, "stays", 0, 500, 1, 200);
    put(db, "goes", 0, 20_000, 1, 200);
    db.checkpoint();
    Path data = db.directory().resolve("revenant.data");
    long large = Files.size(data);
    AtomicReference<Long> small = new AtomicReference<>(large);
    once(
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          db.dropTable("goes");
          db.cleanNow();
          db.compact();
          try {
            small.set(Files.size(data));
          } catch (IOException failed) {
            throw new UncheckedIOException(failed);
          }
          put(db, "new", 0, 3_000, 2, 200);
          db.run(tx -> tx.deleteRange(db.table("stays"), key(0), key(100)));
        });
    backUpAndCompare();
    assertTrue(small.get() < large / 2, () -> small + " of " + large + " bytes");
  }

  @Test
  void the_file_is_cut_when_all_pages_were_copied() {
    put(db, "stays", 0, 500, 1, 200);
    put(db, "goes", 0, 20_000, 1, 200);
    once(
        BackupSteps.Step.ALL_PAGES_COPIED,
        () -> {
          db.dropTable("goes");
          db.cleanNow();
          db.compact();
        });
    backUpAndCompare();
  }

  @Test
  void tables_come_and_go_and_a_load_ends() {
    put(db, "dropped", 0, 2_000, 1, 200);
    put(db, "truncated", 0, 2_000, 1, 200);
    put(db, "kept", 0, 2_000, 1, 200);
    Table loaded = db.createTable("loaded");
    Table half = db.createTable("half");
    BulkLoad ends = db.bulkLoad(loaded);
    BulkLoad open = db.bulkLoad(half);
    for (int i = 0; i < 2_000; i++) {
      ends.add(key(i), value(i, 300));
      open.add(key(i), value(i, 300));
    }
    Transaction undecided = db.begin();
    once(
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          for (int i = 2_000; i < 4_000; i++) {
            ends.add(key(i), value(i, 300));
            open.add(key(i), value(i, 300));
          }
          ends.finish();
          db.dropTable("dropped");
          db.truncateTable("truncated");
          put(db, "truncated", 5, 10, 2, 100);
          db.createTable("created", TableOptions.hashPartitioned(3));
          put(db, "created", 0, 300, 3, 100);
          undecided.createTable("undecided");
          undecided.dropTable(db.table("kept"));
          db.checkpoint();
        });
    db.backup(target);
    open.close();
    undecided.rollback();
    assertEquals(contents(db), opened(target));
  }

  @Test
  void a_page_that_is_read_while_it_is_written_is_read_again() {
    put(db, "rows", 0, 5_000, 1, 200);
    db.cleanNow();
    db.close();
    db = Database.open(db.directory(), SMALL); // nobody writes to the page by himself now
    Path data = db.directory().resolve("revenant.data");
    int page = 40;
    AtomicReference<byte[]> good = new AtomicReference<>();
    BackedUp.steps(
        db,
        step -> {
          if (step == BackupSteps.Step.CHECKPOINTED) {
            good.set(bytes(data, page));
            byte[] torn = good.get().clone();
            Arrays.fill(torn, 4_096, PAGE, (byte) 7);
            write(data, page, torn);
          } else if (step == BackupSteps.Step.PAGES_READ) {
            write(data, page, good.get());
          }
        });
    backUpAndCompare();
  }

  @Test
  void a_damaged_page_ends_the_backup_and_is_named() {
    put(db, "rows", 0, 5_000, 1, 200);
    db.close();
    Path data = db.directory().resolve("revenant.data");
    byte[] bad = bytes(data, 40);
    bad[5_000] ^= 1;
    write(data, 40, bad);
    db = Database.open(db.directory(), SMALL);
    CorruptDataException told = assertThrows(CorruptDataException.class, () -> db.backup(target));
    assertEquals(data, told.file());
    assertEquals(40L * PAGE, told.offset());
    assertFalse(Files.exists(target));
  }

  /** The file has an older version of a page, whole: only notes of the engine show that. */
  @Test
  void a_page_of_which_a_write_was_lost_is_not_copied() throws IOException {
    db.close();
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(temporary.resolve("faulty"));
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 5_000, 1, 200);
    db.checkpoint();
    faulty.misplace("revenant.data", 40L * PAGE, PAGE, FaultyFileSystem.NOWHERE);
    put(db, "rows", 0, 5_000, 2, 200);
    db.checkpoint();
    put(db, "others", 0, 10_000, 2, 200); // the page leaves the pool
    CorruptDataException told = assertThrows(CorruptDataException.class, () -> db.backup(target));
    assertTrue(told.getMessage().contains("page 40"), told::getMessage);
    assertFalse(Files.exists(target));
  }

  @Test
  void a_damaged_page_that_is_free_is_copied_as_zeros() throws IOException {
    put(db, "stays", 0, 500, 1, 200);
    put(db, "goes", 0, 5_000, 1, 200);
    db.dropTable("goes");
    db.cleanNow();
    db.close();
    Path data = db.directory().resolve("revenant.data");
    int pages = (int) (Files.size(data) / PAGE);
    byte[] bad = bytes(data, pages - 1);
    bad[5_000] ^= 1;
    write(data, pages - 1, bad);
    db = Database.open(db.directory(), SMALL);
    backUpAndCompare();
  }

  @Test
  void writers_that_need_the_files_of_the_log_end_the_backup_and_go_on() {
    db.close();
    db =
        Database.open(
            temporary.resolve("bounded"), SMALL.withMaxLogSize(8 << 20).withCountersFile(false));
    put(db, "rows", 0, 2_000, 1, 200);
    once(
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          for (int round = 0; round < 60; round++) { // far more than the log may have
            put(db, "rows", 0, 2_000, round, 200);
            db.checkpoint();
            assertTrue(db.statistics().files().logDirectoryBytes() <= 8 << 20);
          }
        });
    Refusals.assertRefused(StorageException.Reason.BACKUP_TOO_SLOW, () -> db.backup(target));
    assertFalse(Files.exists(target));
    BackedUp.steps(db, BackupSteps.NONE);
    backUpAndCompare();
  }

  @Test
  void a_log_that_is_copied_as_it_grows_does_not_grow() {
    db.close();
    db = Database.open(temporary.resolve("bounded"), SMALL.withMaxLogSize(8 << 20));
    put(db, "rows", 0, 20_000, 1, 200);
    AtomicInteger round = new AtomicInteger();
    between(
        db,
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          for (int i = 0; i < 4; i++) {
            put(db, "rows", 0, 1_000, round.incrementAndGet(), 200);
            db.checkpoint();
          }
          assertTrue(db.statistics().files().logDirectoryBytes() <= 8 << 20);
        });
    long logBytes = db.backup(target).logBytes();
    assertTrue(logBytes > 4 << 20, () -> logBytes + " bytes of log");
    assertEquals(contents(db), opened(target));
  }

  private static byte[] bytes(Path data, int page) {
    try (FileChannel file = FileChannel.open(data)) {
      ByteBuffer bytes = ByteBuffer.allocate(PAGE);
      file.read(bytes, (long) page * PAGE);
      return bytes.array();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void write(Path data, int page, byte[] bytes) {
    try (FileChannel file = FileChannel.open(data, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(bytes), (long) page * PAGE);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
