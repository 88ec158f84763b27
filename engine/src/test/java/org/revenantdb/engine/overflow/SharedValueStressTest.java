package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * Values that share pages, written, replaced, deleted, rolled back and streamed by many threads
 * beside the cleaner, compactions and checks (docs/protocols.md §26).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run, as far as threads let it.
 */
class SharedValueStressTest {
  private static final int THREADS = 6;
  private static final int KEYS = 40;
  private static final int ROUNDS = 1_200;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(int thread, int i) {
    return ByteBuffer.allocate(8).putInt(i).putInt(thread).array();
  }

  /** A value that shows its row, and whose bytes all follow from its length and version. */
  private static byte[] value(int thread, int i, int version, int length) {
    byte[] value = new byte[length];
    new Random((long) thread << 48 | (long) i << 32 | version).nextBytes(value);
    return value;
  }

  @Test
  void every_thread_finds_its_last_write() throws Exception {
    System.out.println("SharedValueStressTest -Drevenant.seed=" + seed);
    AtomicBoolean done = new AtomicBoolean();
    DatabaseOptions options = DatabaseOptions.defaults().withCleanerThreads(1 + (int) (seed % 3));
    try (Database db = Database.open(directory.resolve("db"), options);
        ExecutorService threads = Executors.newCachedThreadPool()) {
      Table table = db.getOrCreateTable("t");
      List<Future<Long>> writers = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        writers.add(threads.submit(() -> write(db, table, thread)));
      }
      Callable<Void> keeper =
          () -> {
            while (!done.get()) {
              db.compact();
              assertEquals(List.of(), db.check().problems());
            }
            return null;
          };
      Future<Void> kept = threads.submit(keeper);
      long rows = 0;
      try {
        for (Future<Long> writer : writers) {
          rows += writer.get();
        }
      } finally {
        done.set(true);
      }
      kept.get();
      db.sync(); // deleted rows stay until that is durable
      db.cleanNow();
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      assertEquals(rows + 1, report.rows(), "the catalogue has one");
    }
  }

  /** Rows of its own, beside those of others on the same leaves and pages; how many are left. */
  private long write(Database db, Table table, int thread) throws Exception {
    Random random = new Random(seed + thread);
    byte[][] expected = new byte[KEYS][];
    for (int round = 0; round < ROUNDS; round++) {
      int i = random.nextInt(KEYS);
      byte[] key = key(thread, i);
      switch (random.nextInt(8)) {
        case 0 -> {
          db.run(lazily(random), tx -> tx.delete(table, key));
          expected[i] = null;
        }
        case 1 -> {
          try (Transaction tx = db.begin()) {
            tx.put(table, key, value(thread, i, round, 1_500 + random.nextInt(5_000)));
            tx.rollback();
          }
        }
        case 2, 3 -> read(db, table, key, expected[i]);
        default -> {
          byte[] value =
              value(thread, i, round, random.nextInt(20) == 0 ? 20_000 : random.nextInt(6_000));
          db.run(lazily(random), tx -> tx.put(table, key, value));
          expected[i] = value;
        }
      }
    }
    long rows = 0;
    for (int i = 0; i < KEYS; i++) {
      read(db, table, key(thread, i), expected[i]);
      rows += expected[i] == null ? 0 : 1;
    }
    return rows;
  }

  private static TransactionOptions lazily(Random random) {
    return random.nextInt(50) == 0 ? TransactionOptions.durable() : TransactionOptions.lazy();
  }

  /** Some as a stream, in pieces, while others write. */
  private static void read(
      Database db, Table table, byte[] key, byte @org.jspecify.annotations.Nullable [] expected)
      throws Exception {
    try (Transaction tx = db.begin(TransactionOptions.lazy())) {
      if (expected == null) {
        assertEquals(null, tx.get(table, key));
        return;
      }
      try (InputStream in = Objects.requireNonNull(tx.open(table, key))) {
        byte[] first = in.readNBytes(expected.length / 2);
        Thread.yield();
        byte[] rest = in.readAllBytes();
        byte[] all = ByteBuffer.allocate(first.length + rest.length).put(first).put(rest).array();
        assertArrayEquals(expected, all);
      }
    }
  }
}
