package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;

/**
 * Bulk loads by the public API, alone and beside others; random ones against a map: {@code
 * -Drevenant.seed=n} repeats a run, {@code -Drevenant.rounds=n} makes more of them.
 */
class BulkLoadTest {
  @TempDir Path directory;

  /** By the random loads: pages that were appended whole. */
  private long appended;

  private int blocks;

  private static byte[] key(long number) {
    return ByteBuffer.allocate(16).putLong(number).putLong(~number).array();
  }

  private static void load(Database db, Table table, long from, long to, byte[] value) {
    try (BulkLoad load = db.bulkLoad(table)) {
      for (long i = from; i < to; i++) {
        load.add(key(i), value);
      }
      load.finish();
    }
  }

  private static long count(Transaction tx, Table table) {
    long count = 0;
    try (Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        count++;
      }
    }
    return count;
  }

  private static long count(Database db, Table table) {
    return db.call(tx -> count(tx, table));
  }

  private static void assertSound(Database db, long rowsAndTables) {
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(0, report.pagesToClean());
    assertEquals(rowsAndTables, report.rows());
  }

  @Test
  void a_load_fills_its_pages() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      byte[] value = new byte[100];
      long pages;
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 0; i < 60_000; i++) {
          load.add(key(i), value);
        }
        assertEquals(60_000, load.rows());
        load.finish();
        pages = load.pages();
      }
      // A row takes 16 + 16 + 100 bytes and a slot of 6.
      double filled = 60_000.0 * (16 + 16 + 100 + 6) / (pages * 8192.0);
      assertTrue(filled > 0.9, pages + " pages are filled to " + filled);
      assertEquals(60_000, count(db, table));
      assertSound(db, 60_001);
      assertTrue(db.check().treePages() < pages * 1.02 + 10, "inner pages are full, too");
    }
    try (Database db = Samples.open(directory)) {
      assertEquals(60_000, count(db, db.getOrCreateTable("t")));
    }
  }

  @Test
  void loads_that_follow_one_another_append() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> tx.put(table, key(5), bytes("five")));
      for (int i = 1; i < 20; i++) {
        try (BulkLoad load = db.bulkLoad(table)) {
          for (int k = 0; k < 500; k++) {
            load.add(key(1000L * i + k), bytes("v" + k));
          }
          load.finish();
          assertTrue(load.pages() > 2, "load " + i + " appended " + load.pages());
        }
      }
      for (int i = 0; i < 300; i++) { // too few for a page of their own
        load(db, table, 100_000 + i, 100_001 + i, new byte[20]);
      }
      assertEquals(1 + 19 * 500 + 300, count(db, table));
      assertSound(db, 2 + 19 * 500 + 300);
      assertTrue(db.check().treePages() < 100, "pages: " + db.check().treePages());
    }
  }

  @Test
  void a_load_between_the_rows_of_others_puts_whole_leaves_where_nothing_is() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      byte[] value = new byte[100];
      load(db, table, 0, 100, value);
      load(db, table, 1_000_000, 1_000_100, value);
      for (int time = 0; time < 2; time++) { // the second over the rows of the first
        try (BulkLoad load = db.bulkLoad(table)) {
          for (int i = 1_000; i < 20_000; i++) {
            load.add(key(i), value);
          }
          if (time == 0) {
            assertTrue(load.pages() > 300, load.pages() + " pages");
          } else {
            load.finish();
          }
        }
      }
      assertEquals(19_200, count(db, table));
      assertSound(db, 19_201);
    }
    try (Database db = Samples.open(directory)) {
      assertEquals(19_200, count(db, db.getOrCreateTable("t")));
    }
  }

  /** Rows that were given back what they had before a former life have no writer any more. */
  @Test
  void a_load_between_rows_that_an_aborted_update_has_given_back_takes_none_of_them_away() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      for (int i = 0; i < 1_000; i++) {
        byte[] key = key(2L * i);
        db.run(TransactionOptions.lazy(), tx -> tx.put(table, key, new byte[100]));
      }
    }
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction aborted = db.begin()) {
        for (int i = 0; i < 1_000; i++) {
          aborted.put(table, key(2L * i), new byte[] {1});
        }
      }
      db.cleanNow();
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 300; i < 600; i++) {
          load.add(key(2L * i + 1), new byte[100]);
        }
        load.finish();
      }
      assertEquals(1_300, count(db, table));
      assertSound(db, 1_301);
    }
  }

  @Test
  void a_load_is_invisible_until_it_is_finished_and_then_visible_as_a_whole() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      load(db, table, 0, 10, new byte[10]);
      try (Transaction old = db.begin();
          BulkLoad load = db.bulkLoad(table)) {
        for (int i = 10; i < 5_000; i++) {
          load.add(key(i), new byte[100]);
        }
        assertTrue(load.pages() > 0);
        assertEquals(10, count(db, table));
        assertNull(db.call(tx -> tx.get(table, key(11))));
        load.finish();
        assertEquals(5_000, count(db, table));
        assertEquals(10, count(old, table));
        assertNull(old.get(table, key(4_000)));
      }
      assertSound(db, 5_001);
    }
  }

  @Test
  void an_abandoned_load_leaves_nothing() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 0; i < 5_000; i++) {
          load.add(key(i), new byte[i % 500 == 0 ? 20_000 : 100]);
        }
      }
      assertEquals(0, count(db, table));
      assertSound(db, 1);
      assertEquals(0, db.check().overflowPages());
      load(db, table, 0, 5_000, new byte[100]);
      assertEquals(5_000, count(db, table));
      assertSound(db, 5_001);
    }
  }

  @Test
  void rows_that_are_refused_change_nothing_and_the_load_goes_on() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = db.bulkLoad(table)) {
        load.add(key(1), bytes("one"));
        load.add(key(3), bytes("three"));
        String told =
            assertRefused(LimitException.Reason.KEY_ORDER, () -> load.add(key(2), bytes("x")))
                .getMessage();
        assertTrue(told.contains("ascending") && told.contains("use put"), told);
        assertRefused(LimitException.Reason.KEY_ORDER, () -> load.add(key(3), bytes("again")));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> load.add(new byte[0], bytes("x")));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> load.add(new byte[1025], bytes("x")));
        load.add(key(4), bytes("four"));
        assertEquals(3, load.rows());
        load.finish();
        assertRefused(
            TransactionStateException.Reason.FINISHED, () -> load.add(key(5), bytes("x")));
        assertRefused(TransactionStateException.Reason.FINISHED, load::finish);
      }
      assertEquals(
          List.of("one", "three", "four"),
          db.call(tx -> {
            List<String> values = new ArrayList<>();
            try (Cursor cursor = tx.scan(table, null, null)) {
              while (cursor.next()) {
                values.add(Samples.text(cursor.value()));
              }
            }
            return values;
          }));
      assertSound(db, 4);
    }
  }

  @Test
  void arrays_may_be_used_again() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = db.bulkLoad(table)) {
        ByteBuffer key = ByteBuffer.allocate(8);
        ByteBuffer value = ByteBuffer.allocate(200);
        for (int i = 0; i < 3_000; i++) {
          load.add(key.putLong(0, i).array(), value.putInt(0, i).array());
        }
        load.finish();
      }
      db.run(tx -> {
        for (int i = 0; i < 3_000; i++) {
          byte[] value = tx.get(table, ByteBuffer.allocate(8).putLong(i).array());
          assertEquals(i, ByteBuffer.wrap(assertNotNullValue(value)).getInt());
        }
      });
    }
  }

  private static byte[] assertNotNullValue(byte @org.jspecify.annotations.Nullable [] value) {
    assertNotNull(value);
    return value;
  }

  @Test
  void a_load_of_keys_that_are_there_replaces_them() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      load(db, table, 0, 2_000, bytes("first"));
      load(db, table, 1_000, 3_000, new byte[3_000]);
      load(db, table, 500, 1_500, bytes("third"));
      assertEquals(3_000, count(db, table));
      db.run(tx -> {
        assertArrayEquals(bytes("first"), tx.get(table, key(499)));
        assertArrayEquals(bytes("third"), tx.get(table, key(1_499)));
        assertArrayEquals(new byte[3_000], tx.get(table, key(1_500)));
      });
      assertSound(db, 3_001);
      assertEquals(750, db.check().overflowPages(), "two values a page");
    }
  }

  /** Whoever was first has the row, as for any write; the load is given up as a whole. */
  @Test
  void a_row_of_another_transaction_in_the_way_is_a_conflict() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = db.bulkLoad(table);
          Transaction other = db.begin()) {
        for (int i = 0; i < 3_000; i++) {
          load.add(key(i), new byte[100]);
        }
        other.put(table, key(4_000), bytes("mine"));
        assertThrows(
            ConflictException.class,
            () -> {
              for (int i = 3_000; i < 9_000; i++) {
                load.add(key(i), new byte[100]);
              }
            });
        assertRefused(TransactionStateException.Reason.FINISHED, load::finish);
        other.commit();
      }
      assertEquals(1, count(db, table));
      // Between its keys there is room for others.
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 5_000; i < 15_000; i++) {
          load.add(key(2 * i), new byte[100]);
          if (i % 1_000 == 0) {
            long between = 2 * i + 1_001;
            db.run(tx -> tx.put(table, key(between), bytes("between")));
          }
        }
        load.finish();
        // A run in whose way there is a row goes in row by row, the others whole.
        assertTrue(load.pages() > 5, "appended: " + load.pages());
      }
      assertEquals(1 + 10_000 + 10, count(db, table));
      assertSound(db, 2 + 10_000 + 10);
    }
  }

  @Test
  void a_closed_and_a_read_only_database_report_it() {
    Database db = Samples.open(directory);
    Table table = db.getOrCreateTable("t");
    BulkLoad load = db.bulkLoad(table);
    load.add(key(1), new byte[1]);
    db.close();
    assertThrows(DatabaseClosedException.class, () -> load.add(key(2), new byte[1]));
    assertThrows(DatabaseClosedException.class, load::finish);
    load.close();
    assertThrows(DatabaseClosedException.class, () -> db.bulkLoad(table));
    try (Database again = Samples.open(directory)) {
      assertEquals(0, count(again, again.getOrCreateTable("t")));
      assertThrows(IllegalArgumentException.class, () -> again.bulkLoad(table));
    }
    try (Database reader = Database.open(directory, Samples.SMALL.withReadOnly(true))) {
      Table known = reader.getOrCreateTable("t");
      assertThrows(ReadOnlyDatabaseException.class, () -> reader.bulkLoad(known));
    }
  }

  /** Fences are as long as keys, and every leaf has to keep room for one. */
  @Test
  void keys_and_rows_of_the_largest_size_are_loaded() {
    try (Database db = Samples.open(directory)) {
      int all = 0;
      for (int length : new int[] {0, 200, 938}) {
        Table table = db.getOrCreateTable("t" + length);
        TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
        for (int i = 0; i < 700; i++) {
          byte[] key = new byte[i % 3 == 0 ? 1024 : 1020];
          ByteBuffer.wrap(key).putInt(1016, i);
          rows.put(key, Samples.random(i, i % 5 == 0 ? length : length * 9 / 10));
        }
        try (BulkLoad load = db.bulkLoad(table)) {
          rows.forEach(load::add);
          load.finish();
          assertTrue(load.pages() > 80, "appended: " + load.pages());
        }
        assertSame(db, table, rows);
        all += rows.size() + 1;
      }
      assertSound(db, all);
    }
  }

  /** The fence is as long as the keys, and the leaf that ordinary puts have filled has no room. */
  @Test
  void a_last_leaf_without_room_for_a_fence_is_not_cut() {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
      for (int i = 0; i < 40; i++) {
        rows.put(ByteBuffer.allocate(1000).putInt(990, i).array(), new byte[60]);
      }
      byte[] eighth = new ArrayList<>(rows.keySet()).get(7);
      db.run(tx -> rows.headMap(eighth).forEach((key, value) -> tx.put(table, key, value)));
      db.cleanNow();
      try (BulkLoad load = db.bulkLoad(table)) {
        rows.tailMap(eighth).forEach(load::add);
        load.finish();
        assertTrue(load.pages() > 0, "the later ones are appended");
      }
      assertSame(db, table, rows);
      assertSound(db, 41);
    }
  }

  @Test
  void values_are_streamed_and_a_stream_that_throws_leaves_out_its_row() throws IOException {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      byte[] large = Samples.random(1, 900_000);
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int i = 0; i < 10; i++) {
          load.add(key(i), new ByteArrayInputStream(large, 0, 90_000 * i));
          InputStream broken =
              new SequenceInputStream(
                  new ByteArrayInputStream(large, 0, 70_000 * i),
                  new InputStream() {
                    @Override
                    public int read() throws IOException {
                      throw new IOException("says the test");
                    }
                  });
          long next = i + 1;
          assertThrows(IOException.class, () -> load.add(key(next), broken));
          assertRefused(
              LimitException.Reason.KEY_ORDER,
              () -> load.add(key(0), new ByteArrayInputStream(large)));
          assertRefused(
              LimitException.Reason.KEY_ORDER,
              () ->
                  load.add(
                      key(next),
                      new SequenceInputStream(
                          new ByteArrayInputStream(large),
                          new InputStream() {
                            @Override
                            public int read() {
                              load.add(key(next), bytes("in between"));
                              return -1;
                            }
                          })));
          i++;
        }
        load.finish();
        assertEquals(10, load.rows());
      }
      db.run(tx -> {
        for (int i = 0; i < 10; i += 2) {
          assertArrayEquals(Arrays.copyOf(large, 90_000 * i), tx.get(table, key(i)));
          assertArrayEquals(bytes("in between"), tx.get(table, key(i + 1)));
        }
      });
      assertSound(db, 11);
      long pages = db.check().overflowPages();
      assertTrue(pages < 20 * 90_000 / 8_000 + 20, "of rows that are there alone: " + pages);
    }
  }

  private static void assertSame(Database db, Table table, Map<byte[], byte[]> rows) {
    db.run(tx -> {
      try (Cursor cursor = tx.scan(table, null, null)) {
        for (Map.Entry<byte[], byte[]> row : rows.entrySet()) {
          assertTrue(cursor.next());
          assertArrayEquals(row.getKey(), cursor.key());
          assertArrayEquals(row.getValue(), cursor.value());
        }
        assertTrue(!cursor.next());
      }
    });
  }

  // ---- random loads against a map

  @Test
  void random_loads_are_what_a_map_says() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    int rounds = Integer.getInteger("revenant.rounds", 4);
    for (int round = 0; round < rounds || appended == 0; round++) { // not all row by row
      long seed = first + round;
      System.out.println("BulkLoadTest -Drevenant.seed=" + seed);
      try {
        round(seed);
      } catch (Throwable failure) {
        throw new AssertionError(
            "-Drevenant.seed=" + seed + " -Drevenant.rounds=1: " + failure, failure);
      }
    }
  }

  private void round(long seed) {
    Random random = new Random(seed);
    blocks = 0;
    Path place = directory.resolve("round" + seed);
    TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    Database db = Samples.open(place);
    try {
      for (int step = 0; step < 40; step++) {
        Table table = db.getOrCreateTable("t");
        switch (random.nextInt(8)) {
          case 0 -> db.cleanNow();
          case 1 -> {
            db.close();
            db = Samples.open(place);
          }
          case 2 -> change(db, table, model, random);
          default -> load(db, table, model, random);
        }
        if (step % 10 == 9) {
          assertEquals(List.of(), db.check().problems());
          assertSame(db, db.getOrCreateTable("t"), model);
        }
      }
      assertSame(db, db.getOrCreateTable("t"), model);
      assertSound(db, model.size() + 1);
    } finally {
      db.close();
    }
  }

  private static void change(
      Database db, Table table, TreeMap<byte[], byte[]> model, Random random) {
    db.run(tx -> {
      int share = 2 + random.nextInt(5);
      for (byte[] key : List.copyOf(model.keySet())) {
        int what = random.nextInt(2 * share);
        if (what == 0) {
          tx.delete(table, key);
          model.remove(key);
        } else if (what == 1) {
          byte[] value = Samples.random(random.nextInt(), random.nextInt(1500));
          tx.put(table, key, value);
          model.put(key, value);
        }
      }
    });
  }

  private void load(Database db, Table table, TreeMap<byte[], byte[]> model, Random random) {
    TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
    int prefix = random.nextInt(30);
    int keys = 1 + random.nextInt(40);
    int values = random.nextInt(4) == 0 ? 3_000 : 20 + random.nextInt(300);
    // Mostly behind all others; what was abandoned there before may be in the way, or not.
    int first = random.nextInt(5) == 0 ? random.nextInt(blocks + 1) : blocks;
    blocks += Math.min(1, random.nextInt(4));
    for (int i = random.nextInt(random.nextInt(4) == 0 ? 5 : 1200); i >= 0; i--) {
      byte[] key = new byte[1 + prefix + 4 + random.nextInt(keys)];
      random.nextBytes(key);
      Arrays.fill(key, 0, 1 + prefix, (byte) first);
      rows.put(key, Samples.random(random.nextInt(), random.nextInt(values)));
    }
    if (random.nextInt(50) == 0) {
      rows.put(new byte[] {(byte) first, 1}, Samples.random(1, 300_000));
    }
    boolean abandon = random.nextInt(4) == 0;
    try (BulkLoad load = db.bulkLoad(table, TransactionOptions.lazy())) {
      rows.forEach(load::add);
      if (!abandon) {
        load.finish();
        model.putAll(rows);
      }
      appended += load.pages();
    }
  }

  // ---- beside others

  /**
   * Loads, readers and writers of one table: a reader sees of each load all rows or none, and what
   * it saw once it sees again.
   */
  @Test
  void readers_and_writers_beside_loads_see_whole_loads() throws Exception {
    int loads = 24;
    int rows = 1_500;
    try (Database db = Samples.open(directory);
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      Table table = db.getOrCreateTable("t");
      AtomicBoolean done = new AtomicBoolean();
      List<Future<?>> others = new ArrayList<>();
      for (int reader = 0; reader < 2; reader++) {
        others.add(
            threads.submit(
                (Callable<Void>)
                    () -> {
                      long seen = 0;
                      while (!done.get()) {
                        long now = wholeLoads(db, table, rows);
                        assertTrue(now >= seen);
                        seen = now;
                      }
                      return null;
                    }));
      }
      others.add(
          threads.submit(
              (Callable<Void>)
                  () -> {
                    Random random = new Random(7);
                    while (!done.get()) {
                      long load = random.nextInt(loads);
                      // Odd keys: between those of the loads.
                      byte[] key = key(load * 2 * rows + 2 * random.nextInt(rows) + 1);
                      db.run(
                          TransactionOptions.lazy(),
                          tx -> {
                            if (tx.exists(table, key(load * 2 * rows))) {
                              tx.put(table, key, new byte[200]);
                            }
                          });
                    }
                    return null;
                  }));
      try {
        for (long load = 0; load < loads; load++) {
          try (BulkLoad bulk = db.bulkLoad(table, TransactionOptions.lazy())) {
            for (int i = 0; i < rows; i++) {
              bulk.add(key(load * 2 * rows + 2 * i), new byte[i % 211 == 0 ? 9_000 : 100]);
            }
            if (load % 5 != 4) {
              bulk.finish();
            }
          }
        }
      } finally {
        done.set(true);
      }
      for (Future<?> other : others) {
        other.get();
      }
      assertEquals(loads - loads / 5, wholeLoads(db, table, rows));
      db.cleanNow();
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      assertEquals(0, report.pagesToClean());
    }
  }

  private static long wholeLoads(Database db, Table table, int rows) {
    long loads = 0;
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      long load = -1;
      long found = 0;
      while (cursor.next()) {
        long number = ByteBuffer.wrap(cursor.key()).getLong();
        if (number % 2 != 0) {
          continue;
        }
        if (number / (2L * rows) != load) {
          assertTrue(load < 0 || found == rows, found + " rows of load " + load);
          load = number / (2L * rows);
          found = 0;
          loads++;
        }
        found++;
      }
      assertTrue(load < 0 || found == rows, found + " rows of load " + load);
    }
    return loads;
  }
}
