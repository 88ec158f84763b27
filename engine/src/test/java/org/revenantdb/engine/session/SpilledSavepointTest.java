package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Savepoints of a transaction that overwrites more than memory has room for (R14, docs/protocols.md
 * §28, §30).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class SpilledSavepointTest {
  private static final int KEYS = 200;

  /** 64 KiB for what is overwritten. */
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults().withVersionMemory(1 << 20).withDurability(Durability.LAZY);

  private static final long LIMIT = 64 * 1024;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();

  SpilledSavepointTest() {
    System.out.println("SpilledSavepointTest -Drevenant.seed=" + seed);
  }

  private Path path() {
    return faulty.wrap(directory).resolve("db");
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private long spilledBytes() {
    try (Stream<Path> there = Files.list(directory.resolve("db"))) {
      return there
          .filter(file -> file.getFileName().toString().startsWith("savepoints-"))
          .mapToLong(file -> file.toFile().length())
          .sum();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private record Saved(Savepoint savepoint, List<Map<Integer, byte[]>> rows, long overwritten) {}

  private static List<Map<Integer, byte[]>> copy(List<Map<Integer, byte[]>> rows) {
    return new ArrayList<>(rows.stream().map(TreeMap::new).toList());
  }

  @Test
  void R14_ten_times_the_limit_comes_back_to_each_of_many_savepoints() {
    try (Database db = Database.open(path(), OPTIONS)) {
      List<Table> tables = List.of(db.getOrCreateTable("a"), db.getOrCreateTable("b"));
      List<Map<Integer, byte[]>> rows = List.of(new TreeMap<>(), new TreeMap<>());
      for (int round = 0; round < 3; round++) {
        try (Transaction tx = db.begin()) {
          List<Saved> saved = new ArrayList<>();
          List<Map<Integer, byte[]>> now = copy(rows);
          long overwritten = 0;
          long most = 0;
          for (int step = 0; most < 10 * LIMIT || step < 3_000; step++) {
            int of = random.nextInt(2);
            int row = random.nextInt(KEYS);
            switch (random.nextInt(300)) {
              case 0 -> saved.add(new Saved(tx.savepoint(), copy(now), overwritten));
              case 1 -> {
                if (overwritten > 10 * LIMIT && !saved.isEmpty()) {
                  int to = random.nextInt(saved.size());
                  saved.subList(to + 1, saved.size()).clear();
                  tx.rollbackTo(saved.get(to).savepoint());
                  now = copy(saved.get(to).rows());
                  overwritten = saved.get(to).overwritten();
                  assertRows(tx, tables, now);
                }
              }
              case 2, 3, 4, 5 -> {
                tx.delete(tables.get(of), key(row));
                now.get(of).remove(row);
              }
              case 6 -> {
                byte[] large = value(5_000); // in overflow pages
                tx.put(tables.get(of), key(row), large);
                now.get(of).put(row, large);
              }
              default -> {
                byte[] was = now.get(of).get(row);
                byte[] value = value(random.nextInt(1_000));
                tx.put(tables.get(of), key(row), value);
                now.get(of).put(row, value);
                overwritten += saved.isEmpty() || was == null ? 0 : was.length;
              }
            }
            most = Math.max(most, overwritten);
          }
          assertTrue(spilledBytes() > 0);
          while (!saved.isEmpty()) {
            int to = random.nextInt(saved.size());
            saved.subList(to + 1, saved.size()).clear();
            Saved back = saved.removeLast();
            tx.rollbackTo(back.savepoint());
            now = copy(back.rows());
            assertRows(tx, tables, now);
          }
          if (round == 1) {
            tx.rollback();
          } else {
            tx.commit();
            rows = now;
          }
        }
        assertEquals(0, spilledBytes(), "at the end of the transaction");
        List<Map<Integer, byte[]>> committed = rows;
        db.run(tx -> assertRows(tx, tables, committed));
      }
      assertEquals(List.of(), db.check().problems());
    }
  }

  private static void assertRows(
      Transaction tx, List<Table> tables, List<Map<Integer, byte[]>> rows) {
    for (int of = 0; of < tables.size(); of++) {
      for (int row = 0; row < KEYS; row++) {
        assertRow(row, rows.get(of).get(row), tx.get(tables.get(of), key(row)));
      }
    }
  }

  @Test
  void a_full_disk_fails_the_statement_before_it_changes_anything_and_nothing_is_lost() {
    AtomicBoolean fails = new AtomicBoolean();
    faulty.hook(event -> {
      if (fails.get()
          && event.kind() == IoEvent.Kind.WRITE
          && event.file().toString().contains("savepoints-")) {
        throw new IOException("No space left on device");
      }
    });
    for (boolean hasFile : new boolean[] {true, false}) {
      try (Database db = Database.open(path(), OPTIONS)) {
        Table table = db.getOrCreateTable("t" + hasFile);
        try (Transaction tx = db.begin()) {
          byte[] first = value(500);
          for (int row = 0; row < KEYS; row++) {
            tx.put(table, key(row), first);
          }
          Savepoint savepoint = tx.savepoint();
          overwrite(tx, table, hasFile ? 1_000 : 10);
          assertEquals(hasFile, spilledBytes() > 0);
          fails.set(true);
          int refused = 0;
          for (int i = 0; i < 1_000 && refused < 3; i++) {
            byte[] was = tx.get(table, key(i % KEYS));
            try {
              tx.put(table, key(i % KEYS), value(500));
            } catch (StorageException told) {
              refused++;
              assertEquals(StorageException.Reason.DISK_FULL, told.reason(), told::toString);
              assertTrue(told.getMessage().contains("savepoints-"), told::getMessage);
              assertArrayEquals(was, tx.get(table, key(i % KEYS)));
            }
          }
          assertEquals(3, refused);
          tx.rollbackTo(savepoint); // needs no room there
          assertAll(tx, table, first);
          fails.set(false);
          overwrite(tx, table, 1_000);
          tx.rollbackTo(savepoint);
          tx.commit();
          db.run(check -> assertAll(check, table, first));
        }
        assertEquals(0, spilledBytes());
      }
    }
  }

  private void overwrite(Transaction tx, Table table, int times) {
    for (int i = 0; i < times; i++) {
      tx.put(table, key(i % KEYS), value(500));
    }
  }

  private static void assertAll(Transaction tx, Table table, byte[] value) {
    for (int row = 0; row < KEYS; row++) {
      assertArrayEquals(value, tx.get(table, key(row)), "row " + row);
    }
  }

  @Test
  void what_cannot_be_read_back_leaves_a_transaction_that_can_go_back_later() {
    AtomicBoolean fails = new AtomicBoolean();
    faulty.hook(event -> {
      if (fails.get()
          && event.kind() == IoEvent.Kind.READ
          && event.file().toString().contains("savepoints-")) {
        throw new IOException("Input/output error");
      }
    });
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        byte[] first = value(500);
        for (int row = 0; row < KEYS; row++) {
          tx.put(table, key(row), first);
        }
        Savepoint savepoint = tx.savepoint();
        for (int i = 0; i < 1_000; i++) {
          tx.put(table, key(i % KEYS), value(500));
        }
        fails.set(true);
        assertThrows(StorageException.class, () -> tx.rollbackTo(savepoint));
        fails.set(false);
        tx.rollbackTo(savepoint);
        for (int row = 0; row < KEYS; row++) {
          assertArrayEquals(first, tx.get(table, key(row)));
        }
        tx.commit();
      }
      assertEquals(0, spilledBytes());
    }
  }

  @Test
  void the_file_goes_with_the_last_savepoint_and_with_the_database() {
    Database db = Database.open(path(), OPTIONS);
    Table table = db.getOrCreateTable("t");
    Transaction tx = db.begin();
    for (int end = 0; end < 2; end++) {
      Savepoint savepoint = tx.savepoint();
      Thread.currentThread().interrupt();
      for (int i = 0; i < 1_000; i++) {
        tx.put(table, key(i % KEYS), value(500));
      }
      assertTrue(Thread.interrupted());
      assertTrue(spilledBytes() > 0);
      if (end == 0) {
        tx.release(savepoint);
        assertEquals(0, spilledBytes());
      }
    }
    db.close(); // with the transaction open
    assertEquals(0, spilledBytes());
    assertFalse(Files.exists(directory.resolve("db").resolve("savepoints-2.spill")));
  }
}
