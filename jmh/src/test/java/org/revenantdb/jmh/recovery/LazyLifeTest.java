package org.revenantdb.jmh.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;

/** That a row which was acknowledged and is not there is counted, once, and no other row is. */
class LazyLifeTest {
  @TempDir private Path folder;

  @Test
  void acknowledgedRows_thatAreNotThere_areCounted() {
    Path directory = folder.resolve("database");
    Acknowledged acknowledged = Acknowledged.beside(directory, LazyLife.SESSIONS);
    try (Database database = Database.open(directory)) {
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      put(database, table, 0, 0, 10);
      put(database, table, 1, 0, 5);
      put(database, table, 1, 7, 9);
      assertEquals(0, LazyLife.missing(database, table, acknowledged));
      acknowledged.store(0, 8); // two of ten are there, and were not acknowledged
      acknowledged.store(1, 9); // two of nine are not there
      assertEquals(2, LazyLife.missing(database, table, acknowledged));
    }
    Acknowledged afterwards = Acknowledged.beside(directory, LazyLife.SESSIONS);
    assertEquals(8, afterwards.of(0));
    assertEquals(17, afterwards.all());
    assertEquals(0, afterwards.lost());
    acknowledged.lose(2);
    assertEquals(2, afterwards.lost());
  }

  private static void put(Database database, Table table, int session, int from, int to) {
    database.run(tx -> {
      for (int row = from; row < to; row++) {
        tx.put(table, LazyLife.key(session, row), BigRows.row(row, 0));
      }
    });
  }
}
