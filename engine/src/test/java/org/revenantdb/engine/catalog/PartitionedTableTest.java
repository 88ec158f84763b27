package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.CompactReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.engine.testing.Allocations;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.format.KeyHash;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Tables whose rows are in several trees (protocols.md §22): they do what a table does, in the same
 * order.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices.
 */
class PartitionedTableTest {
  private static final DatabaseOptions LAZY = Samples.SMALL.withDurability(Durability.LAZY);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** A key of any length, often one that is there. */
  private byte[] anyKey() {
    byte[] key = key(random.nextInt(600));
    return random.nextInt(4) == 0 ? Arrays.copyOf(key, 4 + random.nextInt(60)) : key;
  }

  private byte[] value() {
    byte[] value = new byte[random.nextInt(random.nextInt(12) == 0 ? 60_000 : 400)];
    random.nextBytes(value);
    return value;
  }

  private static NavigableMap<byte[], byte[]> model() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  private static void put(Transaction tx, Table table, byte[] key, byte[] value, boolean stream) {
    if (!stream) {
      tx.put(table, key, value);
      return;
    }
    try {
      tx.put(table, key, new ByteArrayInputStream(value));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(InputStream stream) {
    try (stream) {
      return stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void assertRows(
      Transaction tx, Table table, NavigableMap<byte[], byte[]> model, boolean descending) {
    try (Cursor rows =
        descending ? tx.scanDescending(table, null, null) : tx.scan(table, null, null)) {
      NavigableMap<byte[], byte[]> ordered = descending ? model.descendingMap() : model;
      for (Map.Entry<byte[], byte[]> row : ordered.entrySet()) {
        assertTrue(rows.next(), "a row is missing");
        assertArrayEquals(row.getKey(), rows.key());
        assertArrayEquals(row.getValue(), rows.value());
      }
      assertFalse(rows.next(), "a row too many");
    }
    assertEquals(model.size(), tx.count(table, null, null));
  }

  private static void assertSame(Database db, Table table, NavigableMap<byte[], byte[]> model) {
    try (Transaction tx = db.begin()) {
      assertRows(tx, table, model, /* descending= */ false);
      assertRows(tx, table, model, /* descending= */ true);
      for (Map.Entry<byte[], byte[]> row : model.entrySet()) {
        assertArrayEquals(row.getValue(), tx.get(table, row.getKey()));
      }
    }
    assertEquals(List.of(), db.check().problems());
  }

  /** One transaction of some statements; whether it is to be committed. */
  private void statements(Transaction tx, Table table, NavigableMap<byte[], byte[]> model) {
    byte[] into = new byte[70_000];
    for (int i = random.nextInt(60); i >= 0; i--) {
      byte[] key = anyKey();
      byte[] there = model.get(key);
      switch (random.nextInt(8)) {
        case 0 -> {
          assertEquals(there != null, tx.delete(table, key));
          model.remove(key);
        }
        case 1 -> {
          int length = tx.get(table, key, into, 3);
          assertEquals(there == null ? -1 : there.length, length);
          if (there != null) {
            assertArrayEquals(there, Arrays.copyOfRange(into, 3, 3 + length));
          }
        }
        case 2 -> {
          assertEquals(there != null, tx.exists(table, key));
          InputStream stream = tx.open(table, key);
          assertArrayEquals(there, stream == null ? null : bytes(stream));
        }
        case 3 -> assertArrayEquals(there, tx.get(table, key));
        default -> {
          byte[] value = value();
          put(tx, table, key, value, random.nextInt(4) == 0);
          model.put(key, value);
        }
      }
    }
  }

  @Test
  void a_partitioned_table_and_a_map_are_the_same_over_several_lives() {
    int partitions = 2 + random.nextInt(9);
    System.out.println(
        "PartitionedTableTest -Drevenant.seed=" + seed + ", partitions " + partitions);
    NavigableMap<byte[], byte[]> committed = model();
    for (int life = 0; life < 4; life++) {
      try (Database db = Database.open(directory.resolve("db"), LAZY)) {
        Table table =
            life % 2 == 0
                ? db.getOrCreateTable("t", TableOptions.hashPartitioned(partitions))
                : db.getOrCreateTable("t");
        assertEquals(partitions, table.options().partitions());
        assertSame(db, table, committed);
        for (int round = 0; round < 25; round++) {
          NavigableMap<byte[], byte[]> mine = model();
          mine.putAll(committed);
          try (Transaction tx = db.begin()) {
            statements(tx, table, mine);
            assertRows(tx, table, mine, random.nextBoolean());
            if (random.nextInt(3) > 0) {
              tx.commit();
              committed = mine;
            }
          }
          if (random.nextInt(5) == 0) {
            db.cleanNow();
          }
        }
        if (life == 2) {
          db.compact();
        }
        assertSame(db, table, committed);
      }
    }
  }

  @Test
  void what_was_committed_is_there_after_a_kill_or_a_power_cut_and_nothing_else() {
    System.out.println("PartitionedTableTest -Drevenant.seed=" + seed);
    CrashDisk disk = new CrashDisk();
    NavigableMap<byte[], byte[]> committed = model();
    try (Database db = Database.open(disk.path("/db"), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(5));
      for (int round = 0; round < 12; round++) {
        NavigableMap<byte[], byte[]> mine = model();
        mine.putAll(committed);
        try (Transaction tx = db.begin()) {
          statements(tx, table, mine);
          if (random.nextInt(3) > 0) {
            tx.commit();
            committed = mine;
          }
          CrashDisk crashed = round % 2 == 0 ? disk.afterKill() : disk.afterPowerCut(random);
          try (Database again = Database.open(crashed.path("/db"), Samples.SMALL)) {
            assertSame(
                again, again.getOrCreateTable("t", TableOptions.hashPartitioned(5)), committed);
            again.cleanNow();
            CheckReport report = again.check();
            assertEquals(List.of(), report.problems());
            assertEquals(0, report.pagesToClean());
          }
        }
      }
    }
  }

  @Test
  void P1_check_tells_a_key_that_lies_in_another_partition() {
    try (Database db = Database.open(directory.resolve("db"), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(4));
      db.run(tx -> {
        for (int i = 0; i < 100; i++) {
          tx.put(table, key(i), key(i));
        }
      });
      assertEquals(List.of(), db.check().problems());
      byte[] stray = key(1000);
      int home = KeyHash.partition(stray, 4);
      int elsewhere = (home + 1) % 4;
      Tree wrong = TableState.of(table).newest().all().get(elsewhere);
      try (Transaction tx = db.begin()) {
        TransactionCore core = ApiAccess.api().core(tx);
        ApiAccess.api()
            .inside(
                tx,
                () ->
                    core.writer(table).put(wrong, core.id(), core.snapshot(), stray, new byte[1]));
        tx.commit();
      }
      CheckReport report = db.check();
      assertEquals(1, report.problems().size(), report.problems().toString());
      String told = report.problems().getFirst();
      assertTrue(told.contains("table " + wrong.table() + ", \"t\", partition " + elsewhere), told);
      assertTrue(told.contains("key 0x000003e8 belongs to partition " + home), told);
      assertTrue(told.startsWith("page " + wrong.root() + " "), told);
    }
  }

  @Test
  void P2_other_options_than_the_tables_are_refused_and_none_find_it_as_it_is() {
    try (Database db = Database.open(directory.resolve("db"), Samples.SMALL)) {
      Table eight = db.getOrCreateTable("eight", TableOptions.hashPartitioned(8));
      Table plain = db.getOrCreateTable("plain");
      assertEquals(TableOptions.defaults(), plain.options());
      assertEquals(TableOptions.hashPartitioned(8), eight.options());
      assertEquals(plain, db.getOrCreateTable("plain", TableOptions.hashPartitioned(1)));
      assertEquals(eight, db.getOrCreateTable("eight"));
      assertEquals(eight, db.findTable("eight"));
      for (TableOptions wrong :
          List.of(TableOptions.defaults(), TableOptions.hashPartitioned(16))) {
        String told =
            assertRefused(
                    CatalogException.Reason.OTHER_OPTIONS,
                    () -> db.getOrCreateTable("eight", wrong))
                .getMessage();
        assertTrue(told.contains("eight was created with 8 partitions"), told);
        assertTrue(told.contains("not " + wrong.partitions()), told);
      }
      assertRefused(
          CatalogException.Reason.OTHER_OPTIONS,
          () -> db.getOrCreateTable("plain", TableOptions.hashPartitioned(2)));
    }
    assertThrows(IllegalArgumentException.class, () -> TableOptions.hashPartitioned(0));
    assertThrows(IllegalArgumentException.class, () -> TableOptions.hashPartitioned(65));
    try (Database db = Database.open(directory.resolve("db"), Samples.SMALL.withReadOnly(true))) {
      assertEquals(8, db.getOrCreateTable("eight").options().partitions());
      assertRefused(
          CatalogException.Reason.OTHER_OPTIONS,
          () -> db.getOrCreateTable("eight", TableOptions.hashPartitioned(9)));
      assertThrows(
          ReadOnlyDatabaseException.class,
          () -> db.getOrCreateTable("new", TableOptions.hashPartitioned(9)));
    }
  }

  @Test
  void P2_of_two_who_create_a_table_in_different_ways_one_is_refused() throws Exception {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      for (int round = 0; round < 20; round++) {
        String name = "t" + round;
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        CyclicBarrier start = new CyclicBarrier(2);
        List<Thread> threads = new ArrayList<>();
        for (int partitions = 3; partitions <= 4; partitions++) {
          TableOptions options = TableOptions.hashPartitioned(partitions);
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    try {
                      start.await();
                      assertEquals(options, db.getOrCreateTable(name, options).options());
                    } catch (Throwable failure) {
                      failures.add(failure);
                    }
                  }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        assertEquals(1, failures.size());
        assertEquals(CatalogException.class, failures.getFirst().getClass());
      }
      assertEquals(List.of(), db.check().problems());
    }
  }

  @Test
  void no_two_trees_have_the_same_id_and_each_is_found_by_it_in_a_later_life() {
    Set<Integer> ids = new HashSet<>();
    int trees = 0;
    for (int life = 0; life < 3; life++) {
      try (Database db = Database.open(directory.resolve("db"), LAZY)) {
        for (int i = 0; i < 4; i++) {
          Table table =
              db.getOrCreateTable(life + " " + i, TableOptions.hashPartitioned(1 + 2 * i));
          TableState.of(table)
              .newest()
              .all()
              .forEach(tree -> assertTrue(ids.add(tree.table()), "twice " + tree.table()));
          trees += TableState.of(table).newest().all().size();
        }
      }
    }
    assertEquals(trees, ids.size());
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      assertEquals(12, db.tableNames().size());
      assertEquals(12, db.check().tables());
      Table table = db.getOrCreateTable("0 3");
      db.run(tx -> {
        for (int i = 0; i < 4000; i++) {
          tx.put(table, key(i), new byte[200]);
        }
      });
      db.run(tx -> tx.deleteRange(table, null, null));
    }
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      db.run(tx -> tx.put(db.getOrCreateTable("other"), key(0), key(0)));
      db.cleanNow(); // finds trees by the ids on their pages, though nobody has asked for the table
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      CheckedTable emptied =
          report.contents().stream().filter(t -> t.name().equals("0 3")).findFirst().orElseThrow();
      assertEquals(0, emptied.rows());
      assertTrue(emptied.treePages() <= 2 * 7, "pages were not merged: " + emptied);
    }
  }

  @Test
  void R17_a_table_of_all_partitions_is_created_in_the_smallest_database() {
    DatabaseOptions smallest =
        Samples.SMALL
            .withPoolBytes(2L << 20)
            .withMaxRecoveryLog(4L << 20)
            .withMaxRecoveryPages(256);
    try (Database db = Database.open(directory.resolve("db"), smallest)) {
      for (int i = 0; i < 8; i++) {
        Table table =
            db.getOrCreateTable("long name ".repeat(100) + i, TableOptions.hashPartitioned(64));
        db.run(tx -> {
          for (int row = 0; row < 300; row++) {
            tx.put(table, key(row), new byte[300]);
          }
        });
        try (Transaction tx = db.begin()) {
          assertEquals(300, tx.count(table, null, null));
        }
      }
      assertEquals(List.of(), db.check().problems());
    }
  }

  /**
   * A partition's batch was read before the transaction wrote into the range that it covers, and
   * its rows stand in a batch that was made up afterwards: a seek must not be content with that.
   */
  @Test
  void P4_a_seek_sees_what_the_transaction_wrote_after_a_partition_was_read() {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(2));
      db.run(tx -> {
        for (int i = 0; i < 400; i++) {
          tx.put(table, key(2 * i), new byte[1]);
        }
      });
      for (int row = 130; row < 170; row++) {
        for (boolean descending : new boolean[] {false, true}) {
          byte[] between = key(descending ? 800 - 2 * row - 1 : 2 * row + 1);
          try (Transaction tx = db.begin();
              Cursor rows =
                  descending ? tx.scanDescending(table, null, null) : tx.scan(table, null, null)) {
            assertTrue(rows.next());
            tx.put(table, between, new byte[2]);
            for (int i = 1; i < 129; i++) {
              assertTrue(rows.next()); // into the second batch
            }
            assertTrue(rows.seek(between));
            assertArrayEquals(between, rows.key());
            assertEquals(2, rows.valueLength());
          }
        }
      }
    }
  }

  @Test
  void P4_a_cursor_goes_on_in_order_while_other_threads_split_and_merge_pages() throws Exception {
    System.out.println("PartitionedTableTest -Drevenant.seed=" + seed);
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(3));
      db.run(tx -> {
        for (int i = 0; i < 2000; i++) {
          tx.put(table, key(4 * i), key(i));
        }
      });
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      List<Thread> writers = new ArrayList<>();
      for (int t = 1; t <= 3; t++) {
        int mine = t;
        Random choice = new Random(seed + t);
        writers.add(
            Thread.ofPlatform()
                .start(() -> {
                  try {
                    for (int round = 0; round < 60; round++) {
                      int first = choice.nextInt(2000);
                      db.run(tx -> {
                        for (int i = first; i < first + 60; i++) {
                          tx.put(table, key(4 * i + mine), new byte[choice.nextInt(600)]);
                        }
                      });
                      if (round % 10 == 9) {
                        db.run(tx -> {
                          for (int i = 0; i < 2100; i++) {
                            tx.delete(table, key(4 * i + mine));
                          }
                        });
                      }
                    }
                  } catch (Throwable failure) {
                    failures.add(failure);
                  }
                }));
      }
      do {
        boolean descending = random.nextBoolean();
        try (Transaction tx = db.begin();
            Cursor rows =
                descending ? tx.scanDescending(table, null, null) : tx.scan(table, null, null)) {
          long expected = tx.count(table, null, null);
          long found = 0;
          int fixed = 0;
          byte[] before = null;
          while (rows.next()) {
            byte[] key = rows.key();
            if (before != null) {
              int order = Arrays.compareUnsigned(before, key);
              assertTrue(descending ? order > 0 : order < 0, "rows are out of order");
            }
            before = key;
            found++;
            fixed += ByteBuffer.wrap(key).getInt() % 4 == 0 ? 1 : 0;
          }
          assertEquals(expected, found);
          assertEquals(2000, fixed);
        }
      } while (writers.stream().anyMatch(Thread::isAlive));
      for (Thread writer : writers) {
        writer.join();
      }
      assertEquals(List.of(), failures, "-Drevenant.seed=" + seed);
      db.cleanNow();
      assertEquals(List.of(), db.check().problems());
      assertTrue(db.statistics().files().splits() > 0);
      assertTrue(db.statistics().files().merges() > 0);
    }
  }

  @Test
  void a_conflict_in_any_partition_leaves_a_deletion_of_a_range_without_effect() {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(6));
      db.run(tx -> {
        for (int i = 0; i < 300; i++) {
          tx.put(table, key(i), key(i));
        }
      });
      for (int i = 0; i < 300; i += 7) {
        byte[] theirs = key(i);
        try (Transaction mine = db.begin();
            Transaction other = db.begin()) {
          other.put(table, theirs, new byte[3]);
          assertThrows(ConflictException.class, () -> mine.deleteRange(table, null, null));
          assertEquals(300, mine.count(table, null, null));
        }
      }
      db.run(tx -> assertEquals(200, tx.deleteRange(table, key(50), key(250))));
      try (Transaction tx = db.begin()) {
        assertEquals(100, tx.count(table, null, null));
        assertEquals(50, tx.count(table, key(200), null));
      }
    }
  }

  @Test
  void a_bulk_load_is_there_as_a_whole_in_all_partitions_or_not_at_all() throws IOException {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(5));
      NavigableMap<byte[], byte[]> model = model();
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 0; i < 6000; i++) {
          byte[] value = Samples.random(i, i % 500 == 7 ? 30_000 : 100);
          if (i % 1000 == 7) {
            load.add(key(i), new ByteArrayInputStream(value));
          } else {
            load.add(key(i), value);
          }
          model.put(key(i), value);
          if (i % 100 == 50) {
            // Below the last key of all, and often above the last one of its own partition.
            byte[] below = Arrays.copyOf(key(i - 1), 5);
            assertRefused(LimitException.Reason.KEY_ORDER, () -> load.add(below, new byte[1]));
            byte[] same = key(i);
            assertRefused(LimitException.Reason.KEY_ORDER, () -> load.add(same, new byte[1]));
            assertRefused(
                LimitException.Reason.KEY_ORDER,
                () -> load.add(below, new ByteArrayInputStream(new byte[9000])));
          }
        }
        assertEquals(6000, load.rows());
        try (Transaction tx = db.begin()) {
          assertEquals(0, tx.count(table, null, null));
        }
        load.finish();
        assertTrue(load.pages() > 60, "pages appended whole: " + load.pages());
      }
      assertSame(db, table, model);
      try (BulkLoad given = db.bulkLoad(table)) {
        for (int i = 6000; i < 9000; i++) {
          given.add(key(i), new byte[200]);
        }
      }
      assertSame(db, table, model);
      try (BulkLoad among = db.bulkLoad(table)) { // rows are there behind and between
        for (int i = 3000; i < 3100; i++) {
          among.add(Arrays.copyOf(key(i), 6), new byte[10]);
          model.put(Arrays.copyOf(key(i), 6), new byte[10]);
        }
        among.finish();
      }
      assertSame(db, table, model);
      try (BulkLoad late = db.bulkLoad(table)) {
        byte[] theirs = key(7777);
        for (int i = 7000; i < 8000; i++) {
          late.add(key(i), new byte[100]);
        }
        db.run(tx -> tx.put(table, theirs, new byte[2]));
        model.put(theirs, new byte[2]);
        assertThrows(ConflictException.class, late::finish);
      }
      db.cleanNow();
      assertSame(db, table, model);
    }
  }

  /** While a value is read from a stream, the caller may reuse the key's array. */
  @Test
  void P1_a_key_that_changes_while_its_value_is_streamed_in_goes_where_it_belongs()
      throws IOException {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(16));
      byte[] key = key(0);
      try (Transaction tx = db.begin()) {
        InputStream changing =
            new ByteArrayInputStream(new byte[100_000]) {
              @Override
              public synchronized int read(byte[] into, int offset, int length) {
                key[3]++;
                return super.read(into, offset, length);
              }
            };
        tx.put(table, key, changing);
        assertTrue(key[3] != 0);
        assertNotNull(tx.open(table, key));
        tx.commit();
      }
      assertEquals(List.of(), db.check().problems());
    }
  }

  @Test
  void compaction_moves_the_pages_of_all_partitions() {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(4));
      NavigableMap<byte[], byte[]> model = model();
      db.run(tx -> {
        for (int i = 0; i < 8000; i++) {
          tx.put(table, key(i), new byte[300]);
        }
      });
      db.run(tx -> tx.deleteRange(table, null, key(7000)));
      for (int i = 7000; i < 8000; i++) {
        model.put(key(i), new byte[300]);
      }
      db.sync();
      CompactReport report = db.compact();
      assertTrue(report.pagesMoved() > 0, report.toString());
      assertSame(db, table, model);
      assertTrue(report.fileBytes() < 200 * 8192, report.toString());
    }
  }

  @Test
  void a_table_of_another_database_is_refused() {
    try (Database db = Database.open(directory.resolve("db"), LAZY);
        Database other = Database.open(directory.resolve("other"), LAZY);
        Transaction tx = db.begin()) {
      Table foreign = other.getOrCreateTable("t", TableOptions.hashPartitioned(3));
      assertThrows(IllegalArgumentException.class, () -> tx.get(foreign, key(0)));
      assertThrows(IllegalArgumentException.class, () -> tx.put(foreign, key(0), key(0)));
      assertThrows(IllegalArgumentException.class, () -> tx.scan(foreign, null, null));
      assertThrows(IllegalArgumentException.class, () -> tx.count(foreign, null, null));
      assertThrows(IllegalArgumentException.class, () -> tx.deleteRange(foreign, null, null));
      assertThrows(IllegalArgumentException.class, () -> db.bulkLoad(foreign));
      Table own = db.getOrCreateTable("t", TableOptions.hashPartitioned(3));
      assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.get(own, new byte[0]));
      assertRefused(
          LimitException.Reason.KEY_LENGTH, () -> tx.put(own, new byte[1025], new byte[0]));
      assertNull(tx.get(own, key(0)));
    }
  }

  @Test
  void a_read_into_the_callers_array_allocates_nothing() throws ReflectiveOperationException {
    try (Database db = Database.open(directory.resolve("db"), LAZY)) {
      Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(8));
      byte[][] keys = new byte[500][];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = Arrays.copyOf(key(i), 4 + i % 61);
      }
      db.run(tx -> {
        for (byte[] key : keys) {
          tx.put(table, key, new byte[100]);
        }
      });
      db.cleanNow();
      int reads = 100 * keys.length;
      try (Transaction tx = db.begin()) {
        byte[] into = new byte[100];
        Runnable all =
            () -> {
              for (int i = 0; i < reads; i++) {
                tx.get(table, keys[i % keys.length], into, 0);
              }
            };
        Allocations.by(all); // links and initializes
        long allocated = Allocations.by(all);
        assertTrue(allocated < 4L * reads, allocated + " bytes in " + reads + " reads");
      }
    }
  }
}
