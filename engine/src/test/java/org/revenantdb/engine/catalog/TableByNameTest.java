package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.Samples;

/** A table that has to exist, and one that must not exist yet. */
class TableByNameTest {
  @TempDir Path folder;

  private Database open() {
    return Samples.open(folder.resolve("db"));
  }

  @Test
  void a_wrong_name_creates_no_table() {
    try (Database db = open()) {
      CatalogException told =
          assertRefused(CatalogException.Reason.MISSING, () -> db.table("acounts"));
      assertTrue(told.getMessage().contains("acounts"), told.getMessage());
      assertTrue(told.getMessage().contains("createTable or getOrCreateTable"), told.getMessage());
      assertEquals(List.of(), db.tableNames());
    }
  }

  @Test
  void the_message_about_a_wrong_name_has_the_names_that_exist() {
    try (Database db = open()) {
      assertTrue(messageAbout(db, "acounts").contains("it has no table"));
      db.createTable("orders");
      db.createTable("accounts");
      assertTrue(messageAbout(db, "acounts").contains("it has accounts, orders"));
    }
  }

  @Test
  void of_many_names_the_message_has_the_most_similar() {
    try (Database db = open()) {
      for (int i = 0; i < 20; i++) {
        db.createTable("table" + i);
      }
      db.createTable("accounts");
      String message = messageAbout(db, "acounts");
      assertTrue(message.contains("of its 21 these are the closest: accounts, "), message);
      assertTrue(message.length() < 300, message);
    }
  }

  @Test
  void long_names_do_not_fill_the_message() {
    try (Database db = open()) {
      for (int i = 0; i < 8; i++) {
        db.createTable("n".repeat(1_000) + i);
      }
      assertTrue(messageAbout(db, "acounts").length() < 800);
    }
  }

  private static String messageAbout(Database db, String name) {
    return assertRefused(CatalogException.Reason.MISSING, () -> db.table(name)).getMessage();
  }

  @Test
  void a_table_that_was_created_is_found_by_its_name_also_after_another_open() {
    try (Database db = open()) {
      Table made = db.createTable("plain");
      assertSame(made, db.table("plain"));
      assertEquals(
          3, db.createTable("parts", TableOptions.hashPartitioned(3)).options().partitions());
    }
    try (Database db = open()) {
      assertEquals(List.of("parts", "plain"), db.tableNames());
      assertEquals(TableOptions.hashPartitioned(3), db.table("parts").options());
    }
  }

  @Test
  void a_table_is_created_once() {
    try (Database db = open()) {
      db.getOrCreateTable("t");
      assertRefused(CatalogException.Reason.EXISTS, () -> db.createTable("t"));
      assertRefused(
          CatalogException.Reason.EXISTS,
          () -> db.createTable("t", TableOptions.hashPartitioned(2)));
      assertEquals(TableOptions.defaults(), db.table("t").options());
      db.dropTable("t");
      assertRefused(CatalogException.Reason.MISSING, () -> db.table("t"));
      db.createTable("t");
    }
  }

  @Test
  void a_table_of_an_open_transaction_is_missing_to_others_and_cannot_be_created_by_them() {
    try (Database db = open();
        Transaction tx = db.begin()) {
      tx.createTable("t");
      assertRefused(CatalogException.Reason.MISSING, () -> db.table("t"));
      assertThrows(ConflictException.class, () -> db.createTable("t"));
      tx.commit();
      assertRefused(CatalogException.Reason.EXISTS, () -> db.createTable("t"));
    }
  }

  @Test
  void a_database_that_was_opened_read_only_creates_none() {
    try (Database db = open()) {
      db.createTable("t");
    }
    try (Database db = Database.open(folder.resolve("db"), Samples.SMALL.withReadOnly(true))) {
      assertEquals("t", db.table("t").name());
      assertThrows(ReadOnlyDatabaseException.class, () -> db.createTable("other"));
      assertThrows(ReadOnlyDatabaseException.class, () -> db.createTable("t"));
      assertRefused(CatalogException.Reason.MISSING, () -> db.table("other"));
    }
  }
}
