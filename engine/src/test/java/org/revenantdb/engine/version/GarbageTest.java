package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.Samples;

/**
 * Older versions of rows beside long readers, many sessions and none (docs/protocols.md §39).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run, as far as threads let it.
 */
class GarbageTest {
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withDurability(Durability.LAZY)
          .withMaxRecoveryPages(1 << 16)
          .withPoolBytes(64L << 20);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  GarbageTest() {
    System.out.println("GarbageTest -Drevenant.seed=" + seed);
  }

  private static byte[] key(int row) {
    return ByteBuffer.allocate(4).putInt(row).array();
  }

  private static byte[] value(int number) {
    return ByteBuffer.allocate(100).putInt(number).array();
  }

  private static int number(byte[] value) {
    return ByteBuffer.wrap(value).getInt();
  }

  private static void put(Database db, Table table, int row, int number) {
    try (Transaction tx = db.begin()) {
      tx.put(table, key(row), value(number));
      tx.commit();
    }
  }

  private static long inMemory(Database db) {
    return Samples.versionsInMemory(db.statistics());
  }

  private static long heldByTheOldest(Database db) {
    return Objects.requireNonNull(db.statistics().versions().oldestSnapshot()).versions();
  }

  /**
   * An insert has no predecessor: a reader that does not see the row knows that from its writer.
   */
  @Test
  void neither_inserts_nor_a_bulk_load_leave_a_version() {
    try (Database db = Database.open(directory.resolve("db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      Table loaded = db.getOrCreateTable("loaded");
      try (Transaction reader = db.begin()) {
        assertEquals(0, reader.count(table, null, null));
        try (Transaction tx = db.begin()) {
          for (int row = 0; row < 10_000; row++) {
            tx.put(table, key(row), value(row));
          }
          tx.commit();
        }
        try (BulkLoad load = db.bulkLoad(loaded, TransactionOptions.lazy())) {
          for (int row = 0; row < 10_000; row++) {
            load.add(key(row), value(row));
          }
          load.finish();
        }
        assertEquals(0, reader.count(table, null, null));
        assertEquals(0, reader.count(loaded, null, null));
        assertEquals(0, db.statistics().versions().added());
        assertEquals(0, db.statistics().versions().memoryBytes());
      }
    }
  }

  /** There are no more writes to these rows, and the snapshots that needed the versions end. */
  @Test
  void versions_of_untouched_rows_are_dropped_when_the_last_snapshot_that_needs_them_has_ended() {
    try (Database db = Database.open(directory.resolve("db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      int rows = 2_000;
      for (int row = 0; row < rows; row++) {
        put(db, table, row, 0);
      }
      Transaction old = db.begin();
      assertEquals(rows, old.count(table, null, null));
      for (int row = 0; row < rows; row++) {
        put(db, table, row, 1);
      }
      Transaction young = db.begin();
      assertEquals(rows, young.count(table, null, null));
      for (int number = 2; number < 5; number++) {
        for (int row = 0; row < rows; row++) {
          put(db, table, row, number);
        }
      }
      db.cleanNow();
      assertEquals(2 * rows, inMemory(db));
      assertEquals(rows, heldByTheOldest(db), "the others are for the younger one");
      try (Transaction third = db.begin()) {
        assertEquals(rows, third.count(table, null, null));
        put(db, table, 7, 5);
        put(db, table, 7, 6);
      }
      db.cleanNow();
      assertEquals(
          2 * rows, inMemory(db), "one of very many, and only its own snapshot knew of it");
      young.close();
      db.cleanNow();
      assertEquals(rows, inMemory(db), "the oldest snapshot is still there");
      assertEquals(rows, heldByTheOldest(db));
      assertArrayEquals(value(0), old.get(table, key(rows - 1)));
      old.close();
      db.cleanNow();
      assertEquals(0, inMemory(db));
      assertEquals(0, db.statistics().versions().memoryBytes());
      assertEquals(0, db.statistics().versions().chainExcess());
    }
  }

  @Test
  void one_long_reader_beside_many_updates_keeps_one_version_of_each_row() {
    try (Database db = Database.open(directory.resolve("db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      int rows = 100;
      for (int row = 0; row < rows; row++) {
        put(db, table, row, -1);
      }
      try (Transaction reader = db.begin()) {
        assertEquals(rows, reader.count(table, null, null));
        long most = 0;
        for (int update = 0; update < 40_000; update++) {
          put(db, table, update % rows, update);
          if (update % 100 == 0) {
            most = Math.max(most, db.statistics().versions().memoryBytes());
          }
        }
        // The reader and the writer: two snapshots.
        assertTrue(db.statistics().versions().longestChain() <= 2);
        assertEquals(0, db.statistics().versions().chainExcess());
        assertTrue(inMemory(db) <= 2 * rows);
        assertTrue(most <= 2L * rows * 300, most + " bytes");
        for (int row = 0; row < rows; row++) {
          assertArrayEquals(value(-1), reader.get(table, key(row)));
        }
      }
    }
  }

  /** Writers move what is in one row to another, so each snapshot sees the same sum. */
  @Test
  void
      with_many_more_threads_than_processors_no_snapshot_loses_a_version_and_no_chain_exceeds_its_set()
          throws Exception {
    int rows = 20;
    int writers = 48;
    int readers = 16;
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    try (Database db = Database.open(directory.resolve("db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      for (int row = 0; row < rows; row++) {
        put(db, table, row, 1_000);
      }
      AtomicInteger committed = new AtomicInteger();
      CountDownLatch begun = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < writers + readers; thread++) {
        boolean writes = thread < writers;
        Random random = new Random(seed + thread);
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  try {
                    begun.await();
                    while (committed.get() < 4_000 && failures.isEmpty()) {
                      if (writes) {
                        move(db, table, random, rows, committed);
                      } else {
                        look(db, table, random, rows, committed);
                      }
                    }
                  } catch (Throwable failure) {
                    failures.add(failure);
                  }
                }));
      }
      begun.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
      assertEquals(0, db.statistics().versions().chainExcess());
      db.cleanNow();
      assertEquals(0, inMemory(db));
      assertEquals(0, db.statistics().versions().memoryBytes());
    }
  }

  private static void move(
      Database db, Table table, Random random, int rows, AtomicInteger committed) {
    int from = random.nextInt(rows);
    int to = (from + 1 + random.nextInt(rows - 1)) % rows;
    try (Transaction tx = db.begin()) {
      int moved = random.nextInt(10);
      tx.put(table, key(from), value(number(tx.get(table, key(from))) - moved));
      tx.put(table, key(to), value(number(tx.get(table, key(to))) + moved));
      if (random.nextInt(8) > 0) {
        tx.commit();
        committed.incrementAndGet();
      }
    } catch (ConflictException another) {
      Thread.yield();
    }
  }

  private static void look(
      Database db, Table table, Random random, int rows, AtomicInteger committed) {
    try (Transaction reader = db.begin()) {
      int until = committed.get() + random.nextInt(200);
      do {
        int sum = 0;
        for (int row = 0; row < rows; row++) {
          sum += number(reader.get(table, key(row)));
        }
        assertEquals(rows * 1_000, sum);
      } while (committed.get() < Math.min(until, 4_000));
    }
  }
}
