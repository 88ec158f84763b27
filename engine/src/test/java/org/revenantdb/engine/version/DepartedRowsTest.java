package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.testing.TestEngine.Tx;
import org.revenantdb.engine.version.RowWriter.Outcome;

/** Deleted rows that leave their leaves beside snapshots that see them (docs/protocols.md §48). */
class DepartedRowsTest {
  @TempDir Path directory;

  private static byte[] key(int i) {
    return new byte[] {'k', (byte) (i >> 16), (byte) (i >> 8), (byte) i};
  }

  private static byte[] value(int i) {
    return Samples.random(i, 50);
  }

  /** Rows in the leaf of the first key, deleted ones as well. */
  private static int rows(TestEngine engine, Tree tree) {
    int frame = tree.leafShared(key(0), new Descent());
    try {
      return Slotted.count(engine.pool.page(frame));
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  private static void put(TestEngine engine, Tree tree, int row, int value) {
    Tx tx = engine.begin();
    assertEquals(Outcome.DONE, tx.put(tree, key(row), value(value)));
    tx.commitDurably();
  }

  private static void delete(TestEngine engine, Tree tree, int row) {
    Tx tx = engine.begin();
    assertEquals(Outcome.DONE, tx.delete(tree, key(row)));
    tx.commitDurably();
  }

  /** The rows that a transaction sees, by a scan in either direction and by counting. */
  static List<byte[]> scan(
      TestEngine engine,
      Tree tree,
      Tx tx,
      boolean descending,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    RowScan scan =
        new RowScan(
            engine.storage,
            engine.engine.reader(),
            tree,
            tx.reading.at(tx.snapshot),
            descending,
            from,
            to);
    List<byte[]> keys = new ArrayList<>();
    RowBatch batch = new RowBatch();
    for (scan.fill(batch); !batch.isEmpty(); scan.fill(batch)) {
      for (int row = 0; row < batch.size(); row++) {
        keys.add(batch.key(row));
      }
    }
    return keys;
  }

  static int count(TestEngine engine, Tree tree, Tx tx) {
    RowRange range =
        new RowRange(
            engine.storage,
            engine.engine.reader(),
            tree,
            tx.reading.at(tx.snapshot),
            /* from= */ null,
            /* to= */ null);
    int count = 0;
    while (range.hasMore()) {
      count += range.count();
    }
    return count;
  }

  @Test
  void a_deleted_row_leaves_its_leaf_and_the_older_snapshot_still_sees_it() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      put(engine, tree, 0, 0);
      put(engine, tree, 1, 1);
      put(engine, tree, 2, 2);
      Tx reader = engine.begin();
      delete(engine, tree, 0);
      delete(engine, tree, 2);
      engine.pass();
      assertEquals(1, rows(engine, tree));
      assertEquals(2, engine.storage.versions().departed().size());
      assertArrayEquals(value(0), reader.get(tree, key(0)));
      assertArrayEquals(value(2), reader.get(tree, key(2)));
      assertNull(reader.get(tree, key(3)));
      for (boolean descending : new boolean[] {false, true}) {
        List<byte[]> seen = scan(engine, tree, reader, descending, null, null);
        assertEquals(3, seen.size());
        for (int row = 0; row < 3; row++) {
          assertArrayEquals(key(row), seen.get(descending ? 2 - row : row));
        }
        assertEquals(1, scan(engine, tree, reader, descending, key(2), null).size());
        assertEquals(1, scan(engine, tree, reader, descending, null, key(1)).size());
      }
      assertEquals(3, count(engine, tree, reader));
      Tx young = engine.begin();
      assertNull(young.get(tree, key(0)));
      assertEquals(1, scan(engine, tree, young, false, null, null).size());
      assertEquals(1, count(engine, tree, young));
      young.abort();
      engine.check();
      reader.abort();
      engine.checkAllClean();
      assertEquals(0, engine.storage.versions().departed().size());
      assertEquals(0, engine.storage.versions().memoryBytes());
    }
  }

  @Test
  void a_row_that_a_snapshot_in_between_sees_leaves_and_is_forgotten_when_that_has_ended() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tx before = engine.begin();
      put(engine, tree, 0, 0);
      Tx between = engine.begin();
      delete(engine, tree, 0);
      engine.pass();
      assertEquals(0, rows(engine, tree));
      assertArrayEquals(value(0), between.get(tree, key(0)));
      assertNull(before.get(tree, key(0)));
      assertEquals(0, count(engine, tree, before));
      between.abort();
      assertEquals(Outcome.CONFLICT, before.put(tree, key(0), value(1)));
      before.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void a_row_of_which_a_snapshot_sees_an_older_version_leaves() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      put(engine, tree, 0, 0);
      Tx reader = engine.begin();
      delete(engine, tree, 0);
      put(engine, tree, 0, 1);
      Tx second = engine.begin();
      put(engine, tree, 0, 2);
      put(engine, tree, 0, 3);
      delete(engine, tree, 0);
      engine.pass();
      assertEquals(0, rows(engine, tree));
      assertArrayEquals(value(0), reader.get(tree, key(0)));
      assertArrayEquals(value(1), second.get(tree, key(0)));
      put(engine, tree, 0, 4);
      assertArrayEquals(value(0), reader.get(tree, key(0)), "behind a row that is there again");
      assertEquals(1, count(engine, tree, reader));
      delete(engine, tree, 0);
      engine.pass();
      assertArrayEquals(value(0), reader.get(tree, key(0)), "departed twice");
      assertEquals(1, scan(engine, tree, second, true, null, null).size());
      second.abort();
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void an_older_transaction_that_writes_is_in_conflict_with_the_delete_and_with_no_other_row() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      put(engine, tree, 1, 1);
      Tx old = engine.begin();
      assertEquals(Outcome.DONE, old.put(tree, key(20_000), value(0)));
      engine.snapshots.writes(old.slot);
      for (int row = 0; row < 2_000; row += 2) {
        put(engine, tree, row, row);
      }
      for (int row = 0; row < 2_000; row += 2) {
        delete(engine, tree, row);
      }
      engine.pass();
      assertEquals(2, rows(engine, tree));
      for (int row = 1; row < 2_000; row += 2) {
        assertEquals(Outcome.DONE, old.put(tree, key(row), value(1)), "row " + row);
      }
      for (int row = 0; row < 2_000; row += 2) {
        assertEquals(Outcome.CONFLICT, old.put(tree, key(row), value(1)), "row " + row);
      }
      old.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void a_deletion_of_a_range_is_in_conflict_with_the_delete_of_a_row_that_has_left() {
    try (Database database = Database.open(directory, DatabaseOptions.defaults())) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> {
        for (int row = 0; row < 3_000; row++) {
          tx.put(table, key(row), value(row));
        }
      });
      try (Transaction old = database.begin()) {
        assertEquals(3_000, old.count(table, null, null));
        database.run(tx -> tx.deleteRange(table, null, key(2_900)));
        database.cleanNow();
        assertEquals(3_000, old.count(table, null, null));
        assertThrows(ConflictException.class, () -> old.deleteRange(table, null, null));
      }
    }
  }

  @Test
  void a_serializable_transaction_notices_that_a_row_of_its_range_has_left() {
    DatabaseOptions options = DatabaseOptions.defaults();
    try (Database database = Database.open(directory, options)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, key(1), value(1)));
      TransactionOptions serializable =
          TransactionOptions.defaults().withIsolation(Isolation.SERIALIZABLE);
      try (Transaction reader = database.begin(serializable)) {
        assertEquals(1, reader.count(table, null, null));
        database.run(tx -> tx.delete(table, key(1)));
        database.cleanNow();
        reader.put(table, key(2), value(2));
        assertThrows(ConflictException.class, reader::commit);
      }
    }
  }

  /**
   * The deleting transaction has written too many rows to name them, so the range is read again.
   */
  @Test
  void a_range_that_is_read_again_has_changed_if_a_row_of_it_has_left() {
    try (Database database = Database.open(directory, DatabaseOptions.defaults())) {
      Table table = database.getOrCreateTable("t");
      Table other = database.getOrCreateTable("other");
      database.run(tx -> tx.put(table, key(1), value(1)));
      TransactionOptions serializable =
          TransactionOptions.defaults().withIsolation(Isolation.SERIALIZABLE);
      try (Transaction reader = database.begin(serializable)) {
        assertEquals(1, reader.count(table, null, null));
        database.run(tx -> {
          tx.delete(table, key(1));
          for (int row = 0; row < 20_000; row++) {
            tx.put(other, key(row), value(row));
          }
        });
        database.cleanNow();
        reader.put(table, key(2), value(2));
        assertThrows(ConflictException.class, reader::commit);
      }
    }
  }

  @Test
  void a_reader_with_little_memory_for_versions_finds_departed_rows_in_files() {
    DatabaseOptions options = DatabaseOptions.defaults().withVersionMemory(1 << 20);
    try (Database database = Database.open(directory, options)) {
      Table table = database.getOrCreateTable("t");
      byte[] big = Samples.random(7, 1_000);
      database.run(tx -> {
        for (int row = 0; row < 4_000; row++) {
          tx.put(table, key(row), big);
        }
      });
      try (Transaction old = database.begin()) {
        for (int part = 0; part < 40; part++) {
          int from = part * 100;
          database.run(tx -> tx.deleteRange(table, key(from), key(from + 100)));
          database.cleanNow();
        }
        assertTrue(database.statistics().versions().spilled() > 0, "a run is there");
        assertEquals(4_000, old.count(table, null, null));
        for (int row = 0; row < 4_000; row += 7) {
          assertArrayEquals(big, old.get(table, key(row)));
        }
        try (Transaction young = database.begin()) {
          assertEquals(0, young.count(table, null, null));
        }
      }
      database.cleanNow();
      assertEquals(List.of(), database.check().problems());
    }
  }

  @Test
  void large_values_of_departed_rows_stay_until_nobody_sees_them() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = engine.table("t");
      byte[] large = Samples.random(3, 30_000);
      byte[] shared = Samples.random(4, 3_000);
      Tx tx = engine.begin();
      tx.put(tree, key(0), large);
      tx.put(tree, key(1), shared);
      tx.commitDurably();
      Tx reader = engine.begin();
      delete(engine, tree, 0);
      delete(engine, tree, 1);
      engine.pass();
      engine.pass();
      assertEquals(0, rows(engine, tree));
      engine.check();
      assertArrayEquals(large, reader.get(tree, key(0)));
      assertArrayEquals(shared, reader.get(tree, key(1)));
      reader.abort();
      engine.checkAllClean();
    }
  }

  /** Found by reading: the leaf says that the row is not there, and the leaf counts. */
  @Test
  void an_open_cursor_does_not_see_a_row_that_its_own_transaction_has_deleted() {
    try (Database database = Database.open(directory, DatabaseOptions.defaults())) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> {
        for (int row = 0; row < 3; row++) {
          tx.put(table, key(row), value(row));
        }
      });
      TransactionOptions options =
          TransactionOptions.defaults().withIsolation(Isolation.READ_COMMITTED);
      try (Transaction own = database.begin(options);
          Cursor cursor = own.scan(table, null, null)) {
        database.run(tx -> tx.delete(table, key(1)));
        database.run(tx -> tx.delete(table, key(2)));
        database.cleanNow();
        own.put(table, key(1), value(4));
        own.delete(table, key(1));
        assertTrue(cursor.next());
        assertArrayEquals(key(0), cursor.key());
        assertTrue(cursor.next());
        assertArrayEquals(key(2), cursor.key());
        assertFalse(cursor.next());
      }
    }
  }

  @Test
  void partitions_are_merged_in_order_with_the_rows_that_have_left_them() {
    try (Database database = Database.open(directory, DatabaseOptions.defaults())) {
      Table table = database.createTable("t", TableOptions.hashPartitioned(8));
      database.run(tx -> {
        for (int row = 0; row < 2_000; row++) {
          tx.put(table, key(row), value(row));
        }
      });
      try (Transaction old = database.begin()) {
        database.run(tx -> {
          for (int row = 0; row < 2_000; row += 3) {
            tx.delete(table, key(row));
          }
        });
        database.cleanNow();
        List<byte[]> seen = new ArrayList<>();
        try (var cursor = old.scan(table, null, null)) {
          while (cursor.next()) {
            seen.add(cursor.key());
          }
        }
        assertEquals(2_000, seen.size());
        for (int row = 0; row < 2_000; row++) {
          assertArrayEquals(key(row), seen.get(row));
        }
      }
    }
  }

  /** Found by reading: the batch still had the prefix of the leaf before. */
  @Test
  void a_scan_finds_departed_rows_behind_a_leaf_of_which_it_sees_no_row() {
    try (TestEngine engine = new TestEngine(directory, 2_048)) {
      for (int cut = 30; cut < 80; cut++) { // one of these rows is the first of its leaf
        Tree tree = engine.table("t" + cut);
        putAll(engine, tree, 250, 500);
        Tx reader = engine.begin();
        putAll(engine, tree, 0, 100);
        Tx tx = engine.begin();
        for (int row = 0; row < 260; row++) {
          if ((row >= cut && row < 100) || row >= 250) {
            assertEquals(Outcome.DONE, tx.delete(tree, key(row)));
          }
        }
        tx.commitDurably();
        engine.pass();
        for (int from : new int[] {0, cut - 1, 255}) {
          for (boolean descending : new boolean[] {false, true}) {
            List<byte[]> seen = scan(engine, tree, reader, descending, key(from), key(260));
            int low = Math.max(from, 250);
            assertEquals(260 - low, seen.size());
            for (int i = 0; i < seen.size(); i++) {
              assertArrayEquals(key(descending ? 259 - i : low + i), seen.get(i));
            }
          }
        }
        reader.abort();
      }
      engine.checkAllClean();
    }
  }

  /** Rows in one transaction, in order. */
  private static void putAll(TestEngine engine, Tree tree, int from, int to) {
    Tx tx = engine.begin();
    for (int row = from; row < to; row++) {
      assertEquals(Outcome.DONE, tx.put(tree, key(row), Samples.random(row, 200)));
    }
    tx.commitDurably();
  }

  /** Found on paper: the keys must be looked for after the leaf, not before it. */
  @Test
  void a_reader_counts_the_same_while_rows_leave() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = engine.table("t");
      int rows = 600;
      for (int row = 0; row < rows; row++) {
        put(engine, tree, row, row);
      }
      Tx reader = engine.begin();
      AtomicBoolean ended = new AtomicBoolean();
      FutureTask<Integer> counting =
          new FutureTask<>(() -> {
            int rounds = 0;
            boolean last;
            do {
              last = ended.get();
              assertEquals(rows, count(engine, tree, reader));
              assertEquals(rows, scan(engine, tree, reader, rounds % 2 == 0, null, null).size());
              rounds++;
            } while (!last);
            return rounds;
          });
      Thread.ofPlatform().daemon().start(counting);
      for (int row = 0; row < rows; row++) {
        delete(engine, tree, (row * 7) % rows);
        if (row % 10 == 9) {
          engine.pass();
        }
      }
      ended.set(true);
      assertTrue(counting.get() > 0);
      assertFalse(engine.storage.versions().departed().size() == 0);
      reader.abort();
      engine.checkAllClean();
    }
  }
}
