package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.OtherProcess;

/** A second process on a database that is open, by all the ways in which a lock can be lost. */
class TakenOverTest {
  private static final byte[] VALUE = new byte[500];
  private static final int ROWS_OF_OTHER = 2_000;
  private static final int MOST = 10_000;

  @TempDir private Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  /** The second process: opens, writes and closes, and says what came of it. */
  static final class Second {
    private Second() {}

    public static void main(String[] arguments) {
      try (Database db = Database.open(Path.of(arguments[0]), SMALL)) {
        System.out.println("open");
        Table table = db.getOrCreateTable("second");
        for (int i = 0; i < ROWS_OF_OTHER; i++) {
          byte[] key = key(i);
          db.run(tx -> tx.put(table, key, VALUE));
        }
        db.checkpoint();
        System.out.println("written");
      } catch (StorageException refused) {
        if (refused.reason() != StorageException.Reason.LOCKED) {
          throw refused;
        }

        System.out.println("refused " + refused.getMessage());
      }
    }
  }

  private static byte[] key(int number) {
    return bytes("%08d".formatted(number));
  }

  private static void commit(Database db, int from, int to) {
    Table table = db.getOrCreateTable("first");
    for (int i = from; i < to; i++) {
      byte[] key = key(i);
      db.run(tx -> tx.put(table, key, VALUE));
    }
  }

  private void copyTheFolder() throws IOException {
    LiveCopy.copy(directory(), folder.resolve("backup"));
  }

  @Test
  void aCopyOfTheFolderByTheOwnersProcess_doesNotLetASecondProcessOpenTheDatabase()
      throws Exception {
    try (Database db = Database.open(directory(), SMALL)) {
      commit(db, 0, 100);
      copyTheFolder();
      try (OtherProcess second = OtherProcess.start(Second.class, directory().toString())) {
        String said = second.readLine();
        assertTrue(said.startsWith("refused "), said);
        assertTrue(said.contains("process " + ProcessHandle.current().pid()), said);
        assertEquals(0, second.waitFor());
      }
      commit(db, 100, 200);
      db.checkpoint();
    }
    try (Database db = Database.open(directory(), SMALL)) {
      assertTrue(db.recoveryReport().clean());
      assertEquals(List.of(), db.check().problems());
    }
  }

  @Test
  void anEngineThatWasTakenOverWhileItWasIdle_writesNothingMore_andBothHaveWhatTheyAcknowledged()
      throws Exception {
    Database db = Database.open(directory(), SMALL);
    commit(db, 0, 300);
    Files.delete(directory().resolve("revenant.lock"));
    try (OtherProcess second = OtherProcess.start(Second.class, directory().toString())) {
      assertEquals("open", second.readLine());
      assertEquals("written", second.readLine());
      assertEquals(0, second.waitFor());
    }
    assertStops(db, 300);
    assertIsWhole(300, ROWS_OF_OTHER);
  }

  @Test
  void anEngineThatIsTakenOverWhileItCommits_stops_andBothHaveWhatTheyAcknowledged()
      throws Exception {
    Database db = Database.open(directory(), SMALL);
    commit(db, 0, 300);
    Files.delete(directory().resolve("revenant.lock"));
    Files.createFile(directory().resolve("revenant.lock"));
    int acknowledged;
    try (OtherProcess second = OtherProcess.start(Second.class, directory().toString())) {
      acknowledged = assertStops(db, 300);
      assertEquals("open", second.readLine());
      assertEquals("written", second.readLine());
      assertEquals(0, second.waitFor());
    }
    assertIsWhole(acknowledged, ROWS_OF_OTHER);
  }

  /** Commits until that is refused; how many were acknowledged. */
  private static int assertStops(Database db, int from) {
    int acknowledged = from;
    try {
      while (acknowledged < MOST) {
        commit(db, acknowledged, acknowledged + 1);
        acknowledged++;
      }
      return fail("the engine has not noticed anything in " + MOST + " commits");
    } catch (RevenantException stopped) {
      assertTrue(stopped.getMessage().contains("revenant.lock"), stopped.getMessage());
    }
    assertThrows(DatabaseStoppedException.class, db::checkpoint);
    assertThrows(DatabaseStoppedException.class, db::close);
    return acknowledged;
  }

  private void assertIsWhole(int first, int second) {
    try (Database db = Database.open(directory(), SMALL)) {
      assertTrue(db.recoveryReport().clean(), "the second process has closed it");
      assertEquals(List.of(), db.check().problems());
      assertHas(db, "first", first);
      assertHas(db, "second", second);
    }
  }

  private static void assertHas(Database db, String name, int rows) {
    Table table = db.getOrCreateTable(name);
    db.run(tx -> {
      for (int i = 0; i < rows; i++) {
        assertTrue(tx.exists(table, key(i)), name + " " + i);
      }
    });
  }
}
