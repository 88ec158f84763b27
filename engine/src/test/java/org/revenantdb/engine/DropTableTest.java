package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.Samples.bytes;
import static org.revenantdb.engine.Samples.random;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What users see of dropped tables. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DropTableTest {
  @TempDir Path directory;

  private static byte[] key(int number) {
    return bytes("key%06d".formatted(number));
  }

  private static void fill(Database db, Table table, int rows) {
    db.run(tx -> {
      for (int row = 0; row < rows; row++) {
        tx.put(table, key(row), random(row, row % 50 == 7 ? 20_000 + 777 * row : 200));
      }
    });
  }

  private static CheckReport checkClean(Database db) {
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(0, report.pagesToClean());
    return report;
  }

  @Test
  void a_dropped_table_is_gone_with_all_its_pages_and_its_name_is_free() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      db.table("other");
      CheckReport before = checkClean(db);
      for (TableOptions options :
          List.of(TableOptions.defaults(), TableOptions.hashPartitioned(5))) {
        Table table = db.table("t", options);
        fill(db, table, 1_000);
        assertTrue(db.dropTable("t"));
        assertFalse(db.dropTable("t"));
        assertNull(db.findTable("t"));
        assertEquals(List.of("other"), db.tableNames());
        CheckReport after = checkClean(db);
        assertEquals(before.treePages(), after.treePages());
        assertEquals(0, after.overflowPages());
        assertEquals(1, after.rows());
      }
      Table again = db.table("t");
      db.run(tx -> assertNull(tx.get(again, key(1))));
      fill(db, again, 10);
    }
    try (Database db = Samples.open(directory.resolve("db"))) {
      assertEquals(List.of("other", "t"), db.tableNames());
      assertEquals(2 + 10, checkClean(db).rows());
    }
  }

  @Test
  void who_began_before_the_drop_goes_on_reading_and_others_are_told() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table old = db.table("t");
      fill(db, old, 300);
      Transaction reader = db.begin();
      Cursor cursor = reader.scan(old, null, null);
      assertTrue(cursor.next());
      assertTrue(db.dropTable("t"));
      Table fresh = db.table("t");
      assertNotSame(old, fresh);
      fill(db, fresh, 5);
      db.cleanNow();
      assertEquals(List.of(), db.check().problems());
      int rows = 1;
      while (cursor.next()) {
        rows++;
      }
      assertEquals(300, rows);
      assertArrayEquals(random(7, 20_000 + 777 * 7), reader.get(old, key(7)));
      assertEquals(300, reader.count(old, null, null));
      assertNull(reader.get(fresh, key(1)));
      assertThrows(TableDroppedException.class, () -> reader.put(old, key(1), new byte[1]));
      assertThrows(TableDroppedException.class, () -> reader.delete(old, key(1)));
      assertThrows(TableDroppedException.class, () -> reader.deleteRange(old, null, null));
      reader.put(fresh, bytes("mine"), new byte[1]);
      try (Transaction younger = db.begin()) {
        assertThrows(TableDroppedException.class, () -> younger.get(old, key(1)));
        assertThrows(TableDroppedException.class, () -> younger.get(old, key(1), new byte[9], 0));
        assertThrows(TableDroppedException.class, () -> younger.scan(old, null, null));
        assertThrows(TableDroppedException.class, () -> younger.count(old, null, null));
        assertThrows(TableDroppedException.class, () -> younger.put(old, key(1), new byte[1]));
        assertArrayEquals(random(1, 200), younger.get(fresh, key(1)));
      }
      assertThrows(TableDroppedException.class, () -> db.bulkLoad(old));
      reader.commit();
      CheckReport after = checkClean(db);
      assertEquals(2, after.treePages());
      assertEquals(1 + 6, after.rows());
    }
  }
}
