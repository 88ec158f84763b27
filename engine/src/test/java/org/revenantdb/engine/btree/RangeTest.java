package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.access.ApiAccess;

/**
 * Cursors that seek, counts, and deletes of a range, against a plain map.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
public class RangeTest {
  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private Database database;
  private Table table;

  @BeforeEach
  void open() {
    System.out.println(getClass().getSimpleName() + " -Drevenant.seed=" + seed);
    database =
        Database.open(
            directory.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4L << 20).withDurability(Durability.LAZY));
    table = database.getOrCreateTable("t", options(random));
  }

  /** How the table is laid out. */
  public TableOptions options(Random choice) {
    return TableOptions.defaults();
  }

  @AfterEach
  void checkAndClose() {
    assertEquals(List.of(), database.check().problems());
    database.close();
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** About one in a hundred is large. */
  private byte[] value() {
    byte[] value = new byte[random.nextInt(100) == 0 ? 20_000 : random.nextInt(120)];
    random.nextBytes(value);
    return value;
  }

  private void fill(int rows, int step) {
    database.run(tx -> {
      for (int i = 0; i < rows; i++) {
        tx.put(table, key(i * step), value());
      }
    });
  }

  private static boolean rangeIsEmpty(byte @Nullable [] from, byte @Nullable [] to) {
    return from != null && to != null && Arrays.compareUnsigned(from, to) >= 0;
  }

  private static NavigableMap<byte[], byte[]> range(
      NavigableMap<byte[], byte[]> model, byte @Nullable [] from, byte @Nullable [] to) {
    if (rangeIsEmpty(from, to)) {
      return new TreeMap<>(Arrays::compareUnsigned);
    }
    NavigableMap<byte[], byte[]> part = from == null ? model : model.tailMap(from, true);
    return to == null ? part : part.headMap(to, false);
  }

  private byte @Nullable [] bound(int limit) {
    return switch (random.nextInt(5)) {
      case 0 -> null;
      case 1 -> new byte[0];
      case 2 -> Arrays.copyOf(key(random.nextInt(limit)), 1 + random.nextInt(6));
      default -> key(random.nextInt(limit));
    };
  }

  @Test
  void seek_count_and_deleteRange_against_a_map_with_the_transactions_own_writes() {
    NavigableMap<byte[], byte[]> committed = new TreeMap<>(Arrays::compareUnsigned);
    int limit = 3000;
    for (int round = 0; round < 40; round++) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(committed);
      try (Transaction tx = database.begin()) {
        for (int step = 0; step < 12; step++) {
          step(tx, model, limit);
        }
        if (random.nextInt(4) > 0) {
          tx.commit();
          committed = model;
        }
      }
      if (random.nextInt(4) == 0) {
        database.cleanNow();
      }
    }
  }

  private void step(Transaction tx, NavigableMap<byte[], byte[]> model, int limit) {
    switch (random.nextInt(6)) {
      case 0, 1 -> {
        int first = random.nextInt(limit);
        for (int i = random.nextInt(300); i >= 0; i--) {
          byte[] value = value();
          tx.put(table, key(first + i), value);
          model.put(key(first + i), value);
        }
      }
      case 2 -> {
        byte[] from = key(random.nextInt(limit));
        byte[] to = key(random.nextInt(limit));
        NavigableMap<byte[], byte[]> part = range(model, from, to);
        assertEquals(part.size(), tx.deleteRange(table, from, to));
        part.clear();
      }
      case 3 -> {
        byte[] from = bound(limit);
        byte[] to = bound(limit);
        assertEquals(range(model, from, to).size(), tx.count(table, from, to));
      }
      default -> walk(tx, model, limit);
    }
    assertEquals(model.size(), tx.count(table, null, null));
  }

  /** A cursor that goes on and seeks, while the transaction writes. */
  private void walk(Transaction tx, NavigableMap<byte[], byte[]> model, int limit) {
    byte[] from = bound(limit);
    byte[] to = bound(limit);
    boolean descending = random.nextBoolean();
    try (Cursor cursor =
        descending ? tx.scanDescending(table, from, to) : tx.scan(table, from, to)) {
      for (int i = 0; i < 30; i++) {
        if (random.nextInt(4) == 0) {
          byte[] key = key(random.nextInt(limit));
          byte[] value = value();
          tx.put(table, key, value);
          model.put(key, value);
        }
        NavigableMap<byte[], byte[]> part = range(model, from, to);
        part = descending ? part.descendingMap() : part;
        byte[] target = bound(limit);
        byte[] wanted = target == null ? key(random.nextInt(limit)) : target;
        Map.Entry<byte[], byte[]> expected = part.ceilingEntry(wanted);
        assertEquals(expected != null, cursor.seek(wanted), "there is such a row");
        for (int more = random.nextInt(random.nextInt(10) == 0 ? 400 : 4);
            more >= 0 && expected != null;
            more--) {
          assertArrayEquals(expected.getKey(), cursor.key());
          assertArrayEquals(expected.getValue(), cursor.value());
          expected = part.higherEntry(expected.getKey());
          assertEquals(expected != null, cursor.next());
        }
        if (expected == null) {
          assertFalse(cursor.next());
        }
      }
    }
  }

  @Test
  void a_seek_comes_back_from_behind_the_end_and_stays_within_the_range() {
    fill(1000, 2);
    try (Transaction tx = database.begin();
        Cursor up = tx.scan(table, key(100), key(200));
        Cursor down = tx.scanDescending(table, key(100), key(200))) {
      assertFalse(up.seek(key(200)));
      assertFalse(up.next());
      assertTrue(up.seek(key(0)));
      assertArrayEquals(key(100), up.key());
      assertTrue(up.seek(key(101)));
      assertArrayEquals(key(102), up.key());
      assertTrue(up.next());
      assertArrayEquals(key(104), up.key());
      assertTrue(down.seek(key(5000)));
      assertArrayEquals(key(198), down.key());
      assertTrue(down.seek(key(151)));
      assertArrayEquals(key(150), down.key());
      assertFalse(down.seek(key(99)));
      assertFalse(down.seek(new byte[0]));
      assertTrue(down.seek(key(100)));
      assertArrayEquals(key(100), down.key());
      assertFalse(down.next());
    }
  }

  @Test
  void a_seek_within_the_batch_reads_no_page() {
    fill(30, 1);
    database.sync();
    database.cleanNow(); // from now on nobody else reads pages
    try (Transaction tx = database.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      assertTrue(cursor.next());
      long before = database.statistics().pool().hits() + database.statistics().pool().misses();
      for (int i : new int[] {20, 3, 29, 0, 15}) {
        assertTrue(cursor.seek(key(i)));
        assertArrayEquals(key(i), cursor.key());
      }
      assertEquals(
          before, database.statistics().pool().hits() + database.statistics().pool().misses());
    }
  }

  @Test
  void a_snapshot_counts_what_it_sees_while_others_commit() {
    fill(2000, 1);
    try (Transaction old = database.begin()) {
      database.run(tx -> assertEquals(500, tx.deleteRange(table, key(0), key(500))));
      database.run(tx -> {
        for (int i = 1000; i < 1100; i++) {
          tx.put(table, key(i), value());
          tx.put(table, key(100_000 + i), value());
        }
      });
      database.run(tx -> tx.deleteRange(table, key(1000), key(1050)));
      database.cleanNow();
      assertEquals(2000, old.count(table, null, null));
      assertEquals(1550, database.<Long>call(tx -> tx.count(table, null, null)));
    }
  }

  @Test
  void a_conflict_that_is_there_before_changes_nothing_and_the_transaction_goes_on() {
    fill(1000, 1);
    try (Transaction mine = database.begin();
        Transaction other = database.begin()) {
      other.put(table, key(700), value());
      assertThrows(ConflictException.class, () -> mine.deleteRange(table, null, null));
      assertEquals(1000, mine.count(table, null, null));
      other.commit();
      assertThrows(ConflictException.class, () -> mine.deleteRange(table, key(700), null));
      assertEquals(700, mine.deleteRange(table, null, key(700)));
      mine.commit();
    }
    assertEquals(300, database.<Long>call(tx -> tx.count(table, null, null)));
  }

  @Test
  void rows_that_others_insert_are_no_conflict_for_a_snapshot_that_does_not_see_them() {
    fill(100, 2);
    try (Transaction mine = database.begin();
        Transaction other = database.begin()) {
      other.put(table, key(33), value());
      database.run(tx -> tx.put(table, key(35), value()));
      assertEquals(100, mine.deleteRange(table, null, null));
      mine.commit();
      other.commit();
    }
    assertEquals(2, database.<Long>call(tx -> tx.count(table, null, null)));
  }

  @Test
  void a_conflict_that_comes_half_way_leaves_a_transaction_that_can_only_be_rolled_back() {
    fill(1000, 1);
    Transaction mine = database.begin();
    assertThrows(
        ConflictException.class,
        () ->
            ApiAccess.api()
                .deleteRange(
                    mine,
                    table,
                    null,
                    null,
                    () -> database.run(other -> other.put(table, key(700), new byte[] {7}))));
    assertRefused(
        TransactionStateException.Reason.ROLLBACK_ONLY, () -> mine.count(table, null, null));
    assertRefused(TransactionStateException.Reason.ROLLBACK_ONLY, mine::commit);
    mine.rollback();
    assertEquals(1000, database.<Long>call(tx -> tx.count(table, null, null)));
  }
}
