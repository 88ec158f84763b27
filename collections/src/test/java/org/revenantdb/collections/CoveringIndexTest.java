package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;

/** Indexes whose entries have part of the row. */
class CoveringIndexTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 50_000 : 600;

  record Customer(String name, String city, String mail) {}

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

  private CoveringIndex<String, Long, Customer, String> byCity() {
    return table.index(
        "by city",
        Index.of(Keys.strings(), Customer::city).covering(Codecs.strings(), Customer::name));
  }

  private CoveringIndex<String, Long, Customer, String> byMail() {
    return table.index(
        "by mail",
        Index.unique(Keys.strings(), Customer::mail).covering(Codecs.strings(), Customer::name));
  }

  private static <C> List<String> text(
      CoveringIndex<String, Long, Customer, C> index, IndexScan<String, Long, Customer> scan) {
    try (Stream<Row<Long, C>> parts = index.parts(scan)) {
      return parts.map(row -> row.key() + "=" + row.value()).toList();
    }
  }

  @Test
  void a_part_follows_its_row_though_the_indexed_value_stays() {
    db.run(tx -> table.put(tx, 1L, new Customer("Ada", "London", "a@b")));
    CoveringIndex<String, Long, Customer, String> byCity = byCity(); // built over a row
    CoveringIndex<String, Long, Customer, String> byMail = byMail();
    db.run(tx -> {
      table.put(tx, 1L, new Customer("Ada L.", "London", "a@b"));
      table.put(tx, 2L, new Customer("Bob", "London", "b@b"));
    });
    db.read(tx -> {
      assertEquals(List.of("1=Ada L.", "2=Bob"), text(byCity, byCity.scan(tx).equalTo("London")));
      assertEquals(List.of("2=Bob"), text(byMail, byMail.scan(tx).descending().limit(1)));
      assertEquals("Ada L.", byMail.index().get(tx, "a@b").value().name());
      assertEquals(List.of(), byCity.index().check(tx));
      assertEquals(List.of(), byMail.index().check(tx));
      return null;
    });
    DuplicateKeyException refused =
        assertThrows(
            DuplicateKeyException.class,
            () -> db.run(tx -> table.put(tx, 3L, new Customer("Eve", "Rome", "a@b"))));
    assertEquals(1L, refused.existingKey());
  }

  @Test
  void parts_are_read_without_the_rows() {
    CoveringIndex<String, Long, Customer, String> byCity = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("Ada", "London", "a@b")));
    db.run(tx -> tx.truncate(table.table())); // behind the back of the index
    assertEquals(List.of("1=Ada"), db.read(tx -> text(byCity, byCity.scan(tx))));
  }

  @Test
  void a_definition_without_the_part_is_another_one() {
    CoveringIndex<String, Long, Customer, String> byCity = byCity();
    IllegalStateException refused =
        assertThrows(
            IllegalStateException.class,
            () -> table.index("by city", Index.of(Keys.strings(), Customer::city)));
    assertTrue(refused.getMessage().contains("covering"), refused.getMessage());
    CoveringIndex<String, Long, Customer, String> byMail = byMail();
    db.read(tx -> {
      assertThrows(IllegalArgumentException.class, () -> byCity.parts(byMail.scan(tx)));
      return null;
    });
  }

  @Test
  void a_part_of_an_expired_row_is_not_seen() {
    table.expire(
        Expiry.<Customer>at(row -> Instant.ofEpochMilli(row.name().length())).withRemover(false));
    CoveringIndex<String, Long, Customer, String> byCity = byCity();
    db.run(tx -> table.put(tx, 1L, new Customer("Ada", "London", "a@b")));
    assertEquals(List.of(), db.read(tx -> text(byCity, byCity.scan(tx))));
  }

  @Tag("slow")
  @Test
  void random_work_against_a_model_in_several_lives() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("CoveringIndexTest: -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    Map<Long, Customer> model = new TreeMap<>();
    CoveringIndex<String, Long, Customer, String> byCity = byCity();
    CoveringIndex<String, Long, Customer, String> byMail = byMail();
    for (int step = 0; step < STEPS; step++) {
      long key = random.nextInt(20);
      Customer row =
          new Customer("n" + random.nextInt(5), "c" + random.nextInt(3), "m" + random.nextInt(40));
      switch (random.nextInt(20)) {
        case 0, 1, 2 ->
            assertEquals(
                model.remove(key) != null, db.call(tx -> table.delete(tx, key)), "seed " + seed);
        case 3 -> {
          try (Transaction tx = db.begin()) { // rolled back
            boolean _ = table.delete(tx, key);
          }
        }
        case 4 -> {
          if (random.nextInt(10) == 0) {
            db.close();
            open();
            byCity = byCity();
            byMail = byMail();
          }
        }
        default -> {
          try {
            db.run(tx -> table.put(tx, key, row));
            model.put(key, row);
          } catch (DuplicateKeyException refused) {
            assertEquals(row.mail(), model.get((Long) refused.existingKey()).mail());
          }
        }
      }
      List<String> cities = new ArrayList<>();
      List<String> mails = new ArrayList<>();
      model.entrySet().stream()
          .sorted(Comparator.comparing(it -> it.getValue().city())) // stable: then by key
          .forEach(it -> cities.add(it.getKey() + "=" + it.getValue().name()));
      model.entrySet().stream()
          .sorted(Comparator.comparing(it -> it.getValue().mail()))
          .forEach(it -> mails.add(it.getKey() + "=" + it.getValue().name()));
      try (Transaction tx = db.begin()) {
        assertEquals(cities, text(byCity, byCity.scan(tx)), "seed " + seed);
        assertEquals(mails, text(byMail, byMail.scan(tx)), "seed " + seed);
        if (step % 50 == 0) {
          assertEquals(List.of(), byCity.index().check(tx), "seed " + seed);
          assertEquals(List.of(), byMail.index().check(tx), "seed " + seed);
        }
      }
    }
  }
}
