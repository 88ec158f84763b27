package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.quiet;
import static org.revenantdb.engine.archive.Archived.restored;
import static org.revenantdb.engine.archive.Archived.shipped;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ArchiveEvent;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Faults of the archive: the engine goes on or stops as the option says, and nothing is lost. */
class ArchiveFaultsTest {
  @TempDir Path temporary;
  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private Path archive(String name) {
    return faulty.wrap(temporary.resolve(name));
  }

  private Path target(String name) {
    return temporary.resolve(name);
  }

  private void assertArchived(Database db, Path archive, String target) {
    db.archiveNow();
    assertEquals(
        contents(db), restored(archive, target(target), RestoreRequest.atLsn(shipped(db))), target);
  }

  @Test
  @Tag("slow")
  void each_operation_of_the_archive_fails_once() {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    int step = Boolean.getBoolean("revenant.long") ? 1 : 9;
    int operation = new Random(seed).nextInt(step);
    int failures = 0;
    for (boolean failed = true; failed; operation += step) {
      failed = failsOnce(operation);
      failures += failed ? 1 : 0;
    }
    assertTrue(failures > 3, "only " + failures + " failures, -Drevenant.seed=" + seed);
  }

  /** The file has a header of this life then, and must not be taken for that of another process. */
  @Test
  void a_new_file_whose_force_fails_is_got_over() {
    Path archive = archive("archive");
    AtomicInteger forces = new AtomicInteger();
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.FORCE
          && event.file().getFileName().toString().startsWith("log-")
          && forces.getAndIncrement() == 0) {
        throw new IOException("Input/output error");
      }
    });
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 30, 1, 100);
      awaitArchived(db);
      assertTrue(forces.get() > 1, "forces: " + forces);
      assertArchived(db, archive, "target");
      assertEquals(0, db.statistics().archive().gaps());
    }
  }

  private boolean failsOnce(int operation) {
    Path archive = archive("archive" + operation);
    AtomicInteger before = new AtomicInteger(operation);
    faulty.hook(event -> {
      if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() == 0) {
        throw new IOException("Input/output error");
      }
    });
    try (Database db = Database.open(temporary.resolve("db" + operation), small(archive))) {
      for (int i = 0; i < 3; i++) {
        put(db, "rows", 10 * i, 10 * i + 30, i, 100);
        try {
          db.archiveNow();
        } catch (StorageException told) {
          assertTrue(
              told.file().toString().startsWith(archive.toString())
                  || archive.toString().startsWith(told.file().toString()),
              told::getMessage);
        }
      }
      faulty.hook(event -> {});
      put(db, "rows", 0, 10, 9, 10);
      awaitArchived(db);
      assertArchived(db, archive, "target" + operation);
      assertEquals(0, db.statistics().archive().gaps());
      boolean failed = before.get() < 0;
      assertTrue(
          !failed || db.statistics().archive().failures() > 0,
          "a failed operation that nobody has noticed");
      return failed;
    }
  }

  /** A base that has failed is tried again after a while. */
  private static void awaitArchived(Database db) {
    while (true) {
      try {
        db.archiveNow();
        return;
      } catch (StorageException again) {
        Await.pause();
      }
    }
  }

  @Test
  void an_archive_that_is_full_or_gone_is_told_and_used_again() throws IOException {
    Path archive = archive("archive");
    List<ArchiveEvent> events = new ArrayList<>();
    try (Database db =
        Database.open(
            temporary.resolve("db"), SMALL.withArchive(quiet(archive).withListener(events::add)))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();

      faulty.diskFullAfter(100);
      put(db, "rows", 0, 100, 2, 100);
      StorageException full = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.DISK_FULL, full.reason(), full::getMessage);
      assertTrue(db.statistics().archive().lagBytes() > 0);
      assertTrue(db.statistics().archive().lagNanos() > 0);
      assertTrue(db.statistics().archive().failures() > 0);
      faulty.diskFullAfter(Long.MAX_VALUE);
      assertArchived(db, archive, "full");

      Path moved = temporary.resolve("moved");
      Files.move(FaultyFileSystem.unwrap(archive), moved);
      put(db, "rows", 0, 100, 4, 100);
      StorageException gone = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.MISSING_FILE, gone.reason(), gone::getMessage);
      assertTrue(!Files.exists(FaultyFileSystem.unwrap(archive)), "no new archive is begun");
      Files.move(moved, FaultyFileSystem.unwrap(archive));
      assertArchived(db, archive, "gone");
      assertEquals(0, db.statistics().archive().gaps());
    }
    assertEquals(4, events.size(), events::toString);
    for (int i = 0; i < events.size(); i++) {
      assertEquals(i % 2 == 0, events.get(i).failure() != null);
    }
  }

  @Test
  void an_archive_that_may_not_be_written_is_told_and_used_when_it_may() {
    Path archive = archive("archive");
    faulty.readOnly(true);
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 100, 3, 100);
      StorageException denied = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.ACCESS_DENIED, denied.reason(), denied::getMessage);
      faulty.readOnly(false);
      assertArchived(db, archive, "denied");
    }
  }

  @Test
  void a_write_that_stops_half_way_is_not_taken_for_log() throws IOException {
    Path archive = archive("archive");
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      for (int bytes = 1; bytes < 4_000; bytes += 1_300) {
        put(db, "rows", 0, 100, bytes, 100);
        faulty.diskFullAfter(bytes);
        assertThrows(StorageException.class, db::archiveNow);
        faulty.diskFullAfter(Long.MAX_VALUE);
      }
      assertArchived(db, archive, "half");
    }
    faulty.shortWrites(100);
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 100, 77, 100);
      assertArchived(db, archive, "short");
    }
  }

  @Test
  void an_engine_that_is_to_stop_stops_and_ships_the_rest_after_the_next_open() {
    Path archive = archive("archive");
    Map<String, Map<String, String>> expected;
    Database db =
        Database.open(
            temporary.resolve("db"),
            SMALL.withArchive(quiet(archive).withStopAfter(Duration.ZERO)));
    try {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      put(db, "rows", 0, 100, 2, 100);
      expected = contents(db);
      faulty.failForces(true);
      assertThrows(RuntimeException.class, db::archiveNow);
      assertThrows(DatabaseStoppedException.class, () -> put(db, "rows", 0, 1, 3, 1));
    } finally {
      faulty.failForces(false);
      assertThrows(DatabaseStoppedException.class, db::close);
    }
    try (Database again = Database.open(temporary.resolve("db"), small(archive))) {
      assertEquals(expected, contents(again));
      again.archiveNow();
      assertEquals(0, again.statistics().archive().gaps());
      assertEquals(expected, restored(archive, target("stopped"), RestoreRequest.latest()));
    }
  }

  @Test
  @Tag("slow")
  void log_that_the_archive_lacks_gives_way_and_a_new_base_is_made() {
    Path archive = archive("archive");
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      faulty.failForces(true);
      for (int i = 0; i < 14; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.checkpoint();
      }
      assertThrows(StorageException.class, db::archiveNow);
      assertTrue(db.statistics().files().logDirectoryBytes() <= 9L << 20);
      faulty.failForces(false);
      awaitArchived(db);
      assertEquals(1, db.statistics().archive().gaps());
      assertEquals(2, db.statistics().archive().bases());
      assertArchived(db, archive, "behind");
    }
  }

  @Test
  @Tag("slow")
  void with_an_engine_that_is_to_stop_no_log_gives_way() {
    Path archive = archive("archive");
    try (Database db =
        Database.open(
            temporary.resolve("db"),
            SMALL.withArchive(quiet(archive).withStopAfter(Duration.ofHours(1))))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      faulty.failForces(true);
      for (int i = 0; i < 14; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.checkpoint();
      }
      assertThrows(StorageException.class, db::archiveNow);
      faulty.failForces(false);
      assertArchived(db, archive, "kept");
      assertEquals(0, db.statistics().archive().gaps());
    }
  }

  @Test
  void log_below_the_redo_point_that_was_not_shipped_is_kept_by_the_next_open() {
    Path archive = archive("archive");
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      faulty.failForces(true);
      for (int i = 0; i < 4; i++) {
        put(db, "rows", 0, 1_000, i, 900);
        db.checkpoint();
      }
    }
    faulty.failForces(false);
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      db.checkpoint();
      assertArchived(db, archive, "next");
      assertEquals(0, db.statistics().archive().gaps());
    }
  }
}
