package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.archive.Followed.QUIET;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.testing.CrashDisk;

/** Followers (protocols.md §50). */
class FollowerTest {
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
    db.close();
  }

  private void assertFollows(Follower follower) {
    db.archiveNow();
    follower.refresh();
    assertEquals(contents(db), Followed.contents(follower));
  }

  @Test
  void snapshots_have_what_the_archive_has() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      assertFollows(follower);
      put(db, "rows", 50, 150, 2, 200);
      put(db, "more", 0, 10, 3, 20_000);
      assertFollows(follower);
      assertTrue(follower.statistics().lsn() >= Archived.shipped(db));
      assertTrue(follower.awaitLsn(Archived.shipped(db), Duration.ZERO));
      assertFalse(follower.awaitLsn(Long.MAX_VALUE, Duration.ofMillis(1)));
      assertTrue(follower.statistics().upToMillis() > 0);
      assertNull(follower.failure());
    }
  }

  @Test
  void a_snapshot_that_was_closed_is_closed_while_others_use_its_view() {
    try (Follower follower = Database.follow(archive, own, QUIET);
        Database other = follower.snapshot()) {
      Database closed = follower.snapshot();
      closed.close();
      assertTrue(closed.isClosed());
      assertThrows(DatabaseClosedException.class, closed::begin);
      assertThrows(DatabaseClosedException.class, () -> closed.read(tx -> 1));
      assertThrows(DatabaseClosedException.class, () -> closed.findTable("rows"));
      assertThrows(DatabaseClosedException.class, closed::tableNames);
      assertThrows(DatabaseClosedException.class, closed::statistics);
      assertThrows(DatabaseClosedException.class, closed::check);
      assertThrows(DatabaseClosedException.class, () -> closed.backup(temporary.resolve("backup")));
      closed.close();
      assertEquals(contents(db), contents(other));
    }
  }

  @Test
  void two_snapshots_of_one_view_are_checked_at_once() throws Exception {
    try (Follower follower = Database.follow(archive, own, QUIET);
        Database one = follower.snapshot();
        Database other = follower.snapshot()) {
      FutureTask<Void> beside =
          new FutureTask<>(() -> {
            for (int i = 0; i < 20; i++) {
              Followed.assertSound(one);
            }
            return null;
          });
      Thread.ofPlatform().start(beside);
      for (int i = 0; i < 20; i++) {
        Followed.assertSound(other);
      }
      assertNull(beside.get());
    }
  }

  @Test
  void who_waits_for_a_position_without_a_limit_is_told_that_the_follower_has_ended()
      throws Exception {
    Follower follower = Database.follow(archive, own, QUIET);
    FutureTask<Boolean> waiting =
        new FutureTask<>(() -> follower.awaitLsn(Long.MAX_VALUE, DatabaseOptions.NEVER));
    Thread.ofVirtual().start(waiting);
    follower.close();
    assertFalse(waiting.get());
  }

  @Test
  void a_snapshot_stays_as_it_is_while_the_follower_folds() {
    try (Follower follower = Database.follow(archive, own, QUIET);
        Database first = follower.snapshot()) {
      Map<String, Map<String, String>> before = contents(first);
      for (int i = 0; i < 5; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        assertFollows(follower);
      }
      assertTrue(follower.statistics().folds() > 1, () -> follower.statistics().toString());
      assertEquals(2, follower.statistics().viewsOpen());
      assertEquals(before, contents(first));
      assertFalse(first.isClosed());
      first.close();
      assertTrue(first.isClosed());
      assertEquals(1, follower.statistics().viewsOpen());
    }
  }

  @Test
  void a_snapshot_keeps_its_log_where_files_are_not_mapped() {
    CrashDisk disk = new CrashDisk();
    try (Follower follower = Database.follow(archive, disk.path("/follower"), QUIET)) {
      put(db, "rows", 0, 500, 2, 500);
      Map<String, Map<String, String>> before = contents(db);
      db.archiveNow();
      follower.refresh();
      try (Database second = follower.snapshot()) {
        put(db, "rows", 0, 1, 3, 500);
        db.archiveNow();
        follower.refresh(); // so that folds read by later views
        assertEquals(0, follower.statistics().folds());
        for (int i = 0; i < 4; i++) {
          put(db, "rows", 0, 1_000, i, 900);
          db.archiveNow();
          follower.refresh();
        }
        assertTrue(follower.statistics().folds() > 1, () -> follower.statistics().toString());
        assertEquals(before, contents(second)); // nothing of it was read before
      }
    }
  }

  @Test
  void the_log_of_a_follower_is_as_long_as_its_folds_allow() throws IOException {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      for (int i = 0; i < 8; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.archiveNow();
        follower.refresh();
      }
      // A fold is due behind 1 MiB; a round brings about as much; a segment has 1 MiB.
      assertTrue(Archived.files(own.resolve("log"), ".log").size() <= 5);
      assertEquals(1, states().size());
    }
  }

  private List<Path> states() throws IOException {
    try (var files = Files.list(own)) {
      return files.filter(file -> file.toString().contains("states-")).toList();
    }
  }

  @Test
  void it_goes_on_where_it_was_also_without_the_archive() throws IOException {
    long lsn;
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      for (int i = 0; i < 4; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        assertFollows(follower);
      }
      lsn = follower.statistics().lsn();
    }
    Map<String, Map<String, String>> before = contents(db);
    put(db, "rows", 0, 10, 9, 10);
    Path hidden = temporary.resolve("hidden");
    Files.move(archive, hidden);
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      assertEquals(lsn, follower.statistics().lsn());
      assertEquals(before, Followed.contents(follower));
      StorageException gone = assertThrows(StorageException.class, follower::refresh);
      assertEquals(StorageException.Reason.NOT_A_DATABASE, gone.reason(), gone::getMessage);
      assertNotNull(follower.failure());
      assertTrue(follower.statistics().failures() > 0);
      Files.move(hidden, archive);
      assertFollows(follower);
    }
  }

  @Test
  void what_is_open_aborted_or_prepared_is_as_after_a_crash() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      Table rows = db.table("rows");
      Map<String, Map<String, String>> before = contents(db);
      Transaction open = db.begin();
      for (int i = 0; i < 3_000; i++) {
        open.put(rows, key(i), value(7, 500));
      }
      Transaction prepared = db.begin();
      prepared.put(rows, key(5_000), value(8, 10));
      prepared.prepare("bought".getBytes());
      try (Transaction aborted = db.begin()) {
        for (int i = 6_000; i < 7_000; i++) {
          aborted.put(rows, key(i), value(7, 500));
        }
      }
      db.archiveNow();
      follower.refresh();
      assertEquals(before, Followed.contents(follower));
      for (int i = 0; i < 4; i++) {
        put(db, "other", 0, 1_000, i, 900); // so that it folds with all of them
        db.archiveNow();
        follower.refresh();
      }
      assertTrue(follower.statistics().folds() > 0);
      assertFollows(follower);
      open.commit();
      assertFollows(follower);
      db.commitPrepared("bought".getBytes());
      assertFollows(follower);
    }
  }

  @Test
  void tables_loads_and_compaction_arrive() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      try (BulkLoad load = db.bulkLoad(db.createTable("loaded"))) {
        for (int i = 0; i < 5_000; i++) {
          load.add(key(i), value(i, 100));
        }
        load.finish();
      }
      assertFollows(follower);
      db.truncateTable("loaded");
      assertFollows(follower);
      put(db, "rows", 0, 5_000, 4, 300);
      assertFollows(follower);
      db.dropTable("loaded");
      db.run(tx -> tx.deleteRange(db.table("rows"), key(100), key(4_900)));
      db.cleanNow();
      assertFollows(follower);
      db.compact();
      assertFollows(follower);
      put(db, "again", 0, 5_000, 5, 300);
      assertFollows(follower);
    }
  }

  @Test
  @Tag("slow")
  void lives_of_the_database_are_followed() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      for (int life = 0; life < 3; life++) {
        db.close();
        db = Database.open(directory, small(archive));
        for (int i = 0; i < 3; i++) {
          put(db, "rows", 0, 1_000, 10 * life + i, 900);
          assertFollows(follower);
        }
      }
      assertTrue(follower.statistics().folds() > 1);
    }
  }

  @Test
  void snapshots_are_read_only_and_the_directory_is_not_opened_for_writing() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      try (Database snapshot = follower.snapshot()) {
        Table rows = snapshot.table("rows");
        assertThrows(
            ReadOnlyDatabaseException.class,
            () -> snapshot.run(tx -> tx.put(rows, key(1), key(1))));
      }
      StorageException used =
          assertThrows(StorageException.class, () -> Database.follow(archive, own, QUIET));
      assertEquals(StorageException.Reason.LOCKED, used.reason(), used::getMessage);
    }
    StorageException told = assertThrows(StorageException.class, () -> Database.open(own, SMALL));
    assertEquals(StorageException.Reason.FOLLOWER, told.reason(), told::getMessage);
    try (Database offline = Database.open(own, SMALL.withReadOnly(true))) {
      assertEquals(contents(db), contents(offline));
    }
    told = assertThrows(StorageException.class, () -> Database.follow(archive, directory, QUIET));
    assertEquals(StorageException.Reason.LOCKED, told.reason(), told::getMessage);
    Path plain = temporary.resolve("plain");
    Database.open(plain, SMALL).close();
    told = assertThrows(StorageException.class, () -> Database.follow(archive, plain, QUIET));
    assertEquals(StorageException.Reason.NOT_A_DATABASE, told.reason(), told::getMessage);
  }

  @Test
  @Tag("slow")
  void a_gap_in_the_archive_is_told_and_the_last_snapshot_stays() {
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      assertFollows(follower);
      Map<String, Map<String, String>> before = contents(db);
      db.close();
      for (int i = 0; i < 3; i++) {
        try (Database alone = Database.open(directory, SMALL)) {
          for (int j = 0; j < 10; j++) {
            put(alone, "rows", 0, 1_000, j, 900);
            alone.checkpoint();
          }
        }
      }
      db = Database.open(directory, small(archive));
      db.archiveNow();
      assertEquals(1, db.statistics().archive().gaps());
      StorageException told = assertThrows(StorageException.class, follower::refresh);
      assertEquals(StorageException.Reason.ARCHIVE_LACKS_MOMENT, told.reason(), told::getMessage);
      assertTrue(told.getMessage().contains("follow again"), told::getMessage);
      // All that the ended chain has.
      Map<String, Map<String, String>> shown = Followed.contents(follower);
      assertEquals(before, shown);
    }
    Path again = temporary.resolve("again");
    try (Follower follower = Database.follow(archive, again, QUIET)) {
      assertFollows(follower);
    }
  }

  @Test
  void a_closed_follower_ends_its_snapshots() {
    Follower follower = Database.follow(archive, own, QUIET);
    Database snapshot = follower.snapshot();
    follower.close();
    follower.close();
    assertThrows(DatabaseClosedException.class, () -> contents(snapshot));
    assertThrows(DatabaseClosedException.class, follower::snapshot);
    assertThrows(DatabaseClosedException.class, follower::refresh);
    assertFalse(follower.awaitLsn(Long.MAX_VALUE, Duration.ofDays(1)));
    snapshot.close();
  }
}
