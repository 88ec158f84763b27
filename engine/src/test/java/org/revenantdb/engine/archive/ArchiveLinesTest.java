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
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;

/** Two histories are never mixed in an archive (protocols.md §49, A6 to A8). */
class ArchiveLinesTest {
  @TempDir Path temporary;
  private Path archive;
  private Path directory;

  @BeforeEach
  void make() {
    archive = temporary.resolve("archive");
    directory = temporary.resolve("db");
    try (Database db = Database.open(directory, small(archive))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
    }
  }

  private void copy(Path from, Path to) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(from)) {
      all = files.toList();
    }
    for (Path file : all) {
      Path target = to.resolve(from.relativize(file).toString());
      if (Files.isDirectory(file)) {
        Files.createDirectories(target);
      } else {
        Files.copy(file, target);
      }
    }
  }

  private void assertForeign(Path database) {
    StorageException told =
        assertThrows(StorageException.class, () -> Database.open(database, small(archive)));
    assertEquals(StorageException.Reason.ARCHIVE_FOREIGN, told.reason(), told::getMessage);
    assertEquals(archive, told.file());
    assertTrue(told.getMessage().contains("name another directory"), told::getMessage);
  }

  @Test
  void another_database_is_refused() {
    Path other = temporary.resolve("other");
    Database.open(other, SMALL).close();
    assertForeign(other);
    Database.open(other, SMALL).close();
  }

  @Test
  void a_restored_database_is_refused_by_its_archive_and_begins_one_of_its_own() {
    Path restored = temporary.resolve("restored");
    Database.restore(archive, restored, RestoreRequest.latest());
    assertForeign(restored);
    Path own = temporary.resolve("own");
    Map<String, Map<String, String>> expected;
    try (Database db = Database.open(restored, small(own))) {
      put(db, "rows", 0, 10, 5, 10);
      db.archiveNow();
      expected = contents(db);
    }
    assertEquals(expected, restored(own, temporary.resolve("again"), RestoreRequest.latest()));
  }

  @Test
  void an_old_copy_of_the_directory_is_refused_and_left_as_it_was() throws IOException {
    Path old = temporary.resolve("old");
    copy(directory, old);
    try (Database db = Database.open(directory, small(archive))) {
      put(db, "rows", 0, 100, 2, 100);
      db.archiveNow();
    }
    assertForeign(old);
    try (Database db = Database.open(directory, small(archive))) {
      put(db, "rows", 0, 100, 3, 100);
      db.archiveNow();
      assertEquals(0, db.statistics().archive().gaps());
    }
    try (Database db = Database.open(old, SMALL)) {
      put(db, "rows", 0, 100, 4, 100);
    }
    assertForeign(old);
  }

  @Test
  void two_copies_in_the_same_life_do_not_both_write() throws IOException {
    Path twin = temporary.resolve("twin");
    copy(directory, twin);
    try (Database db = Database.open(directory, small(archive))) {
      db.archiveNow(); // it has made a file, and there is no log in it
      assertForeign(twin);
      put(db, "rows", 0, 100, 2, 100);
      db.archiveNow();
    }
  }

  @Test
  void a_process_that_was_overtaken_notices() {
    try (Database db = Database.open(directory, small(archive))) {
      db.archiveNow();
      ArchiveFiles files =
          new ArchiveFiles(archive, new org.revenantdb.recovery.file.IoStatistics());
      long next = files.logs().lastKey() + 1;
      byte[] id = files.demandHeader().databaseId();
      ArchiveWriter.create(files, id, next, shipped(db), 77, /* begins= */ false, number -> {})
          .close();
      put(db, "rows", 0, 100, 2, 100);
      StorageException told = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.ARCHIVE_FOREIGN, told.reason(), told::getMessage);
      put(db, "rows", 0, 100, 3, 100); // the engine goes on
    }
  }

  @Test
  void a_directory_with_other_files_is_no_archive() throws IOException {
    Path other = Files.createDirectory(temporary.resolve("music"));
    Files.writeString(other.resolve("song"), "la");
    try (Database db = Database.open(directory, small(other))) {
      StorageException told = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.NOT_A_DATABASE, told.reason());
      assertTrue(told.getMessage().contains("song"), told::getMessage);
    }
  }

  @Test
  void log_that_was_written_without_the_archive_is_a_gap_and_begins_a_new_chain() {
    long before;
    try (Database db = Database.open(directory, small(archive))) {
      before = shipped(db);
      put(db, "rows", 0, 10, 2, 10);
      db.archiveNow();
      before = shipped(db);
    }
    for (int i = 0; i < 3; i++) {
      try (Database db = Database.open(directory, SMALL)) {
        for (int j = 0; j < 10; j++) {
          put(db, "rows", 0, 1_000, i * 10 + j, 900);
          db.checkpoint();
        }
      }
    }
    Map<String, Map<String, String>> expected;
    long after;
    try (Database db = Database.open(directory, small(archive))) {
      db.archiveNow();
      assertEquals(1, db.statistics().archive().gaps());
      put(db, "rows", 0, 10, 99, 10);
      db.archiveNow();
      after = shipped(db);
      expected = contents(db);
    }
    assertEquals(
        expected, restored(archive, temporary.resolve("after"), RestoreRequest.atLsn(after)));
    Database.restore(archive, temporary.resolve("before"), RestoreRequest.atLsn(before));
    StorageException told =
        Archived.refused(
            archive, temporary.resolve("between"), RestoreRequest.atLsn(before + 1_000_000));
    assertEquals(StorageException.Reason.ARCHIVE_LACKS_MOMENT, told.reason());
  }

  @Test
  void an_archive_that_is_not_there_is_not_made_if_the_options_say_so() {
    Path missing = temporary.resolve("missing");
    try (Database db =
        Database.open(directory, SMALL.withArchive(quiet(missing).withCreate(false)))) {
      StorageException told = assertThrows(StorageException.class, db::archiveNow);
      assertEquals(StorageException.Reason.MISSING_FILE, told.reason());
    }
    assertTrue(!Files.exists(missing));
  }
}
