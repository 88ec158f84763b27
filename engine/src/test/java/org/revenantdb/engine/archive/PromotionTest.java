package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.archive.Followed.QUIET;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.FollowerView;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.testing.CrashDisk;

/** A follower becomes the database, and the former writer is kept out (protocols.md §51). */
class PromotionTest {
  @TempDir Path temporary;
  private Path archive;
  private Path directory;
  private Path own;
  private Database db;

  @BeforeEach
  void make() {
    archive = temporary.resolve("archive");
    directory = temporary.resolve("db");
    own = temporary.resolve("follower");
    db = Database.open(directory, small(archive));
    put(db, "rows", 0, 100, 1, 100);
    db.archiveNow();
  }

  @AfterEach
  void close() {
    try {
      db.close();
    } catch (DatabaseStoppedException fenced) {
      assertTrue(fenced.getMessage().contains(Fence.NAME), fenced::getMessage);
    }
  }

  private Follower behindSomeFolds() {
    Follower follower = Database.follow(archive, own, QUIET);
    for (int i = 0; i < 2; i++) { // 0.9 MB of log each; a fold is due behind 1 MiB
      put(db, "rows", 0, 1_000, i, 900);
      db.archiveNow();
      follower.refresh();
    }
    assertTrue(follower.statistics().folds() > 0);
    return follower;
  }

  private static void assertFenced(StorageException told) {
    assertEquals(StorageException.Reason.FENCED, told.reason(), told::getMessage);
  }

  @Test
  void a_promoted_follower_has_what_was_shipped_and_is_a_database() {
    Follower follower = behindSomeFolds();
    Database snapshot = follower.snapshot();
    put(db, "rows", 0, 100, 77, 50);
    db.archiveNow();
    Map<String, Map<String, String>> shipped = contents(db);
    put(db, "rows", 0, 100, 78, 50); // not shipped
    try (Database promoted = follower.promote(SMALL)) {
      assertEquals(shipped, contents(promoted));
      assertThrows(DatabaseClosedException.class, () -> contents(snapshot));
      assertThrows(DatabaseClosedException.class, follower::snapshot);
      assertThrows(IllegalStateException.class, () -> follower.promote(SMALL));
      follower.close();
      put(promoted, "rows", 0, 100, 79, 50);
    }
    assertEquals(100, opened(own).get("rows").values().stream().filter(isOf(79)).count());
    StorageException told =
        assertThrows(StorageException.class, () -> Database.follow(archive, own, QUIET));
    assertEquals(StorageException.Reason.NOT_A_DATABASE, told.reason(), told::getMessage);
  }

  private static java.util.function.Predicate<String> isOf(int number) {
    return ("50:" + java.util.Arrays.hashCode(value(number, 50)))::equals;
  }

  @Test
  void a_running_former_writer_stops_and_one_that_comes_back_is_refused() {
    Follower follower = behindSomeFolds();
    follower.promote(SMALL).close();
    put(db, "rows", 0, 100, 5, 50); // it does not know yet
    StorageException told = assertThrows(StorageException.class, db::archiveNow);
    assertFenced(told);
    assertTrue(told.getMessage().contains("promoted"), told::getMessage);
    assertThrows(DatabaseStoppedException.class, () -> put(db, "rows", 0, 100, 6, 50));
    close();
    assertFenced(
        assertThrows(
            StorageException.class, () -> Database.open(directory, small(archive)).close()));
    StorageException foreign =
        assertThrows(StorageException.class, () -> Database.open(own, small(archive)).close());
    assertEquals(StorageException.Reason.ARCHIVE_FOREIGN, foreign.reason(), foreign::getMessage);
  }

  @Test
  void a_promoted_database_has_an_archive_of_its_own_that_others_follow() {
    Follower follower = behindSomeFolds();
    Path second = temporary.resolve("second");
    try (Database promoted = follower.promote(small(second))) {
      put(promoted, "rows", 0, 100, 9, 50);
      promoted.archiveNow();
      try (Follower next = Database.follow(second, temporary.resolve("next"), QUIET)) {
        assertEquals(contents(promoted), Followed.contents(next));
        put(promoted, "rows", 0, 1_000, 10, 900);
        promoted.archiveNow();
        next.refresh();
        assertEquals(contents(promoted), Followed.contents(next));
      }
      Path restored = temporary.resolve("restored");
      Database.restore(second, restored, RestoreRequest.latest());
      assertEquals(contents(promoted), opened(restored));
    }
  }

  @Test
  void of_two_followers_one_is_promoted_and_the_other_goes_on_reading() {
    Follower first = behindSomeFolds();
    try (Follower second = Database.follow(archive, temporary.resolve("second"), QUIET)) {
      Map<String, Map<String, String>> shipped = contents(db);
      first.promote(SMALL).close();
      assertFenced(assertThrows(StorageException.class, () -> second.promote(SMALL)));
      second.refresh();
      assertEquals(shipped, Followed.contents(second));
      assertFenced(assertThrows(StorageException.class, () -> second.promote(SMALL)));
    }
  }

  @Test
  void without_its_archive_a_follower_is_promoted_if_that_is_said() throws IOException {
    Follower follower = behindSomeFolds();
    Map<String, Map<String, String>> shipped = contents(db);
    Files.move(archive, temporary.resolve("hidden"));
    assertThrows(StorageException.class, () -> follower.promote(SMALL));
    assertEquals(shipped, Followed.contents(follower));
    try (Database promoted = follower.promoteWithoutFence(SMALL)) {
      assertEquals(shipped, contents(promoted));
    }
    Files.move(temporary.resolve("hidden"), archive);
    db.archiveNow(); // nobody keeps it out
  }

  @Test
  void options_that_no_promoted_database_can_have_change_nothing() {
    Follower follower = behindSomeFolds();
    assertThrows(IllegalArgumentException.class, () -> follower.promote(SMALL.withReadOnly(true)));
    assertThrows(IllegalArgumentException.class, () -> follower.promote(small(archive)));
    db.archiveNow(); // there is no fence
    follower.refresh();
    follower.promote(SMALL).close();
  }

  @Test
  void a_fence_that_is_not_whole_fences_and_a_person_decides() throws IOException {
    try (Follower follower = behindSomeFolds()) {
      Files.write(archive.resolve(Fence.NAME), new byte[] {1, 2, 3});
      StorageException told = assertThrows(StorageException.class, () -> follower.promote(SMALL));
      assertFenced(told);
      assertTrue(told.getMessage().contains("delete the file"), told::getMessage);
      assertFenced(assertThrows(StorageException.class, db::archiveNow));
      Files.delete(archive.resolve(Fence.NAME));
      follower.promote(SMALL).close();
    }
  }

  @Test
  void a_follower_whose_promotion_was_cut_off_behind_its_fence_is_promoted_again() {
    Map<String, Map<String, String>> shipped;
    try (Follower follower = behindSomeFolds()) {
      ArchiveFiles files =
          new ArchiveFiles(archive, new org.revenantdb.recovery.file.IoStatistics());
      byte[] id = id(own);
      Fence.make(files, files.demandHeader().databaseId(), id, follower.statistics().lsn(), 1);
      shipped = contents(db);
    }
    Follower again = Database.follow(archive, own, QUIET);
    try (Database promoted = again.promote(SMALL)) {
      assertEquals(shipped, contents(promoted));
    }
  }

  private static byte[] id(Path directory) {
    try (org.revenantdb.recovery.file.StorageFile data =
        org.revenantdb.recovery.file.StorageFile.open(
            directory.resolve("revenant.data"),
            org.revenantdb.recovery.file.OpenMode.READ,
            /* ownerOnly= */ true)) {
      return org.revenantdb.recovery.file.DataFileHeader.read(data).databaseId();
    }
  }

  /** A follower of the crash disk that has some blocks before it, and is closed at the first. */
  private Following<FollowerView> closedWhileItTakes(CrashDisk disk) {
    Path its = disk.path("/follower");
    Following<FollowerView> following =
        new Following<>(
            archive, its, DatabaseFiles.NAMES, QUIET, () -> new FollowerView(its, SMALL));
    FileThread.call(
        "begin",
        () -> {
          following.begin();
          return true;
        });
    for (int i = 0; i < 5; i++) {
      put(db, "rows", 0, 100, i, 100);
      db.archiveNow();
    }
    disk.observe(following::beginClose);
    return following;
  }

  private static void close(Following<FollowerView> following) {
    FileThread.call(
        "close",
        () -> {
          following.close();
          return true;
        });
  }

  @Test
  void a_promotion_beside_a_close_has_all_that_was_shipped() {
    CrashDisk disk = new CrashDisk();
    Following<FollowerView> following = closedWhileItTakes(disk);
    following.promote(/* withFence= */ true);
    disk.observe(() -> {});
    close(following);
    assertEquals(contents(db), opened(disk.path("/follower")));
  }

  @Test
  void a_promotion_beside_another_is_refused_and_changes_nothing() {
    CrashDisk disk = new CrashDisk();
    Following<FollowerView> following = closedWhileItTakes(disk);
    AtomicReference<Throwable> refused = new AtomicReference<>();
    disk.observe(() -> {
      disk.observe(() -> {});
      refused.set(
          assertThrows(RuntimeException.class, () -> following.promote(/* withFence= */ false)));
    });
    following.promote(/* withFence= */ true);
    close(following);
    assertInstanceOf(Misuse.OfState.class, refused.get());
    assertTrue(Files.exists(archive.resolve(Fence.NAME)));
    assertEquals(contents(db), opened(disk.path("/follower")));
  }

  @Test
  void a_refresh_that_a_close_cuts_off_does_not_claim_to_have_all() {
    CrashDisk disk = new CrashDisk();
    Following<FollowerView> following = closedWhileItTakes(disk);
    assertThrows(DatabaseClosedException.class, following::refresh);
    close(following);
  }

  @Test
  void what_was_prepared_is_prepared_in_the_promoted_database() {
    Transaction prepared = db.begin();
    prepared.put(db.table("rows"), key(5_000), value(8, 10));
    prepared.prepare("bought".getBytes());
    Transaction open = db.begin();
    open.put(db.table("rows"), key(5_001), value(8, 10));
    Follower follower = behindSomeFolds();
    try (Database promoted = follower.promote(SMALL)) {
      assertEquals(1, promoted.preparedTransactions().size());
      promoted.commitPrepared("bought".getBytes());
      assertNotNull(promoted.read(tx -> tx.get(promoted.table("rows"), key(5_000))));
      assertNull(promoted.read(tx -> tx.get(promoted.table("rows"), key(5_001))));
    }
  }

  @Test
  void a_promoted_database_whose_states_are_missing_is_refused() throws IOException {
    Follower follower = behindSomeFolds();
    follower.close();
    try (var files = Files.list(own)) {
      for (Path file : files.filter(one -> one.toString().contains("states-")).toList()) {
        Files.delete(file);
      }
    }
    StorageException told =
        assertThrows(StorageException.class, () -> Database.follow(archive, own, QUIET));
    assertEquals(StorageException.Reason.MISSING_FILE, told.reason(), told::getMessage);
  }
}
