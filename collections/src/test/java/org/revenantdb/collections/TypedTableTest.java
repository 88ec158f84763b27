package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** Statements of a typed table, alone and against a model. */
class TypedTableTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 200_000 : 3_000;

  record Customer(String name, int orders) {}

  private Database db;

  @BeforeEach
  void open(@TempDir Path directory) {
    db =
        Database.open(
            directory.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
  }

  @AfterEach
  void close() {
    db.close();
  }

  private TypedTable<Long, Customer> customers() {
    return TypedTable.open(db, "customers", Keys.longs(), Codecs.records(Customer.class));
  }

  @Test
  void a_row_is_put_replaced_computed_merged_and_deleted() {
    TypedTable<Long, Customer> table = customers();
    Customer ada = new Customer("Ada", 1);
    Customer bob = new Customer("Bob", 2);
    db.run(tx -> {
      assertNull(table.get(tx, -5L));
      table.put(tx, -5L, ada);
      assertEquals(ada, table.get(tx, -5L));
      assertTrue(table.contains(tx, -5L));
      assertEquals(ada, table.putIfAbsent(tx, -5L, bob));
      assertNull(table.putIfAbsent(tx, 6L, bob));
      assertEquals(bob, table.replace(tx, 6L, ada));
      assertNull(table.replace(tx, 7L, ada));
      assertFalse(table.replace(tx, 6L, bob, ada));
      assertTrue(table.replace(tx, 6L, ada, bob));
      assertEquals(
          new Customer("Bob", 3),
          table.compute(tx, 6L, (_, it) -> new Customer(it.name(), it.orders() + 1)));
      assertEquals(
          new Customer("Bob", 5),
          table.merge(
              tx, 6L, bob, (one, other) -> new Customer("Bob", one.orders() + other.orders())));
      assertEquals(bob, table.merge(tx, 8L, bob, (_, _) -> null));
      assertNull(table.merge(tx, 8L, bob, (_, _) -> null));
      assertFalse(table.contains(tx, 8L));
      assertFalse(table.remove(tx, 6L, bob));
      assertEquals(new Customer("Bob", 5), table.remove(tx, 6L));
      assertFalse(table.delete(tx, 6L));
      assertTrue(table.delete(tx, -5L));
      assertEquals(0, table.scan(tx).count());
    });
  }

  @Test
  void statements_that_read_and_then_write_refuse_read_committed() {
    TypedTable<Long, Customer> table = customers();
    Customer ada = new Customer("Ada", 1);
    TransactionOptions options = TransactionOptions.lazy().withIsolation(Isolation.READ_COMMITTED);
    db.run(
        options,
        tx -> {
          table.put(tx, 1L, ada);
          assertEquals(ada, table.get(tx, 1L));
          assertThrows(IllegalStateException.class, () -> table.putIfAbsent(tx, 1L, ada));
          assertThrows(IllegalStateException.class, () -> table.replace(tx, 1L, ada));
          assertThrows(IllegalStateException.class, () -> table.replace(tx, 1L, ada, ada));
          assertThrows(IllegalStateException.class, () -> table.compute(tx, 1L, (_, it) -> it));
          assertThrows(IllegalStateException.class, () -> table.merge(tx, 1L, ada, (it, _) -> it));
          assertThrows(IllegalStateException.class, () -> table.remove(tx, 1L));
          assertThrows(IllegalStateException.class, () -> table.remove(tx, 1L, ada));
          assertTrue(table.delete(tx, 1L));
        });
  }

  @Test
  void rows_are_scanned_in_both_directions_with_bounds_and_limits() {
    TypedTable<Long, Customer> table = customers();
    db.run(tx -> {
      for (long i = -3; i <= 3; i++) {
        table.put(tx, i, new Customer("c" + i, (int) i));
      }
    });
    db.run(tx -> {
      Scan<Long, Customer> all = table.scan(tx);
      assertEquals(List.of(-3L, -2L, -1L, 0L, 1L, 2L, 3L), keys(all));
      assertEquals(List.of(3L, 2L, 1L, 0L, -1L, -2L, -3L), keys(all.descending()));
      assertEquals(List.of(-1L, 0L), keys(all.atLeast(-1L).lessThan(1L)));
      assertEquals(List.of(1L, 0L), keys(all.greaterThan(-1L).atMost(1L).descending()));
      assertEquals(List.of(2L, 3L), keys(all.atLeast(-1L).atLeast(2L).atLeast(0L)));
      assertEquals(List.of(-3L, -2L), keys(all.limit(5).limit(2)));
      assertEquals(List.of(), keys(all.limit(0)));
      assertEquals(List.of(), keys(all.atLeast(2L).lessThan(1L)));
      assertEquals(2, all.atLeast(2L).count());
      assertEquals(1, all.atLeast(2L).limit(1).count());
      assertEquals(0, all.atLeast(2L).lessThan(1L).count());
      assertEquals(new Row<>(3L, new Customer("c3", 3)), all.descending().first());
      assertNull(all.greaterThan(3L).first());
      assertEquals(0, all.atLeast(2L).lessThan(1L).delete());
      assertThrows(IllegalStateException.class, () -> all.limit(1).delete());
      assertEquals(3, all.lessThan(0L).delete());
      assertEquals(List.of(0L, 1L, 2L, 3L), keys(all));
    });
  }

  private static <K, V> List<K> keys(Scan<K, V> scan) {
    List<K> keys = new ArrayList<>();
    try (TypedCursor<K, V> cursor = scan.cursor()) {
      while (cursor.next()) {
        keys.add(cursor.key());
      }
    }
    try (Stream<Row<K, V>> rows = scan.stream()) {
      assertEquals(keys, rows.map(Row::key).toList());
    }
    return keys;
  }

  @Test
  void a_cursor_seeks_forwards_and_backwards() {
    TypedTable<Long, Customer> table = customers();
    db.run(tx -> {
      for (long i = 0; i < 1_000; i += 10) {
        table.put(tx, i, new Customer("c" + i, (int) i));
      }
      try (TypedCursor<Long, Customer> cursor = table.scan(tx).cursor()) {
        assertTrue(cursor.seek(501L));
        assertEquals(510L, cursor.key());
        assertEquals(510, cursor.value().orders());
        assertTrue(cursor.next());
        assertEquals(520L, cursor.key());
        assertTrue(cursor.seek(-7L));
        assertEquals(new Row<>(0L, new Customer("c0", 0)), cursor.row());
        assertFalse(cursor.seek(991L));
      }
      try (TypedCursor<Long, Customer> cursor = table.scan(tx).descending().cursor()) {
        assertTrue(cursor.seek(501L));
        assertEquals(500L, cursor.key());
      }
    });
  }

  @Test
  void a_stream_closes_itself_at_its_end_and_can_be_closed_before() {
    TypedTable<Long, Customer> table = customers();
    db.run(tx -> table.put(tx, 1L, new Customer("Ada", 1)));
    try (Transaction tx = db.begin()) {
      Stream<Row<Long, Customer>> whole = table.scan(tx).stream();
      assertEquals(1, whole.count());
      try (Stream<Row<Long, Customer>> part = table.scan(tx).stream()) {
        assertTrue(part.findFirst().isPresent());
      }
      Stream<Row<Long, Customer>> closed = table.scan(tx).stream();
      closed.close();
      assertThrows(IllegalStateException.class, closed::toList);
    }
  }

  @Test
  void a_codec_that_throws_leaves_the_transaction_usable_and_names_table_and_key() {
    Codec<String> picky =
        new Codec<>() {
          @Override
          public void encode(String value, ByteWriter out) {
            if (value.equals("bad")) {
              throw new IllegalStateException("I do not like it");
            }
            out.writeUtf8(value);
          }

          @Override
          public String decode(ByteReader in) {
            String value = in.readUtf8(in.remaining());
            if (value.equals("unreadable")) {
              throw new IllegalStateException("I cannot read it");
            }
            return value;
          }
        };
    TypedTable<String, String> table = TypedTable.open(db, "picky", Keys.strings(), picky);
    db.run(tx -> {
      table.put(tx, "a", "good");
      assertNames(() -> table.put(tx, "a", "bad"), "picky", "key a", "I do not like it");
      assertEquals("good", table.get(tx, "a"));
      table.put(tx, "b", "unreadable");
      assertNames(() -> table.get(tx, "b"), "picky", "key b", "I cannot read it");
      assertNames(() -> table.scan(tx).stream().toList(), "picky", "key b");
      assertNames(() -> table.getAll(tx, List.of("a", "b", "c")), "picky", "key b");
      assertNames(() -> table.put(tx, "\ud800", "x"), "picky", "surrogate");
      table.put(tx, "c", "also good");
    });
    assertEquals("also good", db.read(tx -> table.get(tx, "c")));
  }

  private static void assertNames(Runnable statement, String... words) {
    String message = assertThrows(CodecException.class, statement::run).getMessage();
    for (String word : words) {
      assertTrue(message.contains(word), message);
    }
  }

  @Test
  void an_action_receives_the_rows_that_exist_in_the_order_of_the_table_and_may_read_more() {
    TypedTable<Long, String> table = TypedTable.open(db, "t", Keys.longs(), Codecs.strings());
    db.run(tx -> {
      for (long i = 0; i < 3_000; i += 2) {
        table.put(tx, i, "text " + i);
      }
      List<String> found = new ArrayList<>();
      table.getAll(
          tx,
          List.of(2_000L, 8L, 3L, 8L, 4L),
          (key, text) ->
              found.add(key + text + table.getAll(tx, List.of(key + 2, key + 3)).values()));
      assertEquals(
          List.of(
              "4text 4[text 6]",
              "8text 8[text 10]",
              "8text 8[text 10]",
              "2000text 2000[text 2002]"),
          found);
      assertThrows(
          IllegalStateException.class,
          () ->
              table.getAll(
                  tx,
                  List.of(4L),
                  (_, _) -> {
                    throw new IllegalStateException("of the action");
                  }));
      assertThrows(
          NullPointerException.class, () -> table.getAll(tx, java.util.Arrays.asList(4L, null)));
      assertEquals("text 4", table.get(tx, 4L));
      assertEquals(
          1_500,
          table.getAll(tx, java.util.stream.LongStream.range(0, 5_000).boxed().toList()).size());
    });
  }

  @Test
  void a_row_that_another_codec_wrote_is_refused_and_not_misread() {
    TypedTable<String, String> texts = TypedTable.open(db, "t", Keys.strings(), Codecs.strings());
    TypedTable<Long, Long> numbers = TypedTable.open(db, "t", Keys.longs(), Codecs.longs());
    db.run(tx -> texts.put(tx, "a", "x"));
    db.run(tx -> {
      assertThrows(CodecException.class, () -> numbers.scan(tx).first());
      numbers.put(tx, 1L, 2L);
      assertEquals(2L, numbers.get(tx, 1L));
    });
  }

  @Test
  void values_of_any_length_are_read_by_each_way() {
    TypedTable<Integer, byte[]> table = TypedTable.open(db, "t", Keys.ints(), Codecs.bytes());
    int[] lengths = {0, 1, 255, 256, 257, 4_095, 4_096, 4_097, 70_000, 300_000};
    db.run(tx -> {
      for (int length : lengths) {
        table.put(tx, length, new byte[length]);
      }
      Map<Integer, byte[]> all = table.getAll(tx, IntStream.of(lengths).boxed().toList());
      try (TypedCursor<Integer, byte[]> cursor = table.scan(tx).cursor()) {
        for (int length : lengths) {
          assertEquals(length, table.get(tx, length).length);
          assertEquals(length, all.get(length).length);
          assertTrue(cursor.next());
          assertEquals(length, cursor.value().length);
        }
      }
    });
  }

  @Test
  void keys_of_any_length_are_read_by_each_way() {
    TypedTable<String, Integer> table = TypedTable.open(db, "t", Keys.strings(), Codecs.ints());
    List<String> keys =
        IntStream.of(0, 1, 61, 62, 63, 64, 65, 200, 1_000, 1_022).mapToObj("k"::repeat).toList();
    db.run(tx -> {
      for (String key : keys) {
        table.put(tx, key, key.length());
      }
      assertEquals(keys, keys(table.scan(tx)));
      assertEquals(keys, List.copyOf(table.getAll(tx, keys).keySet()));
      assertEquals(keys, List.copyOf(table.asMap(tx).keySet()));
    });
  }

  @Test
  void many_rows_are_read_together_whether_they_are_neighbours_or_not() {
    TypedTable<Long, Long> table = TypedTable.open(db, "t", Keys.longs(), Codecs.longs());
    db.run(tx -> {
      for (long i = -600; i < 600; i++) {
        if (i % 5 != 0) {
          table.put(tx, i, 2 * i);
        }
      }
      Random random = new Random(7);
      for (int gap = 1; gap < 100; gap += 3) {
        List<Long> wanted = new ArrayList<>();
        TreeMap<Long, Long> expected = new TreeMap<>();
        for (long key = -700; key < 700; key += 1 + random.nextInt(gap)) {
          wanted.add(key);
          if (key % 5 != 0 && key >= -600 && key < 600) {
            expected.put(key, 2 * key);
          }
        }
        wanted.addAll(wanted.subList(0, 3)); // some twice
        java.util.Collections.shuffle(wanted, random);
        assertEquals(
            List.copyOf(expected.entrySet()), List.copyOf(table.getAll(tx, wanted).entrySet()));
      }
    });
  }

  /** The model is a sorted map; what a rollback takes back it takes back there, too. */
  @Test
  void random_statements_have_the_answers_of_a_sorted_map() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("TypedTableTest: -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    var codec = Keys.tuple(Keys.strings(), Keys.nullable(Keys.longs().descending()));
    TypedTable<Tuple2<String, Long>, String> table =
        TypedTable.open(db, "model", codec, Codecs.strings());
    Comparator<Tuple2<String, Long>> order =
        Comparator.comparing((Tuple2<String, Long> key) -> key.first())
            .thenComparing(Tuple2::second, Comparator.nullsFirst(Comparator.reverseOrder()));
    TreeMap<Tuple2<String, Long>, String> model = new TreeMap<>(order);
    int done = 0;
    while (done < STEPS) {
      TreeMap<Tuple2<String, Long>, String> expected = new TreeMap<>(model);
      try (Transaction tx = db.begin()) {
        Map<Tuple2<String, Long>, String> map = table.asMap(tx);
        for (int i = random.nextInt(60); i >= 0; i--, done++) {
          step(random, table, codec, expected, map, tx);
        }
        if (random.nextInt(4) > 0) {
          tx.commit();
          model = expected;
        }
      }
      var seen = table.asMap();
      assertEquals(model, seen);
      assertEquals(List.copyOf(model.keySet()), List.copyOf(seen.keySet()));
    }
  }

  private static Tuple2<String, Long> key(Random random) {
    String first = List.of("", "a", "a\0", "a\0b", "b", "\u00e4", "zz").get(random.nextInt(7));
    return Tuple2.of(first, random.nextInt(5) == 0 ? null : random.nextLong(-40, 40));
  }

  private static void step(
      Random random,
      TypedTable<Tuple2<String, Long>, String> table,
      Tuple2.Codec<String, Long> codec,
      NavigableMap<Tuple2<String, Long>, String> model,
      Map<Tuple2<String, Long>, String> map,
      Transaction tx) {
    Tuple2<String, Long> key = key(random);
    String value = "v" + random.nextInt(3);
    switch (random.nextInt(14)) {
      case 0, 1, 2 -> {
        table.put(tx, key, value);
        model.put(key, value);
      }
      case 3 -> assertEquals(model.putIfAbsent(key, value), table.putIfAbsent(tx, key, value));
      case 4 -> assertEquals(model.replace(key, value), table.replace(tx, key, value));
      case 5 -> assertEquals(model.replace(key, "v1", value), table.replace(tx, key, "v1", value));
      case 6 ->
          assertEquals(
              model.merge(key, value, TypedTableTest::joined),
              table.merge(tx, key, value, TypedTableTest::joined));
      case 7 -> assertEquals(model.remove(key), table.remove(tx, key));
      case 8 -> assertEquals(model.remove(key, "v1"), table.remove(tx, key, "v1"));
      case 9 -> assertEquals(model.get(key), table.get(tx, key));
      case 10 -> {
        List<Tuple2<String, Long>> some = Stream.generate(() -> key(random)).limit(20).toList();
        NavigableMap<Tuple2<String, Long>, String> found = new TreeMap<>(model.comparator());
        some.stream().filter(model::containsKey).forEach(it -> found.put(it, model.get(it)));
        assertEquals(List.copyOf(found.entrySet()), List.copyOf(table.getAll(tx, some).entrySet()));
      }
      case 11 -> {
        Tuple2<String, Long> other = key(random);
        if (model.comparator().compare(key, other) <= 0) {
          List<Row<Tuple2<String, Long>, String>> found =
              table.scan(tx).atLeast(key).lessThan(other).descending().stream().toList();
          assertEquals(
              model.subMap(key, true, other, false).descendingMap().entrySet().stream()
                  .map(row -> new Row<>(row.getKey(), row.getValue()))
                  .toList(),
              found);
        }
      }
      case 12 -> {
        KeyRange<Tuple2<String, Long>> range = codec.prefix(key.first());
        assertEquals(
            model.keySet().stream().filter(it -> it.first().equals(key.first())).count(),
            table.scan(tx).in(range).count());
      }
      default -> {
        if (random.nextInt(5) == 0) {
          long deleted =
              table.scan(tx).in(codec.prefix(key.first()).atLeast(key.second())).delete();
          int before = model.size();
          model
              .keySet()
              .removeIf(
                  it -> it.first().equals(key.first()) && model.comparator().compare(it, key) >= 0);
          assertEquals(before - model.size(), deleted);
        } else {
          assertEquals(model.size(), map.size());
        }
      }
    }
  }

  private static String joined(String one, String other) {
    String both = one + other;
    return both.length() > 8 ? null : both;
  }
}
