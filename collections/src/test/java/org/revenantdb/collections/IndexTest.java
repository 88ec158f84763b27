package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** Secondary indexes: kept with the row, built beside writers, refused when they would be half. */
class IndexTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 100_000 : 1_500;

  record Customer(String name, String city, String mail, List<String> tags) {
    Customer(String name, String city) {
      this(name, city, name + "@example.org", List.of());
    }
  }

  private Path directory;
  private Database db;
  private TypedTable<Long, Customer> table;

  @BeforeEach
  void open(@TempDir Path folder) {
    directory = folder.resolve("db");
    open();
  }

  private void open() {
    db =
        Database.open(
            directory,
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
    table = TypedTable.open(db, "customers", Keys.longs(), Codecs.records(Customer.class));
  }

  @AfterEach
  void close() {
    db.close();
  }

  private Index<String, Long, Customer> byCity() {
    return table.index("by city", Index.of(Keys.strings(), Customer::city));
  }

  private Index<String, Long, Customer> byMail() {
    return table.index("by mail", Index.unique(Keys.strings(), Customer::mail));
  }

  private List<Long> keys(IndexScan<?, Long, Customer> scan) {
    List<Long> keys = scan.keys().toList();
    try (Stream<Row<Long, Customer>> rows = scan.stream()) {
      assertEquals(keys, rows.map(Row::key).toList());
    }
    assertEquals(keys.size(), scan.count());
    return keys;
  }

  @Test
  void an_index_follows_its_rows_through_each_statement() {
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> {
      table.put(tx, 1L, new Customer("a", "Rome"));
      table.put(tx, 2L, new Customer("b", "Oslo"));
      table.putIfAbsent(tx, 3L, new Customer("c", "Rome"));
      table.putIfAbsent(tx, 3L, new Customer("c", "Bonn"));
      assertEquals(List.of(2L, 1L, 3L), keys(index.scan(tx)));
      table.replace(tx, 1L, new Customer("a", "Bonn"));
      table.compute(tx, 3L, (_, it) -> new Customer(it.name(), "Oslo"));
      assertEquals(List.of(1L, 2L, 3L), keys(index.scan(tx)));
      assertEquals(List.of(3L, 2L, 1L), keys(index.scan(tx).descending()));
      assertEquals(List.of(2L, 3L), keys(index.scan(tx).equalTo("Oslo")));
      assertEquals(List.of(2L), keys(index.scan(tx).atLeast("Oslo").limit(1)));
      assertEquals(List.of(1L), keys(index.scan(tx).lessThan("Oslo")));
      assertEquals(List.of(), keys(index.scan(tx).greaterThan("Oslo")));
      assertEquals(List.of(1L, 2L, 3L), keys(index.scan(tx).atMost("Oslo")));
      assertEquals("b", index.get(tx, "Oslo").value().name());
      assertNull(index.get(tx, "Rome"));
      table.delete(tx, 2L);
      table.remove(tx, 3L, new Customer("c", "Oslo"));
      assertEquals(List.of(1L), keys(index.scan(tx)));
      table.put(tx, 4L, new Customer("d", "Rome"));
      assertEquals(2, table.scan(tx).delete());
      assertEquals(List.of(), keys(index.scan(tx)));
      assertEquals(List.of(), index.check(tx));
    });
  }

  @Test
  void a_text_that_goes_on_with_a_zero_is_another_value() {
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> {
      table.put(tx, 1L, new Customer("a", "R"));
      table.put(tx, 2L, new Customer("b", "R\0"));
      table.put(tx, 3L, new Customer("c", "R"));
      assertEquals(List.of(1L, 3L, 2L), keys(index.scan(tx)));
      assertEquals(List.of(1L, 3L), keys(index.scan(tx).equalTo("R")));
      assertEquals(List.of(2L), keys(index.scan(tx).greaterThan("R")));
    });
  }

  @Test
  void a_duplicate_changes_nothing_and_names_both_keys() {
    Index<String, Long, Customer> index = byMail();
    Index<String, Long, Customer> city = byCity();
    db.run(tx -> {
      table.put(tx, 1L, new Customer("a", "Rome"));
      table.put(tx, 2L, new Customer("b", "Rome"));
      table.put(tx, 1L, new Customer("a", "Oslo")); // the same one may have it again
      DuplicateKeyException refused =
          assertThrows(
              DuplicateKeyException.class, () -> table.put(tx, 2L, new Customer("a", "Bonn")));
      assertEquals(2L, refused.key());
      assertEquals(1L, refused.existingKey());
      assertEquals("by mail", refused.index());
      assertTrue(refused.getMessage().contains("a@example.org"), refused::getMessage);
      assertEquals(new Customer("b", "Rome"), table.get(tx, 2L));
      assertEquals(List.of(), index.check(tx));
      assertEquals(List.of(), city.check(tx));
      assertEquals(2L, index.get(tx, "b@example.org").key());
    });
  }

  @Test
  void a_row_has_as_many_entries_as_it_has_values_and_none_if_it_is_left_out() {
    var byTag =
        table.index(
            "by tag",
            Index.multi(Keys.strings(), Customer::tags).where(it -> !it.city().equals("Rome")));
    var byNullable =
        table.index(
            "long names",
            Index.of(
                Keys.tuple(Keys.strings(), Keys.ints()),
                (Customer it) ->
                    it.name().length() < 3 ? null : Tuple2.of(it.city(), it.name().length())));
    db.run(tx -> {
      table.put(tx, 1L, new Customer("abc", "Oslo", "m", List.of("x", "y", "x")));
      table.put(tx, 2L, new Customer("abcd", "Oslo", "m", List.of("y")));
      table.put(tx, 3L, new Customer("a", "Rome", "m", List.of("x")));
      assertEquals(List.of(1L, 1L, 2L), keys(byTag.scan(tx)));
      assertEquals(List.of(1L, 2L), keys(byTag.scan(tx).equalTo("y")));
      var codec = Keys.tuple(Keys.strings(), Keys.ints());
      assertEquals(List.of(1L, 2L), keys(byNullable.scan(tx).in(codec.prefix("Oslo"))));
      assertEquals(List.of(2L), keys(byNullable.scan(tx).in(codec.prefix("Oslo").greaterThan(3))));
      table.put(tx, 1L, new Customer("abc", "Rome", "m", List.of("x", "y")));
      assertEquals(List.of(2L), keys(byTag.scan(tx)));
      assertEquals(List.of(), byTag.check(tx));
      assertEquals(List.of(), byNullable.check(tx));
    });
  }

  @Test
  void a_rollback_takes_back_row_and_entries() {
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Rome")));
    try (Transaction tx = db.begin()) {
      table.put(tx, 1L, new Customer("a", "Oslo"));
      table.put(tx, 2L, new Customer("b", "Oslo"));
    }
    db.run(tx -> {
      assertEquals(List.of(1L), keys(index.scan(tx)));
      assertEquals(List.of(), index.check(tx));
    });
  }

  /** The entry of a unique index is another transaction's: the row was written before. */
  @Test
  void a_conflict_in_the_middle_of_a_statement_leaves_no_half() {
    Index<String, Long, Customer> index = byMail();
    Index<String, Long, Customer> city = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Rome")));
    try (Transaction one = db.begin();
        Transaction other = db.begin()) {
      table.put(one, 2L, new Customer("b", "Oslo"));
      assertThrows(ConflictException.class, () -> table.put(other, 1L, new Customer("b", "Bonn")));
      assertEquals(new Customer("a", "Rome"), table.get(other, 1L));
      table.put(other, 3L, new Customer("c", "Bonn"));
      other.commit();
      one.commit();
    }
    db.run(tx -> {
      assertEquals(List.of(3L, 2L, 1L), keys(city.scan(tx)));
      assertEquals(List.of(), index.check(tx));
      assertEquals(List.of(), city.check(tx));
    });
  }

  @Test
  void writes_of_a_table_with_an_index_refuse_read_committed() {
    Index<String, Long, Customer> _ = byCity();
    TransactionOptions options = TransactionOptions.lazy().withIsolation(Isolation.READ_COMMITTED);
    db.run(
        options,
        tx -> {
          assertThrows(
              IllegalStateException.class, () -> table.put(tx, 1L, new Customer("a", "Rome")));
          assertThrows(IllegalStateException.class, () -> table.delete(tx, 1L));
          assertNull(table.get(tx, 1L));
        });
  }

  @Test
  void an_index_is_needed_by_its_name_after_each_open() {
    Index<String, Long, Customer> _ = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Rome")));
    db.close();
    open();
    db.run(tx -> {
      assertEquals("a", table.get(tx, 1L).name());
      IllegalStateException refused =
          assertThrows(
              IllegalStateException.class, () -> table.put(tx, 1L, new Customer("a", "Oslo")));
      assertTrue(refused.getMessage().contains("by city"), refused::getMessage);
      assertThrows(IllegalStateException.class, () -> table.delete(tx, 1L));
      assertThrows(IllegalStateException.class, () -> table.scan(tx).delete());
    });
    assertThrows(
        IllegalStateException.class,
        () -> table.index("by city", Index.unique(Keys.strings(), Customer::city)));
    assertThrows(
        IllegalStateException.class,
        () -> table.index("by city", Index.of(Keys.strings(), Customer::city).withVersion(2)));
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Oslo")));
    db.run(tx -> assertEquals(List.of(1L), keys(index.scan(tx).equalTo("Oslo"))));
  }

  @Test
  void a_dropped_index_is_gone_and_can_be_declared_again() {
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Rome")));
    int before = db.tableNames().size();
    assertTrue(table.dropIndex("by city"));
    assertFalse(table.dropIndex("by city"));
    assertEquals(before - 1, db.tableNames().size());
    db.run(tx -> {
      table.put(tx, 1L, new Customer("a", "Oslo"));
      assertThrows(IllegalStateException.class, () -> index.scan(tx));
    });
    Index<String, Long, Customer> again = byCity();
    db.run(tx -> assertEquals(List.of(1L), keys(again.scan(tx).equalTo("Oslo"))));
  }

  @Test
  void a_dropped_index_need_not_be_declared() {
    Index<String, Long, Customer> _ = byCity();
    db.close();
    open();
    assertTrue(table.dropIndex("by city"));
    db.run(tx -> table.put(tx, 1L, new Customer("a", "Rome")));
  }

  @Test
  void a_check_of_a_table_names_the_index_that_is_wrong_and_needs_all_of_them() {
    Index<String, Long, Customer> city = byCity();
    Index<String, Long, Customer> _ = byMail();
    db.run(tx -> {
      for (long i = 0; i < 5; i++) {
        table.put(tx, i, new Customer("n" + i, "Rome"));
      }
      assertEquals(List.of(), table.check(tx));
    });
    db.run(tx -> { // as many entries as before, one of them wrong
      byte[] entry = Keys.tuple(Keys.strings(), Keys.longs()).toBytes(Tuple2.of("Rome", 2L));
      assertTrue(tx.delete(city.entries(), entry));
      byte[] wrong = Keys.tuple(Keys.strings(), Keys.longs()).toBytes(Tuple2.of("Oslo", 2L));
      tx.put(city.entries(), wrong, new byte[0]);
      List<String> problems = table.check(tx);
      assertEquals(2, problems.size(), problems::toString);
      assertTrue(
          problems.stream()
              .allMatch(it -> it.startsWith("index by city: ") && it.contains("key 2")),
          problems::toString);
    });
    db.close();
    open();
    db.read(tx -> {
      assertThrows(IllegalStateException.class, () -> table.check(tx));
      return null;
    });
  }

  @Test
  void a_check_finds_what_was_written_past_the_index() {
    Index<String, Long, Customer> index = byCity();
    db.run(tx -> {
      for (long i = 0; i < 5; i++) {
        table.put(tx, i, new Customer("n" + i, "Rome"));
      }
      tx.delete(table.table(), Keys.longs().toBytes(2L));
      assertEquals(1, index.check(tx).size());
      assertTrue(index.check(tx).getFirst().contains("key 2"));
      ByteWriter out = new ByteWriter();
      table.values().encode(new Customer("n3", "Oslo"), out);
      tx.put(table.table(), Keys.longs().toBytes(3L), out.toByteArray());
      assertEquals(3, index.check(tx).size());
    });
  }

  private void fill(int rows) {
    db.run(tx -> {
      for (long i = 0; i < rows; i++) {
        table.put(tx, i, new Customer("n" + i, "c" + i % 7));
      }
    });
  }

  private static final class Interrupted extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void a_build_that_ended_in_the_middle_goes_on_where_it_was() {
    fill(2_000);
    long[] first = new long[1];
    assertThrows(
        Interrupted.class,
        () ->
            table.index(
                "by city",
                Index.of(Keys.strings(), Customer::city),
                rows -> {
                  first[0] = rows;
                  if (rows > 500) {
                    throw new Interrupted();
                  }
                }));
    db.close();
    open();
    db.run(tx ->
        assertThrows(
            IllegalStateException.class, () -> table.put(tx, 1L, new Customer("a", "Rome"))));
    long[] second = new long[1];
    Index<String, Long, Customer> index =
        table.index("by city", Index.of(Keys.strings(), Customer::city), rows -> second[0] = rows);
    assertEquals(2_000, first[0] + second[0]);
    db.run(tx -> {
      assertEquals(2_000, index.scan(tx).count());
      assertEquals(List.of(), index.check(tx));
    });
  }

  @Test
  void an_index_that_would_have_duplicates_is_not_built() {
    fill(600);
    db.run(tx -> table.put(tx, 1_000L, new Customer("n3", "x")));
    int before = db.tableNames().size();
    assertThrows(DuplicateKeyException.class, this::byMail);
    assertEquals(before + 1, db.tableNames().size()); // the catalogue of indexes
    db.run(tx -> table.delete(tx, 1_000L));
    Index<String, Long, Customer> index = byMail();
    db.run(tx -> assertEquals(List.of(), index.check(tx)));
  }

  @Test
  void a_transaction_that_is_older_than_the_index_cannot_use_it() {
    fill(10);
    Index<String, Long, Customer> _ = byCity(); // so that the catalogue is there
    try (Transaction old = db.begin()) {
      assertEquals(10, table.scan(old).count());
      Index<String, Long, Customer> index = byMail();
      assertThrows(IllegalStateException.class, () -> index.scan(old));
    }
  }

  /** Whoever has written before the index was declared is waited for, and his rows are found. */
  @Test
  void a_build_waits_for_those_who_had_written_before() throws Exception {
    fill(300);
    Index<String, Long, Customer> _ = byMail(); // so that the catalogue is there
    FutureTask<Index<String, Long, Customer>> built = new FutureTask<>(this::byCity);
    Thread builder = new Thread(built, "builder");
    try (Transaction early = db.begin()) {
      table.put(early, 5_000L, new Customer("early", "Rome"));
      builder.start();
      while (db.findTable("revenant.indexes/customers/by city") == null) {
        LockSupport.parkNanos(20_000);
      }
      while (builder.getState() == Thread.State.RUNNABLE) { // until it waits, or has not waited
        LockSupport.parkNanos(20_000);
      }
      early.commit();
    }
    Index<String, Long, Customer> index = built.get();
    builder.join();
    db.run(tx -> {
      assertEquals(301, index.scan(tx).count());
      assertEquals(List.of(), index.check(tx));
    });
  }

  /** Writers of all kinds go on during builds and drops; afterwards each index is right. */
  @Test
  void an_index_that_is_built_beside_writers_is_right() throws Exception {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("IndexTest: -Drevenant.seed=" + seed);
    fill(1_500);
    AtomicBoolean isOver = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(3);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Random random = new Random(seed + i);
        writers.add(
            threads.submit(() -> {
              while (!isOver.get()) {
                writeSome(random);
                started.countDown();
              }
            }));
      }
      try {
        started.await();
        buildAndDrop();
      } finally {
        isOver.set(true);
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
      Index<String, Long, Customer> index = byCity();
      db.run(tx -> {
        assertEquals(table.scan(tx).count(), index.scan(tx).count());
        assertEquals(List.of(), index.check(tx));
      });
    }
  }

  private void buildAndDrop() {
    for (int round = 0; round < 3; round++) {
      Index<String, Long, Customer> index = byCity();
      for (int i = 0; i < 2; i++) {
        db.run(tx -> assertEquals(List.of(), index.check(tx)));
      }
      if (round < 2) {
        assertTrue(table.dropIndex("by city"));
      }
    }
  }

  private void writeSome(Random random) {
    try {
      db.run(tx -> {
        for (int j = random.nextInt(4); j >= 0; j--) {
          long key = random.nextLong(2_000);
          if (random.nextInt(3) == 0) {
            table.delete(tx, key);
          } else {
            table.put(tx, key, new Customer("n" + key, "c" + random.nextInt(7)));
          }
        }
      });
    } catch (org.revenantdb.engine.CatalogException dropped) {
      // an index went while a write was keeping it: nothing of the transaction is left
      assertEquals(org.revenantdb.engine.CatalogException.Reason.DROPPED, dropped.reason());
    }
  }

  /** The model of an index is computed from the model of the table. */
  @Test
  void random_statements_keep_each_index_as_a_model_has_it() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("IndexTest: -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    Index<String, Long, Customer> city = byCity();
    Index<String, Long, Customer> mail = byMail();
    TreeMap<Long, Customer> model = new TreeMap<>();
    for (int done = 0; done < STEPS; ) {
      TreeMap<Long, Customer> expected = new TreeMap<>(model);
      try (Transaction tx = db.begin()) {
        for (int i = random.nextInt(30); i >= 0; i--, done++) {
          change(random, expected, tx);
        }
        if (random.nextInt(3) > 0) {
          tx.commit();
          model = expected;
        }
      }
      Map<Long, Customer> rows = model;
      db.run(tx -> {
        assertEquals(
            rows.entrySet().stream()
                .sorted(
                    Map.Entry.<Long, Customer>comparingByValue(
                            java.util.Comparator.comparing(Customer::city))
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .toList(),
            keys(city.scan(tx)));
        assertEquals(rows.size(), mail.scan(tx).count());
        assertEquals(List.of(), mail.check(tx));
      });
    }
  }

  private void change(Random random, TreeMap<Long, Customer> model, Transaction tx) {
    long key = random.nextLong(25);
    Customer row = new Customer("n" + random.nextInt(30), "c" + random.nextInt(4));
    boolean isDuplicate =
        model.entrySet().stream()
            .anyMatch(it -> it.getKey() != key && it.getValue().mail().equals(row.mail()));
    switch (random.nextInt(4)) {
      case 0 -> assertEquals(model.remove(key) != null, table.delete(tx, key));
      case 1 -> {
        if (isDuplicate && !model.containsKey(key)) {
          assertThrows(DuplicateKeyException.class, () -> table.putIfAbsent(tx, key, row));
        } else {
          assertEquals(model.putIfAbsent(key, row), table.putIfAbsent(tx, key, row));
        }
      }
      default -> {
        if (isDuplicate) {
          assertThrows(DuplicateKeyException.class, () -> table.put(tx, key, row));
        } else {
          table.put(tx, key, row);
          model.put(key, row);
        }
      }
    }
  }
}
