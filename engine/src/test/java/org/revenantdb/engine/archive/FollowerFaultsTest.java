package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.archive.Followed.QUIET;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.testing.CrashDisk;

/** A follower whose own device fails, or whose archive is damaged (protocols.md §50). */
class FollowerFaultsTest {
  @TempDir Path temporary;
  private final CrashDisk disk = new CrashDisk();
  private Path archive;
  private Path own;
  private Database db;

  @BeforeEach
  void make() {
    archive = temporary.resolve("archive");
    own = disk.path("/follower");
    db = Database.open(temporary.resolve("db"), small(archive));
    put(db, "rows", 0, 100, 1, 100);
    db.archiveNow();
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** What was shown before stays, and nothing more is taken. */
  private void assertStays(
      Follower follower, Map<String, Map<String, String>> before, StorageException.Reason reason) {
    StorageException told = assertThrows(StorageException.class, follower::refresh);
    assertEquals(reason, told.reason(), told::getMessage);
    assertEquals(before, Followed.contents(follower));
    assertFalse(follower.awaitLsn(Long.MAX_VALUE, Duration.ofDays(1))); // its thread has ended
    assertTrue(follower.isEnded());
    assertThrows(StorageException.class, follower::refresh);
    assertThrows(StorageException.class, () -> follower.promote(QUIET.database()));
  }

  private void assertGoesOn() {
    try (Follower again = Database.follow(archive, own, QUIET)) {
      again.refresh();
      assertEquals(contents(db), Followed.contents(again));
    }
  }

  @Test
  void a_full_device_ends_the_follower_and_it_goes_on_when_there_is_room() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      Map<String, Map<String, String>> before = contents(db);
      put(db, "rows", 0, 1_000, 2, 900);
      db.archiveNow();
      disk.fullAfter(100_000);
      assertStays(follower, before, StorageException.Reason.DISK_FULL);
      disk.fullAfter(Long.MAX_VALUE);
    }
    assertGoesOn();
  }

  @Test
  void a_fold_that_fails_is_reported_and_everything_is_shown_all_the_same() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      disk.observeOperations(operation -> {
        if (operation.startsWith("create ") && operation.contains(Fold.UNFINISHED)) {
          disk.fullAfter(0);
        }
      });
      for (int i = 0; i < 5 && follower.failure() == null; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.archiveNow();
        follower.refresh();
      }
      StorageException why = assertInstanceOf(StorageException.class, follower.failure());
      assertEquals(StorageException.Reason.DISK_FULL, why.reason(), why::getMessage);
      assertEquals(0, follower.statistics().folds());
      assertEquals(contents(db), Followed.contents(follower));
      disk.observe(() -> {});
      disk.fullAfter(Long.MAX_VALUE);
      for (int i = 5; i < 10 && follower.statistics().folds() == 0; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.archiveNow();
        follower.refresh();
      }
      assertEquals(1, follower.statistics().folds());
      assertNull(follower.failure());
      assertEquals(contents(db), Followed.contents(follower));
    }
  }

  @Test
  void R6_after_a_failed_force_nothing_is_built_on_what_it_was_for() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      Map<String, Map<String, String>> before = contents(db);
      put(db, "rows", 0, 100, 2, 100);
      db.archiveNow();
      disk.failForcesAfter(0);
      assertStays(follower, before, StorageException.Reason.FORCE_FAILED);
      disk.failForcesAfter(Integer.MAX_VALUE);
    }
    assertGoesOn();
    CrashDisk cut = disk.afterPowerCut(new Random(1));
    try (Follower alone =
        Database.follow(temporary.resolve("gone"), cut.path("/follower"), QUIET)) {
      assertEquals(contents(db), Followed.contents(alone));
    }
  }

  @Test
  void a_damaged_block_is_told_and_what_comes_before_it_is_shown() throws IOException {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      put(db, "rows", 0, 100, 2, 100);
      db.archiveNow();
      Map<String, Map<String, String>> before = contents(db);
      List<Path> logs = Archived.files(archive, ".rva");
      int bad = (int) Files.size(logs.getLast()) + 200;
      put(db, "rows", 0, 100, 3, 100);
      db.archiveNow();
      put(db, "rows", 0, 100, 4, 100);
      db.archiveNow();
      byte[] bytes = Files.readAllBytes(logs.getLast());
      bytes[bad] ^= 1;
      Files.write(logs.getLast(), bytes);
      assertThrows(CorruptDataException.class, follower::refresh);
      assertEquals(before, Followed.contents(follower));
      bytes[bad] ^= 1;
      Files.write(logs.getLast(), bytes);
      follower.refresh();
      assertEquals(contents(db), Followed.contents(follower));
    }
  }

  private void assertFenceIsTakenBack(Runnable fault, StorageException.Reason reason) {
    Path far = disk.path("/archive");
    try (Database writer = Database.open(temporary.resolve("writer"), small(far))) {
      put(writer, "rows", 0, 100, 1, 100);
      writer.archiveNow();
      try (Follower follower = Database.follow(far, temporary.resolve("follower"), QUIET)) {
        disk.observeOperations(operation -> {
          if (operation.startsWith("create ") && operation.contains(Fence.NAME)) {
            fault.run();
          }
        });
        StorageException told =
            assertThrows(StorageException.class, () -> follower.promote(QUIET.database()));
        assertEquals(reason, told.reason(), told::getMessage);
        disk.observe(() -> {});
        disk.fullAfter(Long.MAX_VALUE);
        disk.failForcesAfter(Integer.MAX_VALUE);
        assertFalse(Files.exists(far.resolve(Fence.NAME)));
        put(writer, "rows", 0, 100, 2, 100);
        writer.archiveNow();
        Map<String, Map<String, String>> shipped = contents(writer);
        try (Database promoted = follower.promote(QUIET.database())) {
          assertEquals(shipped, contents(promoted));
        }
      }
      assertThrows(StorageException.class, writer::archiveNow);
    } catch (DatabaseStoppedException fenced) {
      assertTrue(fenced.getMessage().contains(Fence.NAME), fenced::getMessage);
    }
  }

  @Test
  void a_fence_that_cannot_be_written_is_deleted_and_stops_nobody() {
    assertFenceIsTakenBack(() -> disk.fullAfter(0), StorageException.Reason.DISK_FULL);
  }

  @Test
  void a_fence_that_cannot_be_forced_is_deleted_and_stops_nobody() {
    assertFenceIsTakenBack(() -> disk.failForcesAfter(0), StorageException.Reason.FORCE_FAILED);
  }

  /** It ships several blocks in one round, and the fence comes with the first. */
  @Test
  void a_former_writer_that_is_far_behind_ships_no_block_behind_the_fence() throws IOException {
    Path far = disk.path("/archive");
    try (Database writer = Database.open(temporary.resolve("writer"), small(far))) {
      put(writer, "rows", 0, 100, 1, 100);
      writer.archiveNow();
      for (int i = 0; i < 4; i++) {
        put(writer, "rows", 0, 1_000, i, 900);
      }
      disk.observeOperations(operation -> {
        ArchiveFiles files = new ArchiveFiles(far, new IoStatistics());
        if (operation.startsWith("write ") && operation.contains(".rva") && !Fence.isIn(files)) {
          Fence.make(files, new byte[16], new byte[16], 1, 1);
        }
      });
      StorageException told = assertThrows(StorageException.class, writer::archiveNow);
      assertEquals(StorageException.Reason.FENCED, told.reason(), told::getMessage);
      disk.observe(() -> {});
    } catch (DatabaseStoppedException fenced) {
      assertTrue(fenced.getMessage().contains(Fence.NAME), fenced::getMessage);
    }
    long size = Files.size(Archived.files(far, ".rva").getLast());
    assertTrue(size < 2 << 20, () -> size + " bytes: more than a block of 1 MiB");
  }

  @Test
  void an_archive_of_another_database_is_refused() {
    Path other = temporary.resolve("other");
    try (Database another = Database.open(temporary.resolve("db2"), small(other))) {
      put(another, "rows", 0, 10, 1, 10);
      another.archiveNow();
    }
    Database.follow(archive, own, QUIET).close();
    StorageException told =
        assertThrows(StorageException.class, () -> Database.follow(other, own, QUIET));
    assertEquals(StorageException.Reason.ARCHIVE_FOREIGN, told.reason(), told::getMessage);
    assertGoesOn();
  }

  @Test
  void an_archive_that_turns_out_to_be_another_one_is_refused_by_the_next_look()
      throws IOException {
    Path other = temporary.resolve("other");
    try (Database another = Database.open(temporary.resolve("db2"), small(other))) {
      put(another, "rows", 0, 10, 1, 10);
      another.archiveNow();
    }
    Database.follow(archive, own, QUIET).close();
    Path hidden = Files.move(other, temporary.resolve("hidden"));
    try (Follower follower = Database.follow(other, own, QUIET)) {
      Files.move(hidden, other);
      StorageException told = assertThrows(StorageException.class, follower::refresh);
      assertEquals(StorageException.Reason.ARCHIVE_FOREIGN, told.reason(), told::getMessage);
    }
  }
}
