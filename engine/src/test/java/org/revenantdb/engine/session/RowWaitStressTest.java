package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.txn.RowWaiters;

/**
 * Many that wait for rows at the same time (docs/protocols.md §32).
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices of a run.
 */
@Tag("stress")
class RowWaitStressTest {
  private static final Duration LONG = Duration.ofHours(1);

  /** The transaction is rolled back. */
  private static final class GivenUp extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(int key) {
    return ("k" + key).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  private static long number(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  private static void add(Transaction tx, Table table, int key, long what) {
    byte[] now = Objects.requireNonNull(tx.get(table, key(key)));
    tx.put(table, key(key), number(number(now) + what));
  }

  private static RowWaiters waiters(Database db) {
    try (Transaction tx = db.begin()) {
      return ApiAccess.api().core(tx).engine().storage().transactions().rowWaiters();
    }
  }

  @Test
  void R27_a_hundred_threads_on_one_row_lose_nothing_and_need_few_attempts() throws Exception {
    int threads = 100;
    int each = 5;
    AtomicLong attempts = new AtomicLong();
    try (Database db = Samples.open(directory.resolve("db"));
        ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> tx.put(table, key(1), number(0)));
      long forces = db.statistics().files().forces();
      TransactionOptions waits =
          TransactionOptions.durable().withDeferReadWaitsToCommit(true).withLockTimeout(LONG);
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        done.add(
            pool.submit(() -> {
              for (int j = 0; j < each; j++) {
                db.run(
                    waits,
                    tx -> {
                      attempts.incrementAndGet();
                      add(tx, table, 1, 1);
                    });
              }
            }));
      }
      for (Future<?> one : done) {
        one.get();
      }
      int increments = threads * each;
      try (Transaction tx = db.begin()) {
        assertEquals(increments, number(Objects.requireNonNull(tx.get(table, key(1)))));
      }
      long forced = db.statistics().files().forces() - forces;
      System.out.println(
          increments + " increments, " + attempts + " attempts, " + forced + " forces");
      // If each end of a transaction woke all, an increment would need a hundred attempts.
      assertTrue(attempts.get() <= 10L * increments, attempts + " attempts");
      assertTrue(forced <= 3L * increments + 100, forced + " forces");
    }
  }

  @Test
  void transfers_between_rows_and_tables_lose_nothing_and_end() throws Exception {
    System.out.println("revenant.seed " + seed);
    int threads = 8;
    int keys = 6;
    int rounds = 150;
    AtomicLong deadlocks = new AtomicLong();
    try (Database db = Samples.open(directory.resolve("db"))) {
      List<Table> tables = List.of(db.getOrCreateTable("one"), db.getOrCreateTable("two"));
      db.run(tx -> {
        for (Table table : tables) {
          for (int key = 0; key < keys; key++) {
            tx.put(table, key(key), number(1_000));
          }
        }
      });
      waiters(db).slice(LONG.toNanos());
      TransactionOptions waits = TransactionOptions.lazy().withLockTimeout(LONG);
      try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          Random random = new Random(seed + i);
          done.add(
              pool.submit(() -> {
                for (int round = 0; round < rounds; round++) {
                  try {
                    transfer(db, waits, tables, keys, random, deadlocks);
                  } catch (GivenUp rolledBack) {
                    // nothing of it is left
                  }
                }
              }));
        }
        for (Future<?> one : done) {
          one.get();
        }
      }
      long sum = 0;
      try (Transaction tx = db.begin()) {
        for (Table table : tables) {
          for (int key = 0; key < keys; key++) {
            sum += number(Objects.requireNonNull(tx.get(table, key(key))));
          }
        }
      }
      assertEquals(2L * keys * 1_000, sum);
      assertEquals(0, waiters(db).sleeping());
      System.out.println(deadlocks + " deadlocks");
      assertTrue(db.check().isSound());
    }
  }

  /** Takes something from one row, and gives it to others; some roll back, as a whole or a part. */
  private static void transfer(
      Database db,
      TransactionOptions options,
      List<Table> tables,
      int keys,
      Random random,
      AtomicLong deadlocks) {
    int rows = 2 + random.nextInt(3);
    int[] key = random.ints(rows, 0, keys).toArray();
    int[] table = random.ints(rows, 0, tables.size()).toArray();
    boolean locks = random.nextInt(3) == 0;
    boolean goesBack = random.nextInt(4) == 0;
    boolean rollsBack = random.nextInt(6) == 0;
    db.run(
        options,
        tx -> {
          try {
            if (locks) {
              tx.lockForUpdate(tables.get(table[0]), key(key[0]));
            }
            if (goesBack) {
              Savepoint savepoint = tx.savepoint();
              add(tx, tables.get(table[1]), key[1], 77);
              tx.rollbackTo(savepoint);
            }
            add(tx, tables.get(table[0]), key[0], -(rows - 1));
            for (int row = 1; row < rows; row++) {
              add(tx, tables.get(table[row]), key[row], 1);
            }
            if (rollsBack) {
              throw new GivenUp();
            }
          } catch (ConflictException found) {
            if (found.reason() == ConflictReason.DEADLOCK) {
              deadlocks.incrementAndGet();
            }
            throw found;
          }
        });
  }
}
