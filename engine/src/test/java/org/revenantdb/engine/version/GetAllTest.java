package org.revenantdb.engine.version;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.text;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.KeyBatch;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/**
 * Several keys in one statement: the answers are those of single reads, whatever happens to the
 * rows meanwhile.
 */
class GetAllTest {
  private static final int KEYS = 3_000;

  @TempDir Path folder;

  private Database db;

  @BeforeEach
  void open() {
    db = Samples.open(folder.resolve("db"));
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** Regression: the value was looked for in a part of the buffer that the statement before had. */
  @Test
  void an_empty_value_is_read_through_a_batch_that_had_many_values() {
    Table table = db.createTable("t");
    Table many = db.createTable("many");
    db.run(tx -> {
      tx.put(table, bytes("b"), new byte[10]);
      tx.put(table, bytes("c"), new byte[500]);
      tx.put(table, bytes("aaaaa1"), bytes("x"));
      tx.put(
          table, bytes("aaaaa2"), new byte[0]); // its cell ends where that of its neighbour begins
      for (int i = 0; i < 60; i++) {
        tx.put(many, bytes("%02d".formatted(i)), new byte[100]);
      }
    });
    KeyBatch batch = new KeyBatch();
    for (int i = 0; i < 60; i++) {
      batch.add(bytes("%02d".formatted(i)));
    }
    assertEquals(60, lengths(many, batch).size());
    batch.clear();
    batch.add(bytes("aaaaa2"));
    batch.add(bytes("b"));
    assertEquals(List.of(0, 10), lengths(table, batch));
  }

  private List<Integer> lengths(Table table, KeyBatch batch) {
    List<Integer> lengths = new ArrayList<>();
    db.run(tx -> tx.getAll(table, batch, (_, _, _, length) -> lengths.add(length)));
    return lengths;
  }

  @Test
  void keys_whose_first_bytes_are_alike_are_found_and_those_between_them_are_not() {
    Table table = db.createTable("t");
    Random random = new Random(7);
    List<byte[]> there = new ArrayList<>();
    db.run(tx -> {
      for (int customer = 0; customer < 3; customer++) {
        for (int order = 0; order < 200; order += 2) {
          byte[] key = pair(customer, order);
          there.add(key);
          tx.put(table, key, pair(order, customer));
        }
      }
    });
    List<byte[]> wanted = new ArrayList<>(there);
    for (int customer = 0; customer < 4; customer++) {
      for (int order = -1; order < 202; order += 2) {
        wanted.add(pair(customer, order));
      }
    }
    Collections.shuffle(wanted, random);
    db.run(tx -> {
      List<byte @Nullable []> all = tx.getAll(table, wanted);
      for (int i = 0; i < wanted.size(); i++) {
        assertArrayEquals(tx.get(table, wanted.get(i)), all.get(i));
      }
    });
  }

  private static byte[] pair(long first, long second) {
    return ByteBuffer.allocate(16).putLong(first).putLong(second).array();
  }

  private static byte[] key(int row) {
    return bytes("row" + row);
  }

  private static KeyBatch batch(List<byte[]> keys) {
    KeyBatch batch = new KeyBatch();
    keys.forEach(batch::add);
    return batch;
  }

  private static List<@Nullable String> texts(List<byte @Nullable []> values) {
    List<@Nullable String> texts = new ArrayList<>();
    values.forEach(value -> texts.add(text(value)));
    return texts;
  }

  @Test
  void values_are_in_the_order_of_the_keys_with_null_where_there_is_no_row() {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> {
      tx.put(table, bytes("a"), bytes("1"));
      tx.put(table, bytes("b"), bytes("2"));
      tx.put(table, bytes("c"), bytes(""));
      tx.put(table, bytes("d"), bytes("4"));
    });
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("b"), bytes("own"));
      tx.delete(table, bytes("d"));
      List<byte[]> keys =
          List.of(
              bytes("d"), bytes("b"), bytes("0"), bytes("z"), bytes("a"), bytes("b"), bytes("c"));
      assertEquals(
          Arrays.asList(null, "own", null, null, "1", "own", ""), texts(tx.getAll(table, keys)));
      assertEquals(List.of(), tx.getAll(table, List.of()));
      assertThrows(LimitException.class, () -> tx.getAll(table, List.of(bytes("a"), new byte[0])));
      assertEquals("own", text(tx.get(table, bytes("b"))));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void a_visitor_receives_the_rows_that_exist_in_the_order_of_the_table(int partitions) {
    TableOptions options =
        partitions == 1 ? TableOptions.defaults() : TableOptions.hashPartitioned(partitions);
    Table table = db.getOrCreateTable("t", options);
    db.run(tx -> {
      for (int row = 10; row < 30; row++) {
        tx.put(table, key(row), bytes("value" + row));
      }
      tx.put(table, key(20), new byte[100_000]); // in pages of its own
    });
    KeyBatch keys = batch(List.of(key(29), key(5), key(20), key(11), key(29), key(12)));
    db.run(tx -> {
      List<String> visited = new ArrayList<>();
      tx.getAll(
          table,
          keys,
          (index, bytes, offset, length) -> {
            String value = length > 10 ? "" : new String(bytes, offset, length, UTF_8);
            visited.add(index + ":" + length + value + text(tx.get(table, key(13))));
          });
      assertEquals(
          List.of("3:7value11value13", "5:7value12value13", "2:100000value13"),
          visited.subList(0, 3));
      assertEquals(
          List.of("0:7value29value13", "4:7value29value13"),
          visited.subList(3, 5).stream().sorted().toList());
      assertEquals(5, visited.size());
      assertEquals("value11", text(tx.get(table, key(11))));
    });
  }

  @Test
  void what_a_visitor_throws_is_passed_on_and_the_transaction_stays_usable() {
    Table table = db.getOrCreateTable("t");
    Samples.put(db, "t", "a", "1");
    try (Transaction tx = db.begin()) {
      IllegalStateException own = new IllegalStateException("of the visitor");
      assertSame(
          own,
          assertThrows(
              IllegalStateException.class,
              () ->
                  tx.getAll(
                      table,
                      batch(List.of(bytes("a"))),
                      (_, _, _, _) -> {
                        throw own;
                      })));
      assertEquals("1", text(tx.get(table, bytes("a"))));
    }
  }

  @Test
  void a_batch_is_used_again_and_is_not_changed_while_it_is_read() {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> {
      tx.put(table, bytes("a"), bytes("1"));
      tx.put(table, bytes("b"), bytes("2"));
    });
    KeyBatch batch = new KeyBatch();
    assertThrows(LimitException.class, () -> batch.add(new byte[0]));
    assertThrows(LimitException.class, () -> batch.add(new byte[Database.MAX_KEY_BYTES + 1]));
    assertThrows(IndexOutOfBoundsException.class, () -> batch.add(bytes("abc"), 2, 2));
    assertEquals(0, batch.size());
    batch.add(bytes("xbx"), 1, 1).add(bytes("a"));
    assertEquals("b", text(batch.key(0)));
    assertThrows(IndexOutOfBoundsException.class, () -> batch.key(2));
    try (Transaction tx = db.begin()) {
      List<Integer> visited = new ArrayList<>();
      tx.getAll(
          table,
          batch,
          (index, _, _, _) -> {
            visited.add(index);
            assertThrows(IllegalStateException.class, batch::clear);
            assertThrows(IllegalStateException.class, () -> batch.add(bytes("c")));
            assertThrows(
                IllegalStateException.class, () -> tx.getAll(table, batch, (_, _, _, _) -> {}));
          });
      assertEquals(List.of(1, 0), visited);
      batch.clear();
      tx.getAll(table, batch, (_, _, _, _) -> visited.clear());
      assertEquals(List.of(1, 0), visited);
      batch.add(bytes("b"));
      tx.getAll(table, batch, (index, bytes, offset, _) -> visited.add(index + bytes[offset]));
      assertEquals(List.of(1, 0, (int) '2'), visited);
    }
  }

  /** Keys that share 4 to 300 bytes, in leaves whose heads are alike for many of them. */
  @Test
  void keys_with_any_common_beginning_are_found_and_others_are_not() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("GetAllTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 24; round++) {
      String where = "round " + round;
      int shared = random.nextInt(3) == 0 ? random.nextInt(300) : random.nextInt(16);
      int tail = 1 + random.nextInt(12);
      int alphabet = 2 + random.nextInt(3);
      Table table = db.getOrCreateTable("t" + round);
      List<byte[]> all = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        byte[] key = new byte[shared + 1 + random.nextInt(tail)];
        for (int at = shared; at < key.length; at++) {
          key[at] = (byte) random.nextInt(alphabet);
        }
        if (random.nextInt(50) == 0) {
          key[random.nextInt(key.length)] = (byte) random.nextInt();
        }
        all.add(key);
      }
      db.run(tx -> {
        for (int i = 0; i < all.size(); i += 2) {
          byte[] value = new byte[random.nextInt(random.nextInt(9) == 0 ? 1_400 : 90)];
          random.nextBytes(value);
          tx.put(table, all.get(i), value);
        }
      });
      db.run(tx -> {
        for (int statement = 0; statement < 20; statement++) {
          List<byte[]> keys = new ArrayList<>();
          int first = random.nextInt(all.size());
          int count = random.nextInt(200);
          for (int i = 0; i < count; i++) {
            keys.add(all.get((first + i) % all.size()));
          }
          List<byte @Nullable []> found = tx.getAll(table, keys);
          for (int i = 0; i < count; i++) {
            assertArrayEquals(tx.get(table, keys.get(i)), found.get(i), where);
          }
        }
      });
    }
  }

  /** The first key of the next leaf does not belong to a leaf, though the keys before it do. */
  @Test
  void keys_around_each_fence_are_read_from_their_own_leaves() {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> {
      for (int row = 0; row < 2_000; row += 2) {
        tx.put(table, bytes("row%05d".formatted(row)), bytes("value" + row + "-".repeat(90)));
      }
    });
    db.run(tx -> {
      for (int first = 0; first < 2_000; first++) {
        List<byte[]> keys = new ArrayList<>();
        for (int row = first; row < first + 1 + first % 7; row++) {
          keys.add(bytes("row%05d".formatted(row)));
        }
        List<byte @Nullable []> found = tx.getAll(table, keys);
        for (int i = 0; i < keys.size(); i++) {
          int row = first + i;
          String expected = row % 2 == 0 && row < 2_000 ? "value" + row + "-".repeat(90) : null;
          assertEquals(expected, text(found.get(i)));
        }
      }
    });
  }

  @Test
  void a_dropped_table_is_refused_and_one_that_was_dropped_since_is_read() {
    Table table = db.getOrCreateTable("t");
    Samples.put(db, "t", "a", "1");
    Transaction before = db.begin();
    db.run(tx -> tx.dropTable(table));
    assertEquals(
        Arrays.asList("1", null), texts(before.getAll(table, List.of(bytes("a"), bytes("b")))));
    before.rollback();
    try (Transaction after = db.begin()) {
      assertThrows(CatalogException.class, () -> after.getAll(table, List.of(bytes("a"))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "m"}) // a row that was read, and the absence of one
  void a_change_of_a_key_is_a_conflict_for_a_serializable_transaction(String changed) {
    Table table = db.getOrCreateTable("t");
    Samples.put(db, "t", "a", "1");
    Samples.put(db, "t", "z", "1");
    try (Transaction tx =
        db.begin(TransactionOptions.lazy().withIsolation(Isolation.SERIALIZABLE))) {
      assertEquals(
          Arrays.asList("1", null), texts(tx.getAll(table, List.of(bytes("a"), bytes("m")))));
      tx.put(table, bytes("sum"), bytes("1"));
      Samples.put(db, "t", "z", "2"); // was not read
      Samples.put(db, "t", changed, "2");
      ConflictException refused = assertThrows(ConflictException.class, tx::commit);
      assertEquals(ConflictReason.NOT_SERIALIZABLE, refused.reason());
    }
  }

  @Test
  void a_serializable_transaction_does_not_pass_over_a_prepared_one() {
    Table table = db.getOrCreateTable("t");
    Samples.put(db, "t", "a", "1");
    Samples.put(db, "t", "b", "1");
    Transaction prepared = db.begin();
    prepared.put(table, bytes("b"), bytes("2"));
    prepared.prepare(bytes("p"));
    try (Transaction tx =
        db.begin(TransactionOptions.lazy().withIsolation(Isolation.SERIALIZABLE))) {
      assertThrows(
          ConflictException.class,
          () -> tx.getAll(table, List.of(bytes("a"), bytes("b"), bytes("c"))));
    }
    db.rollbackPrepared(bytes("p"));
  }

  @Test
  void each_statement_of_a_transaction_that_reads_committed_has_a_snapshot_of_its_own() {
    Table table = db.getOrCreateTable("t");
    Samples.put(db, "t", "a", "1");
    List<byte[]> keys = List.of(bytes("a"), bytes("b"));
    try (Transaction tx =
        db.begin(TransactionOptions.lazy().withIsolation(Isolation.READ_COMMITTED))) {
      assertEquals(Arrays.asList("1", null), texts(tx.getAll(table, keys)));
      Samples.put(db, "t", "a", "2");
      Samples.put(db, "t", "b", "2");
      assertEquals(List.of("2", "2"), texts(tx.getAll(table, keys)));
    }
  }

  @Test
  void several_transactions_that_read_committed_never_see_half_of_a_commit() throws Exception {
    Table table = db.getOrCreateTable("t", TableOptions.hashPartitioned(3));
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      keys.add(key(i));
    }
    db.run(tx -> keys.forEach(key -> tx.put(table, key, bytes("0"))));
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger commits = new AtomicInteger();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              while (!done.get()) {
                byte[] value = bytes("" + commits.incrementAndGet());
                db.run(tx -> keys.forEach(key -> tx.put(table, key, value)));
              }
            });
    try (Transaction tx =
        db.begin(TransactionOptions.lazy().withIsolation(Isolation.READ_COMMITTED))) {
      for (int i = 0; i < 300 || commits.get() < 20; i++) {
        List<@Nullable String> values = texts(tx.getAll(table, keys));
        assertEquals(1, values.stream().distinct().count(), values::toString);
      }
    } finally {
      done.set(true);
      writer.join();
    }
  }

  private enum Layout {
    ONE_TREE,
    PARTITIONED
  }

  /** Writers and the cleaner change all rows beside it; values are inline, large, or gone. */
  @ParameterizedTest
  @EnumSource
  void the_answers_are_those_of_single_reads_beside_writers(Layout layout) throws Exception {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("GetAllTest -Drevenant.seed=" + seed);
    Table table =
        db.getOrCreateTable(
            "t",
            layout == Layout.PARTITIONED
                ? TableOptions.hashPartitioned(4)
                : TableOptions.defaults());
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger turns = new AtomicInteger();
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Random own = new Random(seed * 31 + i);
      writers.add(
          Thread.ofPlatform()
              .start(() -> {
                do {
                  write(table, own);
                  turns.incrementAndGet();
                } while (!done.get());
              }));
    }
    Random random = new Random(seed);
    try {
      int present = 0;
      int absent = 0;
      for (int round = 0; round < 60 || turns.get() < 60 || present * absent == 0; round++) {
        try (Transaction tx = db.begin(TransactionOptions.lazy())) {
          if (random.nextBoolean()) {
            own(tx, table, random);
          }
          int before = turns.get();
          for (int statement = 0; statement < 4; statement++) {
            List<byte[]> keys = keys(random);
            List<byte @Nullable []> found = tx.getAll(table, keys);
            assertEquals(keys.size(), found.size());
            for (int i = 0; i < keys.size(); i++) {
              byte[] single = tx.get(table, keys.get(i));
              assertArrayEquals(single, found.get(i), text(keys.get(i)));
              present += single == null ? 0 : 1;
              absent += single == null ? 1 : 0;
            }
            if (round % 8 == 0) { // its snapshot becomes old
              while (turns.get() < before + 4 * (statement + 1)) {
                Await.pause();
              }
            }
          }
        }
      }
    } finally {
      done.set(true);
      for (Thread writer : writers) {
        writer.join();
      }
    }
    assertTrue(db.check().isSound(), () -> db.check().toString());
  }

  private void write(Table table, Random random) {
    int first = random.nextInt(KEYS);
    int rows = 1 + random.nextInt(60);
    boolean delete = random.nextInt(3) == 0;
    int size = random.nextInt(12) == 0 ? 5_000 : random.nextInt(200);
    boolean commits = random.nextInt(4) > 0;
    try (Transaction tx = db.begin(TransactionOptions.lazy())) {
      for (int row = first; row < first + rows; row++) {
        if (delete) {
          tx.delete(table, key(row));
        } else {
          tx.put(table, key(row), Samples.random(row + size, size));
        }
      }
      if (commits) {
        tx.commit();
      }
    } catch (ConflictException other) {
      return; // the other writer was first
    }
  }

  /** Rows of the transaction itself, which no other writes. */
  private static void own(Transaction tx, Table table, Random random) {
    for (int i = 0; i < 20; i++) {
      byte[] key = bytes("row" + random.nextInt(KEYS) + "own");
      if (random.nextInt(4) == 0) {
        tx.delete(table, key);
      } else {
        tx.put(table, key, Samples.random(i, random.nextInt(20) == 0 ? 9_000 : 30));
      }
    }
  }

  private static List<byte[]> keys(Random random) {
    List<byte[]> keys = new ArrayList<>();
    int places = 1 + random.nextInt(8);
    for (int place = 0; place < places; place++) {
      int first = random.nextInt(KEYS);
      int step = 1 + random.nextInt(3);
      for (int i = 0; i < 25; i++) {
        keys.add(
            random.nextInt(6) == 0 ? bytes("row" + (first + i) + "own") : key(first + i * step));
      }
    }
    if (random.nextBoolean()) {
      keys.sort(Arrays::compareUnsigned);
    }
    if (random.nextInt(20) == 0) { // more than one piece
      for (int i = 0; i < 1_500; i++) {
        keys.add(key(i));
      }
    }
    return keys;
  }
}
