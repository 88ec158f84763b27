package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Table;

/** What becomes of an open database whose directory is moved, or whose files are deleted. */
class MovedDirectoryTest {
  private static final byte[] VALUE = new byte[500];

  /** Commits that go through several segments of the log. */
  private static final int MOST = 10_000;

  @TempDir private Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  /** Commits until the engine stops; how many commits were acknowledged. */
  private static int commitUntilItStops(Database db, int from) {
    Table table = db.getOrCreateTable("t");
    int acknowledged = from;
    try {
      while (acknowledged < MOST) {
        byte[] key = key(acknowledged);
        db.run(tx -> tx.put(table, key, VALUE));
        acknowledged++;
      }
      return fail("the engine has not noticed anything in " + MOST + " commits");
    } catch (RevenantException stopped) {
      assertTrue(stopped.getMessage().contains("directory was moved"), stopped.getMessage());
      return acknowledged;
    }
  }

  private static byte[] key(int number) {
    return bytes("%08d".formatted(number));
  }

  private static void assertHasAll(Path directory, int acknowledged) {
    try (Database db = Database.open(directory, SMALL)) {
      assertEquals(List.of(), db.check().problems());
      Table table = db.getOrCreateTable("t");
      db.run(tx -> {
        for (int i = 0; i < acknowledged; i++) {
          assertTrue(tx.exists(table, key(i)), "commit " + i + " of " + acknowledged);
        }
      });
    }
  }

  private static int commitSome(Database db) {
    Table table = db.getOrCreateTable("t");
    for (int i = 0; i < 100; i++) {
      byte[] key = key(i);
      db.run(tx -> tx.put(table, key, VALUE));
    }
    return 100;
  }

  private static void assertCloseTells(Database db) {
    assertThrows(DatabaseStoppedException.class, db::close);
  }

  @Test
  void aDirectoryThatIsMovedWhileOpen_stopsTheEngine_andHoldsAllThatWasAcknowledged()
      throws IOException {
    Database db = Database.open(directory(), SMALL);
    int some = commitSome(db);
    Files.move(directory(), folder.resolve("moved"));
    int all = commitUntilItStops(db, some);
    assertCloseTells(db);
    assertTrue(Files.notExists(directory()), "nothing is made at the old place");
    assertHasAll(folder.resolve("moved"), all);
  }

  @Test
  void aDirectoryInWhosePlaceAnotherStands_stopsTheEngine_andTheOtherStaysAsItIs()
      throws IOException {
    Database db = Database.open(directory(), SMALL);
    int some = commitSome(db);
    Files.move(directory(), folder.resolve("moved"));
    Files.createDirectories(directory().resolve("log"));
    int all = commitUntilItStops(db, some);
    assertCloseTells(db);
    try (DirectoryStream<Path> log = Files.newDirectoryStream(directory().resolve("log"))) {
      assertTrue(!log.iterator().hasNext(), "no segment is made at the old place");
    }
    assertHasAll(folder.resolve("moved"), all);
  }

  @Test
  void aDatabaseInWhosePlaceAnotherDatabaseIsOpened_doesNoHarmToIt() throws IOException {
    Database db = Database.open(directory(), SMALL);
    int some = commitSome(db);
    Files.move(directory(), folder.resolve("moved"));
    try (Database other = Database.open(directory(), SMALL)) {
      int ofOther = commitSome(other);
      int all = commitUntilItStops(db, some);
      assertCloseTells(db);
      assertEquals(List.of(), other.check().problems());
      other.checkpoint();
      assertHasAll(folder.resolve("moved"), all);
      assertEquals(100, ofOther);
    }
    assertHasAll(directory(), 100);
  }

  @Test
  void aDirectoryThatIsMovedAndBackBeforeTheEngineLooks_isGoneOnWith() throws IOException {
    for (int attempt = 0; !isGoneOnWithAfterMoves(folder.resolve("attempt" + attempt)); attempt++) {
      // A thread of the engine looked between the two moves, and stopped it. So the test begins
      // anew: any thread that prepares a file may look at any time.
    }
  }

  /** Moves the directory of an open database away and back; whether no thread looked meanwhile. */
  private boolean isGoneOnWithAfterMoves(Path directory) throws IOException {
    Database db = Database.open(directory, SMALL.withCountersFile(false));
    commitSome(db);
    db.checkpoint();
    Files.move(directory, folder.resolve("moved"));
    Files.move(folder.resolve("moved"), directory);
    boolean goneOn = true;
    try (db) {
      commitSome(db);
    } catch (DatabaseStoppedException looked) {
      assertTrue(looked.getMessage().contains("directory was moved"), looked.getMessage());
      goneOn = false;
    }
    assertHasAll(directory, 100);
    return goneOn;
  }

  // ------------------------------------------------------------------------------- deletions

  private void assertNoticed(Path file, String reason) throws IOException {
    Database db = Database.open(directory(), SMALL);
    commitSome(db);
    Path moved = folder.resolve("away");
    Files.move(file, moved);
    RuntimeException stopped = assertThrows(RuntimeException.class, db::checkpoint);
    String message =
        assertThrows(DatabaseStoppedException.class, () -> commitSome(db)).getMessage();
    assertTrue(message.contains(file.toString()), message);
    assertTrue(message.contains(reason), message);
    assertTrue(stopped instanceof RevenantException, stopped.toString());
    assertCloseTells(db);
    Files.deleteIfExists(file);
    Files.move(moved, file);
    assertHasAll(directory(), 100);
  }

  @Test
  void aDataFileThatIsDeleted_isMissedAtTheNextCheckpoint() throws IOException {
    assertNoticed(directory().resolve("revenant.data"), "the file was deleted");
  }

  @Test
  void aDoubleWriteFileThatIsDeleted_isMissedAtTheNextCheckpoint() throws IOException {
    assertNoticed(directory().resolve("revenant.dw"), "the file was deleted");
  }

  @Test
  void aLockFileThatIsDeleted_isMissedAtTheNextCheckpoint() throws IOException {
    assertNoticed(directory().resolve("revenant.lock"), "the lock file was deleted");
  }

  @Test
  void aLogDirectoryThatIsMoved_isMissedAtTheNextCheckpoint() throws IOException {
    assertNoticed(directory().resolve("log"), "the file was deleted");
  }

  @Test
  void aWholeDirectoryThatIsMoved_isMissedAtTheNextCheckpoint() throws IOException {
    assertNoticed(directory(), "the directory was moved");
  }

  @Test
  void aLogSegmentThatIsDeleted_isMissedAtTheNextCheckpoint() throws IOException {
    Database db = Database.open(directory(), SMALL);
    commitSome(db);
    try (DirectoryStream<Path> log = Files.newDirectoryStream(directory().resolve("log"))) {
      for (Path segment : log) {
        Files.delete(segment); // whichever of them is relied on
      }
    }
    assertThrows(RuntimeException.class, db::checkpoint);
    String message =
        assertThrows(DatabaseStoppedException.class, () -> commitSome(db)).getMessage();
    assertTrue(message.contains(".log: the file was deleted"), message);
    assertCloseTells(db);
  }
}
