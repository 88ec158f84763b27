package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.between;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Refusals;

/** Online backup: what a copy has, who ends a backup, and what is refused (protocols.md §47). */
class BackupTest {
  @TempDir Path temporary;
  private Path directory;
  private Path target;

  @BeforeEach
  void paths() {
    directory = temporary.resolve("db");
    target = temporary.resolve("copies").resolve("one");
  }

  private static StorageException refused(Executable call) {
    return Refusals.assertRefused(StorageException.Reason.BACKUP_TARGET, call);
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.map(file -> folder.relativize(file).toString()).sorted().toList();
    }
  }

  @Test
  void a_copy_has_everything_and_is_a_database_of_its_own() throws IOException {
    Map<String, Map<String, String>> before;
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "plain", 0, 3_000, 1, 100);
      put(db, "large", 0, 5, 2, 100_000);
      put(db, "shared", 0, 50, 3, 3_000);
      db.createTable("partitioned", TableOptions.hashPartitioned(4));
      put(db, "partitioned", 0, 500, 4, 50);
      db.run(tx -> tx.deleteRange(db.table("plain"), key(100), key(400)));
      db.createSequence("numbers").next();
      db.createTable("empty");
      before = contents(db);
      BackupReport report = db.backup(target);
      assertEquals(target, report.target());
      assertEquals(
          report.pages() * 8_192, Files.size(target.resolve("revenant.data")), "the data file");
      assertTrue(report.redoPoint() < report.endOfLog() && report.nanos() > 0);
      assertEquals(report.bytes(), report.pages() * 8_192 + report.logBytes());
      put(db, "plain", 0, 3_000, 9, 100);
    }
    assertEquals(before, opened(target));
    try (Database copy = Database.open(target, SMALL)) {
      assertTrue(copy.sequence("numbers").next() > 1, "a value was handed out twice");
      put(copy, "plain", 0, 10, 5, 100);
    }
    byte[] original = Files.readAllBytes(directory.resolve("revenant.data"));
    byte[] copied = Files.readAllBytes(target.resolve("revenant.data"));
    assertFalse(Arrays.equals(original, 24, 40, copied, 24, 40), "the id of the database");
  }

  @Test
  void what_is_not_committed_is_not_in_a_copy() {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 10, 1, 100);
      Table rows = db.table("rows");
      Transaction open = db.begin();
      open.put(rows, key(1), value(2, 100));
      for (int i = 1_000; i < 6_000; i++) {
        open.put(rows, key(i), value(2, 200)); // far more than the pool
      }
      try (Transaction rolledBack = db.begin()) {
        for (int i = 100; i < 900; i++) {
          rolledBack.put(rows, key(i), value(3, 100));
        }
        rolledBack.rollback();
      }
      Transaction prepared = db.begin();
      prepared.put(rows, key(5), value(4, 100));
      prepared.prepare(text("waits"));
      Map<String, Map<String, String>> before = contents(db);
      between(
          db,
          BackupSteps.Step.PAGES_COPIED,
          () -> {
            open.put(rows, key(2), value(2, 100));
            db.checkpoint();
          });
      db.backup(target);
      open.commit();
      db.commitPrepared(text("waits"));
      try (Database copy = Database.open(target, SMALL)) {
        assertEquals(before, contents(copy));
        assertEquals(1, copy.preparedTransactions().size());
        assertTrue(copy.commitPrepared(text("waits")));
        assertArrayEquals(value(4, 100), copy.read(tx -> tx.get(copy.table("rows"), key(5))));
      }
      assertNotEquals(before, contents(db));
    }
    opened(target);
  }

  @Test
  void what_was_committed_lazily_before_the_end_is_in_a_copy() {
    try (Database db = Database.open(directory, SMALL)) {
      Table rows = db.createTable("rows");
      db.run(TransactionOptions.lazy(), tx -> tx.put(rows, key(1), value(1, 10)));
      between(
          db,
          BackupSteps.Step.ALL_PAGES_COPIED,
          () -> db.run(TransactionOptions.lazy(), tx -> tx.put(rows, key(2), value(2, 10))));
      db.backup(target);
    }
    assertEquals(2, opened(target).get("rows").size());
  }

  @Test
  void a_copy_is_made_right_after_a_crash_with_pages_that_are_to_be_redone() throws IOException {
    Path crashed = temporary.resolve("crashed");
    Map<String, Map<String, String>> before;
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 1_000, 1, 100);
      db.checkpoint();
      for (int i = 0; i < 20; i++) {
        put(db, "rows", i * 50, i * 50 + 50, i, 100);
      }
      before = contents(db);
      LiveCopy.copy(directory, crashed);
    }
    Path again = temporary.resolve("again");
    try (Database db = Database.open(crashed, SMALL)) {
      assertTrue(db.recoveryReport().pagesPending() > 0);
      db.backup(target);
      put(db, "rows", 0, 1_000, 77, 100);
      db.backup(again);
    }
    assertEquals(before, opened(target));
    assertEquals(1_000, opened(again).get("rows").size());
  }

  @Test
  void a_copy_of_a_copy() {
    Map<String, Map<String, String>> before;
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 1_000, 1, 100);
      before = contents(db);
      db.backup(target);
    }
    Path second = temporary.resolve("second");
    try (Database copy = Database.open(target, SMALL)) {
      copy.backup(second);
    }
    assertEquals(before, opened(second));
  }

  @Test
  void a_database_that_is_open_read_only_is_copied_if_it_was_closed_cleanly() throws IOException {
    Map<String, Map<String, String>> before;
    Path crashed = temporary.resolve("crashed");
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 1_000, 1, 100);
      before = contents(db);
      LiveCopy.copy(directory, crashed);
    }
    List<String> files = names(directory);
    try (Database db = Database.open(directory, SMALL.withReadOnly(true))) {
      db.backup(target);
    }
    assertEquals(files, names(directory));
    assertEquals(before, opened(target));
    try (Database db = Database.open(crashed, SMALL.withReadOnly(true))) {
      Path other = temporary.resolve("other");
      assertThrows(ReadOnlyDatabaseException.class, () -> db.backup(other));
      assertFalse(Files.exists(other));
    }
  }

  @Test
  void a_target_that_is_not_an_empty_directory_is_refused_and_not_changed() throws IOException {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 10, 1, 100);
      Files.createDirectories(target);
      Files.writeString(target.resolve("mine"), "text");
      String told = refused(() -> db.backup(target)).getMessage();
      assertTrue(told.contains("mine") && told.contains(target.toString()), told);
      assertEquals(List.of("", "mine"), names(target));
      refused(() -> db.backup(target.resolve("mine")));
      assertEquals("text", Files.readString(target.resolve("mine")));
      refused(() -> db.backup(directory));
      refused(() -> db.backup(directory.resolve("inner")));
      assertFalse(Files.exists(directory.resolve("inner")));
      Files.delete(target.resolve("mine"));
      db.backup(target); // an empty directory is good
      refused(() -> db.backup(target));
    }
    assertEquals(10, opened(target).get("rows").size());
  }

  @Test
  void an_unfinished_backup_is_refused_with_the_cure_and_not_changed() throws IOException {
    Path unfinished = temporary.resolve("unfinished");
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 1_000, 1, 100);
      for (BackupSteps.Step step : BackupSteps.Step.values()) {
        between(
            db,
            step,
            () -> {
              try {
                LiveCopy.copy(target, unfinished);
              } catch (IOException failed) {
                throw new AssertionError(failed);
              }
            });
        db.backup(target);
        List<String> left = names(unfinished);
        for (boolean create : new boolean[] {true, false}) {
          StorageException told =
              assertThrows(
                  StorageException.class,
                  () -> Database.open(unfinished, SMALL.withCreate(create)).close());
          assertEquals(StorageException.Reason.NOT_A_DATABASE, told.reason());
          assertTrue(
              told.getMessage().contains("unfinished backup")
                  && told.getMessage().contains("delete"),
              told::getMessage);
        }
        refused(() -> db.backup(unfinished));
        assertEquals(left, names(unfinished), step.toString());
        assertEquals(1_000, opened(target).get("rows").size());
        target = target.resolveSibling("after" + step);
      }
    }
  }

  @Test
  void a_listener_sees_the_progress_and_can_cancel() {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 5_000, 1, 200);
      List<BackupProgress> seen = new ArrayList<>();
      Thread caller = Thread.currentThread();
      BackupOptions options =
          BackupOptions.defaults()
              .withListener(progress -> {
                assertSame(caller, Thread.currentThread());
                seen.add(progress);
                return true;
              });
      db.backup(target, options);
      assertFalse(seen.isEmpty());
      Path other = target.resolveSibling("other");
      assertThrows(
          CancellationException.class,
          () -> db.backup(other, slow().withListener(progress -> false)));
      assertFalse(Files.exists(other));
      CancellationException thrown =
          assertThrows(
              CancellationException.class,
              () ->
                  db.backup(
                      other,
                      slow()
                          .withListener(progress -> {
                            throw new UnsupportedOperationException("mine");
                          })));
      assertTrue(thrown.getCause() != null);
      assertThrows(
          StackOverflowError.class,
          () ->
              db.backup(
                  other,
                  slow()
                      .withListener(progress -> {
                        throw new StackOverflowError();
                      })));
      assertFalse(Files.exists(other));
      db.backup(other);
    }
  }

  /** A piece of pages takes an hour. */
  private static BackupOptions slow() {
    return BackupOptions.defaults().withBytesPerSecond(300);
  }

  @Test
  void an_interrupt_ends_a_backup_and_harms_nothing() {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 5_000, 1, 200);
      Thread.currentThread().interrupt();
      assertThrows(CancellationException.class, () -> db.backup(target, slow()));
      assertTrue(Thread.interrupted());
      assertFalse(Files.exists(target));
      put(db, "rows", 0, 5_000, 2, 200);
      db.backup(target);
    }
    assertEquals(5_000, opened(target).get("rows").size());
  }

  @Test
  void a_close_ends_a_backup_and_waits_for_its_thread() throws InterruptedException {
    Database db = Database.open(directory, SMALL);
    put(db, "rows", 0, 5_000, 1, 200);
    List<Throwable> thrown = new ArrayList<>();
    CountDownLatch begun = new CountDownLatch(1);
    BackedUp.steps(
        db,
        step -> {
          if (step == BackupSteps.Step.PAGES_COPIED) {
            begun.countDown();
          }
        });
    Thread backup =
        Thread.ofVirtual()
            .start(() -> {
              try {
                db.backup(target, slow());
              } catch (Throwable told) {
                thrown.add(told);
              }
            });
    begun.await();
    db.close();
    backup.join();
    assertEquals(1, thrown.size());
    assertTrue(thrown.getFirst() instanceof DatabaseClosedException, thrown::toString);
    assertFalse(Files.exists(target));
    assertThrows(DatabaseClosedException.class, () -> db.backup(target));
    try (Database again = Database.open(directory, SMALL)) {
      assertTrue(again.recoveryReport().clean());
    }
  }

  @Test
  void one_backup_at_a_time() {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 10, 1, 200);
      Path other = target.resolveSibling("other");
      between(
          db,
          BackupSteps.Step.ALL_PAGES_COPIED,
          () -> assertThrows(IllegalStateException.class, () -> db.backup(other)));
      db.backup(target);
      assertFalse(Files.exists(other));
      BackedUp.steps(db, BackupSteps.NONE);
      db.backup(other);
    }
  }

  @Test
  void an_error_in_the_thread_of_a_backup_reaches_the_caller_and_harms_nothing() {
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "rows", 0, 1_000, 1, 200);
      for (BackupSteps.Step failing : BackupSteps.Step.values()) {
        BackedUp.steps(
            db,
            step -> {
              if (step == failing) {
                throw new OutOfMemoryError("at " + step);
              }
            });
        assertThrows(OutOfMemoryError.class, () -> db.backup(target));
        assertFalse(Files.exists(target), failing::toString);
        put(db, "rows", 0, 1_000, failing.ordinal(), 200);
      }
      BackedUp.steps(db, BackupSteps.NONE);
      db.backup(target);
      assertNull(db.findTable("none"));
    }
    assertEquals(1_000, opened(target).get("rows").size());
  }
}
