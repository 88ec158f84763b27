package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.quiet;
import static org.revenantdb.engine.archive.Archived.refused;
import static org.revenantdb.engine.archive.Archived.restored;
import static org.revenantdb.engine.archive.Archived.shipped;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ArchivePolicy;
import org.revenantdb.engine.ArchiveStatistics;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreProgress;
import org.revenantdb.engine.RestoreReport;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.testing.Await;

/** The archive of the log, and databases restored from it (protocols.md §49). */
class ArchiveTest {
  @TempDir Path temporary;

  private Path archive() {
    return temporary.resolve("archive");
  }

  private Path target(String name) {
    return temporary.resolve(name);
  }

  private Database open() {
    return Database.open(temporary.resolve("db"), small(archive()));
  }

  @Test
  void the_latest_moment_is_restored_with_everything_that_was_committed() {
    Map<String, Map<String, String>> expected;
    try (Database db = open()) {
      put(db, "rows", 0, 1_500, 1, 200);
      db.archiveNow();
      put(db, "rows", 500, 2_000, 2, 300);
      put(db, "large", 0, 3, 1, 30_000);
      db.archiveNow();
      expected = contents(db);
      assertEquals(expected, restored(archive(), target("beside"), RestoreRequest.latest()));
      put(db, "rows", 0, 10, 3, 20);
      expected = contents(db);
    }
    assertEquals(expected, restored(archive(), target("behind"), RestoreRequest.latest()));
  }

  @Test
  void each_position_gives_the_commits_up_to_it() {
    Map<Long, Map<String, Map<String, String>>> moments = new TreeMap<>();
    try (Database db = open()) {
      put(db, "rows", 0, 300, 0, 200);
      db.archiveNow();
      for (int i = 1; i <= 8; i++) {
        put(db, "rows", 20 * i, 20 * i + 200, i, 100);
        if (i == 3) {
          db.dropTable("rows");
          put(db, "rows", 0, 50, i, 100);
        }
        if (i % 2 == 0) {
          db.checkpoint();
        }
        db.archiveNow();
        moments.put(shipped(db), contents(db));
      }
    }
    moments.forEach((lsn, expected) ->
        assertEquals(expected, restored(archive(), target("at" + lsn), RestoreRequest.atLsn(lsn))));
    long last = moments.keySet().stream().max(Long::compare).orElseThrow();
    StorageException behind =
        refused(archive(), target("behind"), RestoreRequest.atLsn(last + (1 << 30)));
    assertEquals(StorageException.Reason.ARCHIVE_LACKS_MOMENT, behind.reason());
    StorageException before = refused(archive(), target("before"), RestoreRequest.atLsn(4_096));
    assertEquals(StorageException.Reason.ARCHIVE_LACKS_MOMENT, before.reason());
    assertTrue(before.getMessage().contains("name position"), before::getMessage);
  }

  @Test
  void a_transaction_that_is_open_at_the_moment_is_rolled_back() {
    Map<String, Map<String, String>> expected;
    long lsn;
    try (Database db = open()) {
      put(db, "rows", 0, 100, 1, 100);
      expected = contents(db);
      try (Transaction tx = db.begin()) {
        Table rows = db.table("rows");
        for (int i = 50; i < 400; i++) {
          tx.put(rows, key(i), value(7, 200));
        }
        db.archiveNow();
        lsn = shipped(db);
        put(db, "others", 0, 10, 1, 10);
        tx.commit();
      }
    }
    assertEquals(expected, restored(archive(), target("open"), RestoreRequest.atLsn(lsn)));
  }

  @Test
  void the_moment_before_a_transaction_lacks_it_and_all_later_ones() {
    Map<String, Map<String, String>> expected;
    long id;
    long aborted;
    try (Database db = open()) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      put(db, "rows", 50, 150, 2, 100);
      expected = contents(db);
      try (Transaction tx = db.begin()) {
        tx.deleteRange(db.table("rows"), key(0), key(90));
        id = tx.id();
        tx.commit();
      }
      put(db, "rows", 0, 10, 3, 100);
      try (Transaction tx = db.begin()) {
        tx.put(db.table("rows"), key(1), value(9, 9));
        aborted = tx.id();
        tx.rollback();
      }
    }
    assertEquals(
        expected, restored(archive(), target("before"), RestoreRequest.beforeTransaction(id)));
    assertEquals(
        StorageException.Reason.ARCHIVE_LACKS_MOMENT,
        refused(archive(), target("never"), RestoreRequest.beforeTransaction(aborted)).reason());
  }

  @Test
  void several_lives_are_one_history() {
    Map<Long, Map<String, Map<String, String>>> moments = new TreeMap<>();
    for (int life = 0; life < 6; life++) {
      try (Database db = open()) {
        put(db, "rows", 10 * life, 10 * life + 50, life, 200);
        if (life % 2 == 0) {
          db.archiveNow(); // the others are shipped by the close
          moments.put(shipped(db), contents(db));
        }
        put(db, "rows", 10 * life, 10 * life + 5, life + 100, 20);
        if (life == 0) {
          assertEquals(1, db.statistics().archive().bases());
        } else {
          assertEquals(0, db.statistics().archive().gaps());
        }
      }
    }
    Map<String, Map<String, String>> last;
    try (Database db = Database.open(temporary.resolve("db"), SMALL.withReadOnly(true))) {
      last = contents(db);
    }
    moments.forEach((lsn, expected) ->
        assertEquals(expected, restored(archive(), target("at" + lsn), RestoreRequest.atLsn(lsn))));
    assertEquals(last, restored(archive(), target("last"), RestoreRequest.latest()));
  }

  @Test
  void a_life_that_commits_nothing_does_no_harm() {
    for (int life = 0; life < 4; life++) {
      try (Database db = open()) {
        if (life % 3 == 0) {
          put(db, "rows", 0, 10, life, 200);
        }
      }
    }
    try (Database db = open()) {
      Map<String, Map<String, String>> expected = contents(db);
      db.archiveNow();
      assertEquals(0, db.statistics().archive().gaps());
      assertEquals(expected, restored(archive(), target("last"), RestoreRequest.latest()));
    }
  }

  @Test
  void a_time_gives_nothing_that_was_committed_after_it() throws IOException {
    List<Instant> between = new ArrayList<>();
    List<Map<String, Map<String, String>>> states = new ArrayList<>();
    try (Database db = open()) {
      put(db, "rows", 0, 10, 0, 10);
      db.archiveNow();
      for (int i = 1; i <= 4; i++) {
        put(db, "rows", 0, 10, i, 10);
        states.add(contents(db));
        db.archiveNow();
        between.add(afterNow());
      }
    }
    for (int i = 0; i < states.size(); i++) {
      assertEquals(
          states.get(i),
          restored(archive(), target("time" + i), RestoreRequest.at(between.get(i))));
    }
    StorageException early = refused(archive(), target("early"), RestoreRequest.at(Instant.EPOCH));
    assertEquals(StorageException.Reason.ARCHIVE_LACKS_MOMENT, early.reason());
    assertTrue(early.getMessage().contains("name position"), early::getMessage);
  }

  /** A time that is over, and was not when this was called. */
  private static Instant afterNow() {
    long time = System.currentTimeMillis();
    while (System.currentTimeMillis() <= time) {
      Thread.yield();
    }
    return Instant.ofEpochMilli(time);
  }

  @Test
  void a_database_that_grows_behind_its_base_is_restored_with_all_its_pages() {
    Map<String, Map<String, String>> expected;
    try (Database db = open()) {
      put(db, "rows", 0, 10, 1, 10);
      db.archiveNow();
      for (int i = 0; i < 30; i++) {
        put(db, "more", 100 * i, 100 * i + 100, i, 1_000);
      }
      db.compact();
      expected = contents(db);
    }
    assertEquals(expected, restored(archive(), target("grown"), RestoreRequest.latest()));
  }

  @Test
  void log_is_recycled_when_it_was_shipped() {
    try (Database db = open()) {
      db.archiveNow();
      for (int i = 0; i < 24; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.checkpoint();
        db.archiveNow();
      }
      long most = db.options().maxRecoveryLog() * 2;
      assertTrue(db.statistics().files().logDirectoryBytes() <= most);
      assertEquals(0, db.statistics().archive().gaps());
    }
  }

  @Test
  void statistics_say_how_far_behind_the_archive_is() {
    try (Database db = open()) {
      db.archiveNow();
      put(db, "rows", 0, 100, 1, 100);
      ArchiveStatistics before = db.statistics().archive();
      db.archiveNow();
      ArchiveStatistics after = db.statistics().archive();
      assertEquals(0, after.lagBytes());
      assertEquals(0, after.lagNanos());
      assertTrue(after.shippedLsn() > before.shippedLsn());
      assertTrue(after.bytes() > before.bytes());
      assertEquals(1, after.bases());
      assertEquals(0, after.failures());
    }
  }

  @Test
  void a_restore_tells_how_far_it_is_and_can_be_cancelled() {
    try (Database db = open()) {
      put(db, "rows", 0, 1_500, 1, 200);
      db.archiveNow();
    }
    List<RestoreProgress> told = new ArrayList<>();
    RestoreReport report =
        Database.restore(
            archive(), target("told"), RestoreRequest.latest().withListener(told::add));
    assertEquals(told.getLast().bytesToWrite(), told.getLast().bytes());
    assertTrue(report.pages() > 0 && report.logBytes() > 0);
    assertThrows(
        CancellationException.class,
        () ->
            Database.restore(
                archive(),
                target("cancelled"),
                RestoreRequest.latest().withListener(progress -> false)));
    assertFalse(Files.exists(target("cancelled")));
    assertThrows(
        StorageException.class,
        () -> Database.restore(archive(), target("told"), RestoreRequest.latest()));
  }

  @Test
  void a_base_is_made_again_when_it_is_old_and_pruning_keeps_what_the_policy_says()
      throws IOException {
    Map<Long, Map<String, Map<String, String>>> moments = new TreeMap<>();
    for (int life = 0; life < 4; life++) {
      try (Database db =
          Database.open(
              temporary.resolve("db"),
              SMALL.withArchive(quiet(archive()).withBaseEvery(Duration.ZERO)))) {
        put(db, "rows", 0, 500, life, 500);
        do {
          Await.pause();
          db.archiveNow();
        } while (db.statistics().archive().bases() == 0);
        moments.put(shipped(db), contents(db));
      }
    }
    assertTrue(Archived.files(archive(), ".rvb").size() >= 4);
    assertEquals(0, Database.pruneArchive(archive(), ArchivePolicy.everything()));
    long last = moments.keySet().stream().max(Long::compare).orElseThrow();
    int deleted = Database.pruneArchive(archive(), ArchivePolicy.moments(Duration.ZERO));
    assertTrue(deleted >= 3, () -> deleted + " deleted");
    assertEquals(1, Archived.files(archive(), ".rvb").size());
    assertEquals(
        moments.get(last), // the base that stays may have come after that position
        restored(archive(), target("last"), RestoreRequest.latest()));
    long first = moments.keySet().stream().min(Long::compare).orElseThrow();
    assertEquals(
        StorageException.Reason.ARCHIVE_LACKS_MOMENT,
        refused(archive(), target("first"), RestoreRequest.atLsn(first)).reason());
    try (Database db = open()) {
      put(db, "rows", 0, 10, 77, 10);
      db.archiveNow();
      assertEquals(0, db.statistics().archive().gaps());
    }
  }

  @Test
  void without_an_archive_there_is_nothing_to_wait_for() {
    try (Database db = Database.open(temporary.resolve("plain"), SMALL)) {
      assertThrows(IllegalStateException.class, db::archiveNow);
    }
  }
}
