package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** A small TPC-C: it is loaded according to the specification, and stays consistent under work. */
class TpccTest {
  private static final TpccScale SCALE = TpccScale.of(2, 0.01);
  private static final long SEED = 20_261_122;

  @TempDir private Path directory;

  private Database database;
  private TpccTables tables;

  @BeforeEach
  void load() {
    database = Database.open(directory.resolve("tpcc"));
    tables = TpccTables.of(database);
    TpccLoader.load(database, tables, SCALE, SEED);
  }

  @AfterEach
  void close() {
    database.close();
  }

  private TpccDriver driver(int sessions) {
    return new TpccDriver(database, tables, SCALE, TransactionOptions.lazy(), sessions, SEED);
  }

  @Test
  void a_loaded_database_satisfies_all_conditions_and_has_the_specified_rows() {
    assertEquals(List.of(), TpccChecker.checkLoaded(database, tables, SCALE));
    int districts = 2 * TpccScale.DISTRICTS;
    try (Transaction reader = database.begin()) {
      assertEquals(2, reader.count(tables.warehouse(), null, null));
      assertEquals(districts, reader.count(tables.district(), null, null));
      assertEquals(districts * 30, reader.count(tables.customer(), null, null));
      assertEquals(districts * 30, reader.count(tables.history(), null, null));
      assertEquals(districts * 30, reader.count(tables.order(), null, null));
      assertEquals(districts * 9, reader.count(tables.newOrder(), null, null));
      assertEquals(1000, reader.count(tables.item(), null, null));
      assertEquals(2000, reader.count(tables.stock(), null, null));
    }
  }

  @Test
  void loading_again_changes_nothing() {
    long before = rows();
    TpccLoader.load(database, tables, SCALE, SEED + 1);
    assertEquals(before, rows());
  }

  private long rows() {
    try (Transaction reader = database.begin()) {
      return database.tableNames().stream()
          .mapToLong(name -> reader.count(database.getOrCreateTable(name), null, null))
          .sum();
    }
  }

  @Test
  void two_sessions_do_all_five_transactions_and_every_condition_holds() throws Exception {
    TpccCounts counts = driver(2).runEach(600);
    assertEquals(1200, counts.total());
    for (TpccType type : TpccType.values()) {
      assertTrue(counts.committed(type) > 0, "nobody did a " + type);
    }
    assertTrue(counts.rolledBack() > 0, "nobody ordered an unused item");
    TpccChecker.demand(database, tables);
    assertEquals(List.of(), database.check().problems());
  }

  @Test
  void many_sessions_at_two_warehouses_lose_nothing() throws Exception {
    TpccCounts counts = driver(12).runEach(60);
    assertEquals(720, counts.total());
    TpccChecker.demand(database, tables);
  }

  @Test
  void a_session_that_meets_a_row_of_another_tries_again_until_that_has_ended() throws Exception {
    TpccSession session =
        new TpccSession(database, TransactionOptions.lazy(), new TpccMix(tables, SCALE, 0, SEED));
    Thread thread;
    try (Transaction other = database.begin()) {
      writeAll(other, tables.district());
      thread = Thread.ofPlatform().start(() -> doAll(session));
      while (session.counts().conflicts() == 0 && thread.isAlive()) {
        LockSupport.parkNanos(20_000);
      }
      other.rollback();
    }
    thread.join();
    assertEquals(20, session.counts().total());
    TpccChecker.demand(database, tables);
  }

  private static void doAll(TpccSession session) {
    for (int i = 0; i < 20; i++) {
      session.step();
    }
  }

  private static void writeAll(Transaction transaction, Table table) {
    List<byte[]> keys = new ArrayList<>();
    try (Cursor rows = transaction.scan(table, null, null)) {
      while (rows.next()) {
        keys.add(rows.key());
      }
    }
    keys.forEach(key -> transaction.put(table, key, TpccTables.row(transaction, table, key)));
  }

  @Test
  void what_was_done_is_there_when_the_database_is_opened_again() throws Exception {
    driver(2).runEach(50);
    long before = rows();
    database.close();
    database = Database.open(directory.resolve("tpcc"));
    tables = TpccTables.of(database);
    assertEquals(before, rows());
    TpccChecker.demand(database, tables);
  }

  @Test
  void an_order_with_an_unused_item_leaves_nothing() {
    TpccMix mix = new TpccMix(tables, SCALE, 0, SEED);
    long before = rows();
    for (int i = 0; i < 10_000; i++) {
      TpccTransaction order = mix.of(TpccType.NEW_ORDER);
      try (Transaction transaction = database.begin()) {
        order.run(transaction);
      } catch (UnusedItemException unused) {
        assertThrows(UnusedItemException.class, () -> database.run(order::run));
        assertEquals(before, rows());
        return;
      }
    }
    throw new AssertionError("nobody ordered an unused item");
  }

  @Test
  void a_payment_of_a_customer_with_bad_credit_is_written_into_his_data() {
    TpccMix mix = new TpccMix(tables, SCALE, 0, SEED);
    for (int i = 0; i < 300; i++) {
      database.run(TransactionOptions.lazy(), mix.of(TpccType.PAYMENT)::run);
    }
    int noted = 0;
    try (Transaction reader = database.begin();
        var customers = reader.scan(tables.customer(), null, null)) {
      while (customers.next()) {
        byte[] row = customers.value();
        boolean bad = TpccRows.getText(row, TpccRows.Customer.CREDIT, 2).equals("BC");
        boolean paid = TpccRows.getInt(row, TpccRows.Customer.PAYMENTS) > 1;
        String data =
            TpccRows.getText(row, TpccRows.Customer.DATA, row.length - TpccRows.Customer.DATA);
        assertEquals(bad && paid, data.contains("|"), data);
        assertTrue(data.length() <= 500, "longer than the column");
        noted += bad && paid ? 1 : 0;
      }
    }
    assertNotEquals(0, noted);
  }

  @Test
  void of_customers_with_one_last_name_the_middle_one_by_first_name_is_meant() {
    String name = new TpccRandom(SCALE, SEED).lastNameOf(1);
    List<String> firstNames = new ArrayList<>();
    Map<String, Integer> numbers = new HashMap<>();
    try (Transaction reader = database.begin()) {
      for (int customer = 1; customer <= SCALE.customers(); customer++) {
        byte[] row = TpccTables.row(reader, tables.customer(), TpccKeys.inDistrict(1, 1, customer));
        if (TpccRows.getText(row, TpccRows.Customer.LAST, 16).equals(name)) {
          String first = TpccRows.getText(row, TpccRows.Customer.FIRST, 16);
          firstNames.add(first);
          numbers.put(first, customer);
        }
      }
      Collections.sort(firstNames);
      assertTrue(firstNames.size() > 2, "too few to have a middle one");
      String middle = firstNames.get((firstNames.size() + 1) / 2 - 1);
      assertEquals(numbers.get(middle), new CustomerChoice(1, 1, 0, name).find(reader, tables));
    }
  }

  @Test
  void a_delivery_takes_the_oldest_order_of_each_district_until_there_are_no_more() {
    TpccMix mix = new TpccMix(tables, SCALE, 0, SEED);
    for (int i = 0; i < 9; i++) {
      assertEquals(10, delivered(mix));
    }
    assertEquals(0, delivered(mix));
    TpccChecker.demand(database, tables);
  }

  private long delivered(TpccMix mix) {
    TpccTransaction delivery = mix.of(TpccType.DELIVERY);
    return database.call(TransactionOptions.lazy(), delivery::run);
  }

  @Test
  void the_mix_is_the_standard_one() {
    TpccMix mix = new TpccMix(tables, SCALE, 0, SEED);
    Map<TpccType, Integer> drawn = new EnumMap<>(TpccType.class);
    int all = 20_000;
    for (int i = 0; i < all; i++) {
      drawn.merge(mix.next().type(), 1, Integer::sum);
    }
    drawn.forEach(
        (type, count) -> assertEquals(type.percent(), 100.0 * count / all, 1.5, type.toString()));
  }
}
