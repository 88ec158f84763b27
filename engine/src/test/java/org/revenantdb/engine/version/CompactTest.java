package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CompactReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;

/**
 * A data file that becomes smaller while the database is in use.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
class CompactTest {
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults().withPoolBytes(4L << 20).withDurability(Durability.LAZY);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private static byte[] value(Random random, boolean large) {
    byte[] value = new byte[large ? random.nextInt(100_000) : random.nextInt(600)];
    random.nextBytes(value);
    return value;
  }

  private Path path() {
    return directory.resolve("db");
  }

  private long fileBytes() throws IOException {
    return Files.size(path().resolve("revenant.data"));
  }

  private static void assertRows(
      Database database, Table table, NavigableMap<byte[], byte[]> model) {
    try (Transaction tx = database.begin();
        Cursor rows = tx.scan(table, null, null)) {
      for (Map.Entry<byte[], byte[]> row : model.entrySet()) {
        assertTrue(rows.next());
        assertArrayEquals(row.getKey(), rows.key());
        assertArrayEquals(row.getValue(), rows.value());
      }
      assertFalse(rows.next());
    }
    assertEquals(List.of(), database.check().problems());
  }

  @Test
  void the_file_shrinks_grows_again_and_survives_reopening() throws IOException {
    System.out.println("CompactTest -Drevenant.seed=" + seed);
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    for (int life = 0; life < 3; life++) {
      try (Database database = Database.open(path(), OPTIONS)) {
        Table table = database.getOrCreateTable("t");
        assertRows(database, table, model);
        database.run(tx -> {
          for (int i = 0; i < 4000; i++) {
            byte[] value = value(random, i % 40 == 0); // so an eighth of all bytes stays, too
            tx.put(table, key(i), value);
            model.put(key(i), value);
          }
        });
        database.run(tx -> tx.deleteRange(table, null, key(3500)));
        model.headMap(key(3500)).clear();
        database.sync();
        long before = fileBytes();
        CompactReport report = database.compact();
        System.out.println(before + " -> " + report);
        assertEquals(before - report.bytesGivenBack(), fileBytes());
        assertEquals(report.fileBytes(), fileBytes());
        assertTrue(report.fileBytes() < before / 3, "from " + before + ": " + report);
        assertEquals(0, database.compact().pagesMoved());
        assertRows(database, table, model);
      }
    }
    try (Database database = Database.open(path(), OPTIONS.withReadOnly(true))) {
      assertRows(database, database.getOrCreateTable("t"), model);
      assertThrows(ReadOnlyDatabaseException.class, database::compact);
    }
  }

  @Test
  void a_file_of_several_groups_is_cut_in_the_middle_of_one_and_at_the_border_grows_back()
      throws IOException {
    try (Database database = Database.open(path(), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      byte[] large = new byte[50 << 20];
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
          byte[] key = key(i);
          database.run(tx -> tx.put(table, key, large));
        }
        assertTrue(fileBytes() > 2L * 8128 * 8192);
        database.run(tx -> tx.delete(table, key(0)));
        database.sync();
        database.compact();
        assertEquals(List.of(), database.check().problems());
        assertTrue(fileBytes() < 102 << 20, "it has " + fileBytes());
        database.run(tx -> tx.deleteRange(table, null, null));
        database.sync();
        database.compact();
        assertEquals(List.of(), database.check().problems());
        assertTrue(fileBytes() < 1 << 20, "it has " + fileBytes());
      }
    }
  }

  /** A database of this content alone, compacted. */
  private long freshBytes(String name, int rows, int partitions) throws IOException {
    Path fresh = directory.resolve(name);
    try (Database database = Database.open(fresh, OPTIONS)) {
      Table table = database.getOrCreateTable("late", TableOptions.hashPartitioned(partitions));
      database.run(tx -> fillLate(tx, table, rows));
      database.sync();
      database.compact();
      return Files.size(fresh.resolve("revenant.data"));
    }
  }

  private static void fillLate(Transaction tx, Table table, int rows) {
    for (int i = 0; i < rows; i++) {
      tx.put(table, key(i), new byte[500]);
    }
  }

  /** On one page, and with an inner root, and with extents of its own; and partitions. */
  @Test
  void a_table_that_was_created_when_the_file_was_large_does_not_keep_it_large()
      throws IOException {
    int number = 0;
    for (int rows : new int[] {5, 60, 3000}) {
      for (int partitions : new int[] {1, 16}) {
        directory = Files.createDirectory(directory.resolve("round " + number++));
        long fresh = freshBytes("fresh", rows, partitions);
        try (Database database = Database.open(path(), OPTIONS)) {
          Table early = database.getOrCreateTable("early");
          database.run(tx -> {
            for (int i = 0; i < 4000; i++) {
              tx.put(early, key(i), new byte[900]);
            }
          });
          Table late = database.getOrCreateTable("late", TableOptions.hashPartitioned(partitions));
          database.run(tx -> fillLate(tx, late, rows));
          database.dropTable("early");
          database.sync();
          CompactReport report = database.compact();
          String what = rows + " rows, " + partitions + " partitions: " + report;
          assertTrue(fileBytes() <= fresh + 3 * 8 * 8192, what + ", fresh " + fresh);
          assertEquals(0, database.compact().pagesMoved(), what);
          assertEquals(List.of(), database.check().problems());
        }
        try (Database database = Database.open(path(), OPTIONS)) {
          Table late = database.findTable("late");
          database.run(tx -> assertEquals(rows, tx.count(late, null, null)));
          assertEquals(List.of(), database.check().problems());
        }
      }
    }
  }

  @Test
  void leaves_that_hold_little_are_merged() {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (Database database = Database.open(path(), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> {
        for (int i = 0; i < 20_000; i++) {
          tx.put(table, key(i), new byte[200]);
        }
      });
      database.run(tx -> {
        for (int i = 0; i < 20_000; i++) {
          if (i % 3 == 0) {
            model.put(key(i), new byte[200]);
          } else {
            tx.delete(table, key(i));
          }
        }
      });
      database.sync();
      database.cleanNow();
      long before = database.check().treePages();
      database.compact();
      long after = database.check().treePages();
      assertTrue(after < before * 2 / 3, before + " pages of trees, then " + after);
      assertRows(database, table, model);
    }
  }

  /** Each thread has keys of its own, and knows what is there. */
  @Test
  @Tag("slow")
  void writers_scans_and_streams_go_on_beside_compaction() throws Exception {
    System.out.println("CompactTest -Drevenant.seed=" + seed);
    int threads = 4;
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    List<NavigableMap<byte[], byte[]>> models = new ArrayList<>();
    AtomicBoolean ended = new AtomicBoolean();
    try (Database database = Database.open(path(), OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      List<Thread> workers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        models.add(model);
        int first = t * 100_000;
        Random own = new Random(seed + t);
        Thread worker =
            new Thread(() -> {
              try {
                for (int round = 0; round < 12; round++) {
                  work(database, table, model, first, own);
                }
              } catch (Throwable failure) {
                failures.add(failure);
              }
            });
        worker.start();
        workers.add(worker);
      }
      Thread compactor =
          new Thread(() -> {
            long moved = 0;
            long cut = 0;
            try {
              while (!ended.get()) {
                CompactReport report = database.compact();
                moved += report.pagesMoved();
                cut += report.bytesGivenBack();
              }
            } catch (Throwable failure) {
              failures.add(failure);
            }
            System.out.println(moved + " pages moved, " + cut + " bytes given back");
          });
      compactor.start();
      for (Thread worker : workers) {
        worker.join();
      }
      ended.set(true);
      compactor.join();
      for (Throwable failure : failures) {
        throw new AssertionError("-Drevenant.seed=" + seed + ": " + failure, failure);
      }
      database.sync();
      database.compact();
    }
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    models.forEach(all::putAll);
    try (Database database = Database.open(path(), OPTIONS)) {
      assertRows(database, database.getOrCreateTable("t"), all);
    }
  }

  private static void work(
      Database database,
      Table table,
      NavigableMap<byte[], byte[]> model,
      int first,
      Random random) {
    NavigableMap<byte[], byte[]> next = new TreeMap<>(model);
    boolean commit = random.nextInt(4) > 0;
    try (Transaction tx = database.begin()) {
      for (int i = random.nextInt(400); i >= 0; i--) {
        byte[] key = key(first + random.nextInt(1500));
        byte[] value = value(random, random.nextInt(40) == 0);
        tx.put(table, key, value);
        next.put(key, value);
      }
      byte[] from = key(first + random.nextInt(1500));
      byte[] to = key(first + 1500);
      long there = next.subMap(from, to).size();
      assertEquals(there, tx.deleteRange(table, from, to));
      next.subMap(from, to).clear();
      if (commit) {
        tx.commit();
        model.clear();
        model.putAll(next);
      }
    }
    try (Transaction tx = database.begin();
        Cursor rows = tx.scan(table, key(first), key(first + 100_000))) {
      for (Map.Entry<byte[], byte[]> row : model.entrySet()) {
        assertTrue(rows.next());
        assertArrayEquals(row.getKey(), rows.key());
        assertArrayEquals(row.getValue(), rows.value());
      }
      assertFalse(rows.next());
    }
  }
}
