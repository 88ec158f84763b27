package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * The counters file of an open database: when it exists, and that it disturbs no other file or
 * process.
 */
class LiveCountersTest {
  @TempDir Path folder;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private Path directory() {
    return folder.resolve("db");
  }

  private Path file() {
    return directory().resolve(CountersFile.FILE_NAME);
  }

  private Database open(DatabaseOptions options) {
    return Database.open(faulty.wrap(directory()), options);
  }

  /** The thread of the checkpoints writes it by itself, and the close takes it away. */
  @Test
  void file_comesByItself_andGoesWithTheClose() throws IOException {
    try (Database db = open(Samples.SMALL)) {
      Samples.put(db, "t", "k", "v");
      while (!Files.exists(file()) || Files.size(file()) == 0) {
        Await.pause();
      }
    }
    assertFalse(Files.exists(file()));
    assertEquals(0, faulty.count(IoEvent.Kind.FORCE, CountersFile.FILE_NAME));
  }

  @Test
  void file_thatIsSwitchedOff_isNeitherWrittenNorDeleted() throws IOException {
    Files.createDirectories(directory());
    try (Database db = open(Samples.SMALL)) {
      Samples.put(db, "t", "k", "v");
    }
    byte[] left = {1, 2, 3};
    Files.write(file(), left);
    faulty.clearEvents();
    try (Database db = open(Samples.SMALL.withCountersFile(false))) {
      Samples.put(db, "t", "k", "v");
      db.writeCounters();
    }
    assertArrayEquals(left, Files.readAllBytes(file()));
    assertTrue(
        faulty.events().stream()
            .noneMatch(event -> event.toString().contains(CountersFile.FILE_NAME)),
        "somebody has touched it");
  }

  @Test
  void file_ofADatabaseThatIsOnlyRead_isNotWritten() throws IOException {
    open(Samples.SMALL).close();
    Files.write(file(), new byte[10]); // as a power cut after a close may bring it back
    try (Database db = open(Samples.SMALL.withReadOnly(true).withCreate(false))) {
      db.writeCounters();
      db.tableNames();
    }
    assertEquals(10, Files.size(file()));
  }

  /**
   * What has come to rest writes nothing: the numbers themselves do not change by being looked at.
   */
  @Test
  void file_ofAnIdleDatabase_isNotWritten() throws IOException {
    try (Database db = open(Samples.SMALL)) {
      Samples.put(db, "t", "k", "v");
      db.run(tx -> tx.delete(db.getOrCreateTable("t"), bytes("k")));
      int quiet = 0;
      byte[] before = {};
      while (quiet < 20) { // for ever, if it is never at rest
        db.writeCounters();
        byte[] now = Files.readAllBytes(file());
        quiet = Arrays.equals(before, now) ? quiet + 1 : 0;
        before = now;
      }
    }
  }

  @Test
  void file_isNotPartOfWhatTheDatabaseCountsOfItsFiles() {
    try (Database db = open(Samples.SMALL)) {
      Samples.put(db, "t", "k", "v");
      db.checkpoint();
      db.cleanNow();
      db.writeCounters();
      int written = faulty.count(IoEvent.Kind.WRITE, CountersFile.FILE_NAME);
      assertTrue(written > 0);
      DatabaseStatistics before = db.statistics();
      Samples.get(db, "t", "k");
      db.writeCounters();
      assertTrue(faulty.count(IoEvent.Kind.WRITE, CountersFile.FILE_NAME) > written);
      assertEquals(before.files().bytesWritten(), db.statistics().files().bytesWritten());
      // A free segment may be deleted meanwhile.
      assertTrue(db.statistics().files().logDirectoryBytes() <= before.files().logDirectoryBytes());
    }
  }

  /** Neither a file that cannot be written nor a damaged one is anybody's trouble. */
  @Test
  void file_thatCannotBeWritten_orIsDamaged_stopsNothing() throws IOException {
    open(Samples.SMALL).close();
    try (Database db = open(Samples.SMALL)) {
      Files.deleteIfExists(file());
      Files.createDirectory(file());
      db.writeCounters();
      Samples.put(db, "t", "k", "v");
      db.checkpoint();
    }
    // It cannot have been made by a crash, so the next open names it (format.md, section 9).
    if (Files.exists(file())) {
      assertThrows(CorruptDataException.class, () -> open(Samples.SMALL));
      Files.delete(file());
    }
    Files.write(file(), new byte[5000]);
    try (Database db = open(Samples.SMALL)) {
      assertEquals("v", Samples.get(db, "t", "k"));
      assertTrue(db.recoveryReport().clean());
      assertTrue(db.check().isSound());
    }
    assertFalse(Files.exists(file()));
  }

  /** A lost data file is reported as such, even if a counters file is left. */
  @Test
  void file_withoutADataFile_isWhatIsLeftOfADatabase() throws IOException {
    open(Samples.SMALL).close();
    Files.write(file(), new byte[10]);
    Files.delete(directory().resolve(DatabaseFiles.DATA));
    StorageException told =
        assertRefused(StorageException.Reason.MISSING_FILE, () -> open(Samples.SMALL));
    assertTrue(told.problem().contains("the data file is missing"), told.problem());
  }
}
