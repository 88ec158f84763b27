package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.log.LogOptions;

/**
 * Tables with extents of their own and large values come and go, beside writers and checks, with
 * the least log and the fewest pages that a restart may have to read: no thread waits for ever
 * (R17), rows are those of a model, checks find nothing, and all pages come back.
 *
 * <p>{@code -Drevenant.seed=n} repeats what is done, not when.
 */
class DropAtTheBoundsTest {
  private static final int SEGMENT = Samples.MIB;
  private static final long RECOVERY = 4L * SEGMENT;
  private static final int DROPPERS = 2;
  private static final int WRITERS = 2;
  private static final int ROUNDS = 4;

  /** Of a table that is dropped: twenty leaves and more, so it has extents. */
  private static final int ROWS = 400;

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(4 * Samples.MIB)
          .withLogSegmentBytes(SEGMENT)
          .withMaxRecoveryLog(RECOVERY)
          .withMaxLogSize(LogOptions.smallestLogSize(RECOVERY, SEGMENT))
          .withMaxRecoveryPages(256)
          .withDurability(Durability.LAZY);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  /** How many droppers have not ended. */
  private final AtomicInteger running = new AtomicInteger(DROPPERS);

  /** Rows by number, each with the seed of its value, which says how long it is, too. */
  private static final class Model {
    final NavigableMap<Integer, Integer> rows = new TreeMap<>();
    private final Database db;
    private final Random random;

    Model(Database db, Random random) {
      this.db = db;
      this.random = random;
    }

    static byte[] key(int row) {
      return bytes("key%06d".formatted(row));
    }

    /** One of sixteen is a large one. */
    static byte[] value(int seed) {
      int length = seed % 16 == 3 ? 9_000 + seed % 90_000 : 100 + seed % 900;
      return random(seed, length);
    }

    int nextValue() {
      return random.nextInt(1 << 20);
    }

    /** Some changes in one transaction, of rows from one on and below another. */
    void change(Table table, int from, int to) {
      Map<Integer, Integer> now = new TreeMap<>(rows);
      try (Transaction tx = db.begin()) {
        for (int i = 1 + random.nextInt(30); i > 0; i--) {
          int row = from + random.nextInt(to - from);
          if (random.nextInt(4) == 0) {
            tx.delete(table, key(row));
            now.remove(row);
          } else {
            int value = nextValue();
            tx.put(table, key(row), value(value));
            now.put(row, value);
          }
        }
        if (random.nextInt(5) == 0) {
          tx.rollback();
          return;
        }
        tx.commit();
      }
      rows.clear();
      rows.putAll(now);
    }

    void load(Table table) {
      try (BulkLoad load = db.bulkLoad(table)) {
        for (int row = 0; row < ROWS; row++) {
          int value = nextValue();
          load.add(key(row), value(value));
          rows.put(row, value);
        }
        load.finish();
      }
    }

    void put(Table table) {
      for (int from = 0; from < ROWS; from += 40) {
        int first = from;
        db.run(tx -> {
          for (int row = first; row < first + 40; row++) {
            int value = nextValue();
            tx.put(table, key(row), value(value));
            rows.put(row, value);
          }
        });
      }
    }

    /** The rows from one on and below another. */
    void check(Table table, int from, int to) {
      NavigableMap<Integer, Integer> left = new TreeMap<>(rows.subMap(from, to));
      try (Transaction tx = db.begin();
          Cursor cursor = tx.scan(table, key(from), key(to))) {
        while (cursor.next()) {
          Map.Entry<Integer, Integer> next = left.pollFirstEntry();
          assertTrue(next != null, "a row too many");
          assertArrayEquals(key(next.getKey()), cursor.key());
          assertArrayEquals(value(next.getValue()), cursor.value(), "row " + next.getKey());
        }
      }
      assertEquals(Map.of(), left, "rows that are missing");
    }
  }

  @Test
  void R17_tables_come_and_go_with_the_least_log_and_the_fewest_pages() throws Exception {
    play(OPTIONS, WaitClass.PAGE_CREDIT);
  }

  /** A pool that cannot hold them lowers the number of pages further. */
  @Test
  void R17_tables_come_and_go_in_the_smallest_pool() throws Exception {
    play(OPTIONS.withPoolBytes(2 * Samples.MIB), WaitClass.PAGE_CREDIT);
  }

  /** Else pages are always short before the log is. */
  @Test
  void R17_tables_come_and_go_with_the_least_log_and_many_pages() throws Exception {
    DatabaseOptions manyPages =
        OPTIONS.withPoolBytes(32 * Samples.MIB).withMaxRecoveryPages(1 << 16);
    play(manyPages, WaitClass.LOG_CREDIT);
  }

  /**
   * The writers go on until a thread has waited for scarce credit; else the test has shown nothing.
   */
  private void play(DatabaseOptions options, WaitClass scarce) throws Exception {
    System.out.println(getClass().getSimpleName() + " -Drevenant.seed=" + seed);
    try (Database db = Database.open(directory.resolve("db"), options)) {
      Table kept = db.getOrCreateTable("kept");
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < DROPPERS; i++) {
        int number = i;
        all.add(start(() -> comeAndGo(db, number)));
      }
      for (int i = 0; i < WRITERS; i++) {
        int number = i;
        all.add(start(() -> write(db, kept, number, scarce)));
      }
      while (running.get() > 0) {
        assertEquals(List.of(), db.check().problems());
      }
      for (CompletableFuture<Void> one : all) {
        one.get();
      }
      assertEquals(List.of("kept"), db.tableNames());
      assertTrue(db.dropTable("kept"));
      assertNothingLeft(db);
      assertPagesCanBeTaken(db);
    }
    try (Database db = Database.open(directory.resolve("db"), options)) {
      assertNothingLeft(db);
    }
  }

  private static CompletableFuture<Void> start(Runnable work) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try {
            work.run();
            done.complete(null);
          } catch (Throwable failure) {
            done.completeExceptionally(failure);
          }
        });
    return done;
  }

  private void comeAndGo(Database db, int number) {
    Random random = new Random(seed + number);
    String name = "goes" + number;
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Model model = new Model(db, random);
        TableOptions options =
            random.nextInt(3) == 0 ? TableOptions.hashPartitioned(3) : TableOptions.defaults();
        Table table = db.getOrCreateTable(name, options);
        if (random.nextBoolean()) {
          model.load(table);
        } else {
          model.put(table);
        }
        for (int i = 0; i < 5; i++) {
          model.change(table, 0, ROWS);
        }
        model.check(table, 0, ROWS);
        assertTrue(db.dropTable(name));
        if (random.nextBoolean()) {
          db.cleanNow(); // else the next table is filled beside the removal of this one
        }
      }
    } finally {
      running.getAndDecrement();
    }
  }

  /** Goes on until no table comes and goes any more and somebody has waited. */
  private void write(Database db, Table kept, int number, WaitClass scarce) {
    Model model = new Model(db, new Random(seed - 1 - number));
    int first = number * 100;
    while (running.get() > 0 || db.waitStatistics().of(scarce).count() == 0) {
      model.change(kept, first, first + 100);
    }
    model.check(kept, first, first + 100);
  }

  private static void assertNothingLeft(Database db) {
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(List.of(), db.tableNames());
    assertEquals(1, report.treePages(), "the catalogue's");
    assertEquals(0, report.overflowPages());
    assertEquals(0, report.pagesToClean());
  }

  /** What has come back is taken again: the file need not grow, as soon as one had room in it. */
  private void assertPagesCanBeTaken(Database db) {
    long pages = 0;
    for (int round = 0; round < 3; round++) {
      new Model(db, new Random(seed)).put(db.getOrCreateTable("again"));
      assertTrue(db.dropTable("again"));
      assertNothingLeft(db);
      if (round == 0) {
        pages = db.statistics().files().dataFilePages();
      }
    }
    assertEquals(pages, db.statistics().files().dataFilePages());
  }
}
