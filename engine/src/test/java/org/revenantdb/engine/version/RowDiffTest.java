package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Former versions stand in their rows as differences from the current ones (docs/format.md §1.4).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class RowDiffTest {
  private static final int ROWS = 1_000;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  /** A row of 200 bytes, with a number of 4 bytes in it. */
  private static byte[] row(int key, int number) {
    byte[] row = new byte[200];
    new Random(key).nextBytes(row);
    for (int i = 0; i < 4; i++) {
      row[80 + i] = (byte) (number >>> (8 * i));
    }
    return row;
  }

  private static void putAll(Transaction tx, Table table, IntFunction<byte[]> value) {
    for (int i = 0; i < ROWS; i++) {
      tx.put(table, key(i), value.apply(i));
    }
  }

  private static long versionBytes(Database db) {
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    return report.contents().stream().mapToLong(CheckedTable::versionBytes).sum();
  }

  /** A database with the rows of a transaction that need not be looked up any more. */
  private Database withRows() {
    Path db = directory.resolve("db");
    try (Database first = Database.open(db)) {
      first.run(tx -> putAll(tx, first.getOrCreateTable("t"), i -> row(i, 0)));
      assertEquals(0, versionBytes(first), "inserts have no former version");
    }
    return Database.open(db);
  }

  @Test
  void four_bytes_in_two_hundred_are_kept_as_eight_and_a_deleted_row_with_two_more() {
    try (Database db = withRows()) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        putAll(tx, table, i -> row(i, 0x01020304 + (i << 8)));
        assertTrue(versionBytes(db) <= 8 * ROWS, "bytes " + versionBytes(db));
        tx.rollback();
      }
      db.run(tx -> assertRow(7, row(7, 0), tx.get(table, key(7))));
      try (Transaction tx = db.begin()) {
        for (int i = 0; i < ROWS; i++) {
          tx.delete(table, key(i));
        }
        assertEquals(2 * ROWS, versionBytes(db));
        tx.rollback();
      }
      db.run(tx -> assertRow(7, row(7, 0), tx.get(table, key(7))));
    }
  }

  @Test
  void four_bytes_in_two_hundred_are_logged_as_four() {
    try (Database db = withRows()) {
      Table table = db.getOrCreateTable("t");
      long before = db.statistics().files().logTail();
      try (Transaction tx = db.begin()) {
        putAll(tx, table, i -> row(i, 0x01020304));
        long logged = (db.statistics().files().logTail() - before) / ROWS;
        assertTrue(logged < 130, logged + " bytes of log for an update of four");
        tx.commit();
      }
    }
  }

  @Test
  void a_former_version_is_rebuilt_before_a_later_one_of_the_same_transaction_comes() {
    try (Database db = withRows()) {
      Table table = db.getOrCreateTable("t");
      byte[] unlike = new byte[700];
      random.nextBytes(unlike);
      try (Transaction old = db.begin();
          Transaction tx = db.begin()) {
        for (IntFunction<byte[]> next :
            List.<IntFunction<byte[]>>of(
                i -> row(i, 1), i -> unlike, i -> row(i, 2), i -> new byte[0], i -> row(i, 0))) {
          putAll(tx, table, next);
          for (int i = 0; i < ROWS; i += 91) {
            assertRow(i, row(i, 0), old.get(table, key(i)));
            assertRow(i, next.apply(i), tx.get(table, key(i)));
          }
          assertEquals(List.of(), db.check().problems());
        }
        tx.rollback();
      }
      db.run(tx -> {
        for (int i = 0; i < ROWS; i++) {
          assertRow(i, row(i, 0), tx.get(table, key(i)));
        }
      });
    }
  }

  @Test
  void a_killed_transaction_leaves_rows_from_which_the_former_ones_come_back() {
    CrashDisk disk = new CrashDisk();
    try (Database db = Database.open(disk.path("/db"), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> putAll(tx, table, i -> row(i, 0)));
      Transaction tx = db.begin();
      putAll(tx, table, i -> row(i, 1));
      tx.delete(table, key(3));
      db.sync();
      disk = disk.afterKill();
      tx.close();
    }
    try (Database db = Database.open(disk.path("/db"), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        // Some are overwritten while they are the aborted one's, by values that are like neither.
        for (int i = 0; i < ROWS; i += 2) {
          assertRow(i, row(i, 0), tx.get(table, key(i)));
          tx.put(table, key(i), i % 4 == 0 ? new byte[i % 300] : row(i, 2));
        }
        tx.rollback();
      }
      assertEquals(List.of(), db.check().problems());
      db.run(tx -> {
        for (int i = 0; i < ROWS; i++) {
          assertRow(i, row(i, 0), tx.get(table, key(i)));
        }
        assertNull(tx.get(table, key(ROWS)));
      });
    }
  }
}
