package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.testing.Samples;

/** What a database, a transaction, a cursor say of themselves. */
class FaceTest {
  @TempDir Path directory;

  @Test
  void a_database_knows_its_directory_its_options_and_whether_it_is_closed() {
    Database db = Database.open(directory, Samples.SMALL);
    try (db) {
      assertEquals(directory, db.directory());
      assertSame(Samples.SMALL, db.options());
      assertFalse(db.isClosed());
      assertEquals("Database[" + directory + "]", db.toString());
    }
    assertTrue(db.isClosed());
    assertEquals(directory, db.directory());
    assertEquals("Database[" + directory + ", closed]", db.toString());
  }

  @Test
  void a_transaction_says_its_name_id_level_and_state_and_is_not_changed_by_that() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      TransactionOptions options = TransactionOptions.lazy().withName("nightly");
      Transaction tx = db.begin(options);
      try (tx) {
        assertEquals("Transaction[\"nightly\", nothing written, SNAPSHOT, open]", tx.toString());
        assertNull(tx.usedCore(), "to be shown is no use");
        tx.put(table, bytes("a"), bytes("1"));
        assertEquals("Transaction[\"nightly\", id " + tx.id() + ", SNAPSHOT, open]", tx.toString());
        tx.commit();
      }
      assertEquals("Transaction[\"nightly\", id " + tx.id() + ", SNAPSHOT, ended]", tx.toString());
      Transaction unused = db.begin();
      unused.close();
      assertEquals("Transaction[nothing written, SNAPSHOT, ended]", unused.toString());
    }
  }

  @Test
  void cursors_loads_and_savepoints_can_be_shown() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        Cursor rows = tx.scanDescending(table, bytes("a"), null);
        assertEquals("Cursor[a to the last key, descending]", rows.toString());
        rows.close();
        assertEquals("Cursor[a to the last key, descending, closed]", rows.toString());
        assertEquals(
            "Cursor[the first key to 0x00ff]", tx.scan(table, null, new byte[] {0, -1}).toString());
        assertEquals("Savepoint[after 0 overwritten versions]", tx.savepoint().toString());
      }
      try (BulkLoad load = db.bulkLoad(table)) {
        load.add(bytes("x"), bytes("1"));
        assertEquals("BulkLoad[t, 1 rows so far]", load.toString());
      }
    }
  }

  @Test
  void a_read_returns_what_it_sees_and_refuses_every_write() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> tx.put(table, bytes("a"), bytes("1")));
      assertArrayEquals(bytes("1"), db.read(tx -> tx.get(table, bytes("a"))));
      assertRefused(
          TransactionStateException.Reason.READ_ONLY,
          () ->
              db.read(tx -> {
                tx.put(table, bytes("a"), bytes("2"));
                return null;
              }));
      assertArrayEquals(bytes("1"), db.read(tx -> tx.get(table, bytes("a"))));
    }
  }
}
