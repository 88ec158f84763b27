package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.testing.Drawn;

/**
 * Eight threads, platform and virtual, on a small hot range of keys through the public API, with a
 * pool of 4 MiB. A row of each transaction numbers the commits, so that every snapshot names the
 * commits that it has to see, and shows exactly those.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
@Tag("stress")
class ConcurrencyStressTest {
  private static final int THREADS = 8;
  private static final int COMMITS = 60;
  private static final int HOT = 40;
  private static final int RANGES = 6;
  private static final int RANGE = 60;

  @TempDir Path directory;

  /** What a transaction wrote: null where it deleted. */
  private record Commit(NavigableMap<byte[], byte @Nullable []> writes) {}

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  /** By number. Entered before the commit, taken away if that fails. */
  private final ConcurrentSkipListMap<Long, Commit> history = new ConcurrentSkipListMap<>();

  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger conflicts = new AtomicInteger();

  private static byte[] key(int i) {
    return ("common/prefix/of/all/keys/%06d".formatted(i)).getBytes();
  }

  private static byte[] number(long n) {
    return ByteBuffer.allocate(8).putLong(n).array();
  }

  @Test
  @Drawn(oneIn = 2)
  void R19_eight_threads_see_their_snapshots_and_no_deadlock() throws InterruptedException {
    stress(TableOptions.defaults());
  }

  @Test
  @Drawn(oneIn = 2)
  void R19_eight_threads_see_their_snapshots_of_a_table_with_partitions()
      throws InterruptedException {
    stress(TableOptions.hashPartitioned(7));
  }

  private void stress(TableOptions layout) throws InterruptedException {
    System.out.println("ConcurrencyStressTest -Drevenant.seed=" + seed);
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(4L << 20);
    try (Database database = Database.open(directory.resolve("db"), options)) {
      Table rows = database.getOrCreateTable("rows", layout);
      Table counter = database.getOrCreateTable("counter");
      database.run(tx -> tx.put(counter, key(0), number(0)));
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + t);
        Runnable work = () -> work(database, rows, counter, random);
        threads.add(
            t % 2 == 0
                ? Thread.ofPlatform().name("stress-" + t).start(work)
                : Thread.ofVirtual().name("stress-" + t).start(work));
      }
      Thread watchdog =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                try {
                  Thread.sleep(100_000);
                  Thread.getAllStackTraces()
                      .forEach((thread, stack) ->
                          System.out.println(thread + " " + Arrays.toString(stack)));
                } catch (InterruptedException e) {
                  // all is well
                }
              });
      for (Thread thread : threads) {
        thread.join();
      }
      watchdog.interrupt();
      for (Throwable failure : failures) {
        throw new AssertionError("-Drevenant.seed=" + seed + ": " + failure, failure);
      }
      try (Transaction tx = database.begin()) {
        verify(tx, rows, counter, /* descending= */ true);
      }
      database.cleanNow();
      CheckReport report = database.check();
      assertEquals(List.of(), report.problems());
      assertEquals(0, report.pagesToClean());
      assertEquals(0, database.statistics().commits().abortedPending());
    }
    try (Database database = Database.open(directory.resolve("db"), options)) {
      Table counter = database.getOrCreateTable("counter");
      try (Transaction tx = database.begin()) {
        verify(tx, database.getOrCreateTable("rows"), counter, /* descending= */ false);
      }
      assertEquals(List.of(), database.check().problems());
    }
  }

  @Test
  void tables_made_by_many_threads_at_once_are_made_once() throws InterruptedException {
    try (Database database = Database.open(directory.resolve("tables"))) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int number = t;
        threads.add(
            Thread.ofVirtual()
                .start(() -> {
                  try {
                    for (int i = 0; i < 30; i++) {
                      int table = i;
                      Table made =
                          database.getOrCreateTable("a long name of a table ".repeat(20) + i);
                      database.run(tx -> tx.put(made, key(number), number(table)));
                    }
                  } catch (Throwable failure) {
                    failures.add(failure);
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
      assertEquals(30, database.tableNames().size());
      try (Transaction tx = database.begin()) {
        for (int i = 0; i < 30; i++) {
          Table table = database.getOrCreateTable("a long name of a table ".repeat(20) + i);
          for (int t = 0; t < THREADS; t++) {
            byte[] value = tx.get(table, key(t));
            assertEquals(i, value == null ? -1 : ByteBuffer.wrap(value).getLong());
          }
        }
      }
      assertEquals(List.of(), database.check().problems());
    }
  }

  private void work(Database database, Table rows, Table counter, Random random) {
    try {
      for (int done = 0; done < COMMITS && failures.isEmpty(); ) {
        if (random.nextInt(3) == 0) {
          try (Transaction tx = database.begin()) {
            verify(tx, rows, counter, random.nextBoolean());
          }
        }
        if (random.nextInt(40) == 0) {
          assertEquals(List.of(), database.check().problems());
        }
        if (transaction(database, rows, counter, random)) {
          done++;
        }
      }
    } catch (Throwable failure) {
      failures.add(failure);
    }
  }

  /** One try; whether it committed. The counter makes the commits one after the other. */
  private boolean transaction(Database database, Table rows, Table counter, Random random) {
    NavigableMap<byte[], byte @Nullable []> writes = new TreeMap<>(Arrays::compareUnsigned);
    try (Transaction tx = database.begin()) {
      if (random.nextInt(6) == 0) {
        // A range goes, or comes: the counter last, so that its rows meet others before.
        int first = HOT + RANGE * random.nextInt(RANGES);
        boolean delete = random.nextBoolean();
        for (int i = first; i < first + RANGE; i++) {
          if (delete) {
            tx.delete(rows, key(i));
            writes.put(key(i), null);
          } else {
            put(tx, rows, key(i), random.nextInt(1200), random, writes);
          }
        }
      } else {
        for (int i = random.nextInt(4); i >= 0; i--) {
          byte[] key = key(random.nextInt(HOT));
          switch (random.nextInt(8)) {
            case 0 -> {
              tx.delete(rows, key);
              writes.put(key, null);
            }
            case 1 -> put(tx, rows, key, random.nextInt(60_000), random, writes);
            default -> put(tx, rows, key, random.nextInt(900), random, writes);
          }
        }
      }
      if (random.nextInt(6) == 0) {
        tx.rollback();
        return false;
      }
      long number = ByteBuffer.wrap(tx.get(counter, key(0))).getLong() + 1;
      tx.put(counter, key(0), number(number));
      // Nobody else has this number now: others wait for our end, or conflict.
      history.put(number, new Commit(writes));
      tx.commit();
      return true;
    } catch (ConflictException e) {
      conflicts.incrementAndGet();
      Thread.yield();
      return false;
    }
  }

  private static void put(
      Transaction tx,
      Table rows,
      byte[] key,
      int length,
      Random random,
      NavigableMap<byte[], byte @Nullable []> writes) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    tx.put(rows, key, value);
    writes.put(key, value);
  }

  private void verify(Transaction tx, Table rows, Table counter, boolean descending) {
    long last = ByteBuffer.wrap(tx.get(counter, key(0))).getLong();
    NavigableMap<byte[], byte[]> expected = new TreeMap<>(Arrays::compareUnsigned);
    for (Commit commit : history.headMap(last, true).values()) {
      commit
          .writes()
          .forEach((key, value) -> {
            if (value == null) {
              expected.remove(key);
            } else {
              expected.put(key, value);
            }
          });
    }
    NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    byte[] before = null;
    try (Cursor cursor =
        descending ? tx.scanDescending(rows, null, null) : tx.scan(rows, null, null)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        if (before != null && Arrays.compareUnsigned(before, key) >= 0 != descending) {
          throw new AssertionError("rows are out of order");
        }
        before = key;
        found.put(key, cursor.value());
      }
    }
    assertEquals(expected.keySet(), found.keySet(), "rows of snapshot " + last);
    expected.forEach((key, value) -> {
      if (!Arrays.equals(value, found.get(key))) {
        throw new AssertionError("row " + new String(key) + " of snapshot " + last);
      }
    });
  }
}
