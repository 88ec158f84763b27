package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.buffer.PoisonedFrames;
import org.revenantdb.testing.Drawn;

/**
 * Inserts, deletes, reads and scans in both directions over few pages, which are split, merged,
 * freed, evicted and used again all the time, in a pool of the smallest size whose frames are
 * overwritten when they lose their page; with checks beside all that, and one at the end.
 *
 * <p>Each key belongs to one thread, which knows what it has committed: so every answer about it is
 * known, in every snapshot of that thread. A value tells which key it belongs to and is made of one
 * number, so what a scan shows of other threads' rows can be judged as well.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
class PageReuseStressTest {
  private static final int THREADS = 6;
  private static final int KEYS = 480;
  private static final int RANGE = 50;

  /** Rows of an unchanged table that is larger than the pool: reads of it evict other pages. */
  private static final int BALLAST = 3_000;

  private static final int BALLAST_READS = 12;

  /** Reads of anybody's rows, while their owners change them. */
  private static final int OTHERS_READS = 2_500;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

  private final DatabaseOptions options =
      DatabaseOptions.defaults()
          .withPoolBytes(2 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(8 << 20)
          .withDurability(Durability.LAZY)
          .withCleanerThreads(1 + (int) (seed % 3));

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void every_key_is_as_its_owner_left_it() throws InterruptedException {
    run(/* transactions= */ 100);
  }

  @Test
  @Tag("slow")
  void every_key_is_as_its_owner_left_it_for_long() throws InterruptedException {
    assumeTrue(Boolean.getBoolean("revenant.long"), "only in the long form");
    run(/* transactions= */ 20_000);
  }

  private void run(int transactions) throws InterruptedException {
    System.out.println("PageReuseStressTest -Drevenant.seed=" + seed);
    List<Owner> owners = new ArrayList<>();
    try (PoisonedFrames poisoned = new PoisonedFrames();
        Database database = Database.open(directory.resolve("db"), options)) {
      Table ballast = database.getOrCreateTable("ballast");
      database.run(tx -> {
        for (int i = 0; i < BALLAST; i++) {
          tx.put(ballast, key(i), value(key(i), i, 300));
        }
      });
      List<Thread> threads = new ArrayList<>();
      for (int number = 0; number < THREADS; number++) {
        Owner owner = new Owner(number, database, transactions);
        owners.add(owner);
        threads.add(
            number % 2 == 0 ? Thread.ofPlatform().start(owner) : Thread.ofVirtual().start(owner));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      for (Throwable failure : failures) {
        throw new AssertionError("-Drevenant.seed=" + seed + ": " + failure, failure);
      }
      DatabaseStatistics did = database.statistics();
      assertTrue(
          did.files().splits() > 20 && did.files().merges() > 20 && did.pool().evictions() > 1_000,
          "" + did);
      verify(database, owners);
      database.cleanNow();
      verify(database, owners);
    }
    try (PoisonedFrames poisoned = new PoisonedFrames();
        Database database = Database.open(directory.resolve("db"), options)) {
      verify(database, owners);
    }
  }

  private void verify(Database database, List<Owner> owners) {
    CheckReport report = database.check();
    String story = "-Drevenant.seed=" + seed;
    assertEquals(List.of(), report.problems(), story);
    assertEquals(List.of(), report.warnings(), story);
    long rows = owners.stream().mapToLong(owner -> owner.committed.size()).sum();
    List<CheckedTable> tables = report.contents();
    assertEquals(List.of("ballast", "t"), tables.stream().map(CheckedTable::name).toList(), story);
    assertEquals(BALLAST, tables.get(0).visibleRows(), story);
    assertEquals(rows, tables.get(1).visibleRows(), story);
    NavigableMap<byte[], byte[]> expected = new TreeMap<>(Arrays::compareUnsigned);
    owners.forEach(owner -> expected.putAll(owner.committed));
    try (Transaction tx = database.begin()) {
      scan(tx, database.getOrCreateTable("t"), null, null, /* descending= */ true, -1, expected);
    }
  }

  private static byte[] key(int i) {
    return "common/prefix/%05d".formatted(i).getBytes();
  }

  private static int owner(byte[] key) {
    return Integer.parseInt(new String(key, 14, 5)) % THREADS;
  }

  /** Its key, and then one number over and over. */
  private static byte[] value(byte[] key, int number, int length) {
    ByteBuffer value = ByteBuffer.allocate(key.length + 4 * length).put(key);
    while (value.hasRemaining()) {
      value.putInt(number);
    }
    return value.array();
  }

  private static void demandWhole(byte[] key, byte[] value) {
    boolean whole =
        value.length >= key.length && Arrays.equals(key, 0, key.length, value, 0, key.length);
    ByteBuffer rest = ByteBuffer.wrap(value);
    rest.position(Math.min(key.length, value.length));
    int number = rest.remaining() >= 4 ? rest.getInt(rest.position()) : 0;
    while (whole && rest.hasRemaining()) {
      whole = rest.remaining() >= 4 && rest.getInt() == number;
    }
    if (!whole) {
      throw new AssertionError("the value of row " + new String(key) + " is not one that was put");
    }
  }

  /** Everything in a range that is this owner's, or anyone's with -1, has to be as expected. */
  private static void scan(
      Transaction tx,
      Table table,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean descending,
      int of,
      NavigableMap<byte[], byte[]> expected) {
    NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    byte[] before = null;
    try (Cursor cursor =
        descending ? tx.scanDescending(table, from, to) : tx.scan(table, from, to)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        if (before != null && Arrays.compareUnsigned(before, key) >= 0 != descending) {
          throw new AssertionError("a scan goes back at " + new String(key));
        }
        before = key;
        demandWhole(key, value);
        if (of < 0 || owner(key) == of) {
          found.put(key, value);
        }
      }
    }
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((key, value) ->
        assertTrue(Arrays.equals(value, found.get(key)), () -> "row " + new String(key)));
  }

  /** One thread, its keys, and what it has committed. */
  private final class Owner implements Runnable {
    final NavigableMap<byte[], byte[]> committed = new TreeMap<>(Arrays::compareUnsigned);
    private final int number;
    private final Database database;
    private final Table table;
    private final Table ballast;
    private final Random random;
    private final int transactions;

    Owner(int number, Database database, int transactions) {
      this.number = number;
      this.database = database;
      this.table = database.getOrCreateTable("t");
      this.ballast = database.getOrCreateTable("ballast");
      this.random = new Random(seed + number);
      this.transactions = transactions;
    }

    @Override
    public void run() {
      try {
        for (int i = 0; i < transactions && failures.isEmpty(); i++) {
          write();
          read();
          if (random.nextInt(transactions) < 3) {
            assertEquals(List.of(), database.check().problems());
          }
          if (random.nextInt(60) == 0) {
            database.cleanNow();
          }
        }
      } catch (Throwable failure) {
        failures.add(failure);
      }
    }

    private int anyKey() {
      return random.nextInt(KEYS / THREADS) * THREADS + number;
    }

    private void write() {
      NavigableMap<byte[], byte[]> after = new TreeMap<>(committed);
      try (Transaction tx = database.begin()) {
        if (random.nextInt(3) == 0) {
          boolean delete = random.nextBoolean();
          int first = anyKey();
          for (int i = first; i < Math.min(KEYS, first + RANGE * THREADS); i += THREADS) {
            if (delete) {
              delete(tx, key(i), after);
            } else {
              put(tx, key(i), random.nextInt(300), after);
            }
          }
        } else {
          for (int i = random.nextInt(4); i >= 0; i--) {
            switch (random.nextInt(8)) {
              case 0, 1 -> delete(tx, key(anyKey()), after);
              case 2 -> put(tx, key(anyKey()), random.nextInt(4_000), after);
              default -> put(tx, key(anyKey()), random.nextInt(500), after);
            }
          }
        }
        if (random.nextInt(5) == 0) {
          tx.rollback();
        } else {
          tx.commit();
          committed.clear();
          committed.putAll(after);
        }
      }
    }

    private void put(Transaction tx, byte[] key, int length, NavigableMap<byte[], byte[]> after) {
      byte[] value = value(key, random.nextInt(), length);
      tx.put(table, key, value);
      after.put(key, value);
    }

    private void delete(Transaction tx, byte[] key, NavigableMap<byte[], byte[]> after) {
      tx.delete(table, key);
      after.remove(key);
    }

    private void read() {
      try (Transaction tx = database.begin()) {
        for (int i = 0; i < BALLAST_READS; i++) {
          int row = random.nextInt(BALLAST);
          byte[] key = key(row);
          byte[] expected = value(key, row, 300);
          assertTrue(Arrays.equals(expected, tx.get(ballast, key)), () -> "row " + new String(key));
        }
        for (int i = 0; i < OTHERS_READS; i++) {
          byte[] key = key(random.nextInt(KEYS));
          byte[] found = tx.get(table, key);
          if (found != null) {
            demandWhole(key, found);
          }
        }
        for (int i = 0; i < 6; i++) {
          byte[] key = key(anyKey());
          byte[] expected = committed.get(key);
          byte[] found = tx.get(table, key);
          assertTrue(Arrays.equals(expected, found), () -> "row " + new String(key));
        }
        byte[] from = key(random.nextInt(KEYS));
        byte[] to = key(random.nextInt(KEYS + 50));
        if (Arrays.compareUnsigned(from, to) < 0) {
          scan(
              tx,
              table,
              from,
              to,
              random.nextBoolean(),
              number,
              committed.subMap(from, true, to, false));
        }
      }
    }
  }
}
