package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** Each condition is seen to fail on a row that was changed on purpose. */
class TpccCheckerTest {
  private static final TpccScale SCALE = TpccScale.of(2, 0.0001);

  /** Of those that are loaded: 7 are delivered, 8 to 10 are not. */
  private static final int DELIVERED = 3;

  private static final int UNDELIVERED = 9;

  @TempDir private static Path directory;

  private static Database database;
  private static TpccTables tables;

  @BeforeAll
  static void load() {
    database = Database.open(directory.resolve("tpcc"));
    tables = TpccTables.of(database);
    TpccLoader.load(database, tables, SCALE, 1);
  }

  @AfterAll
  static void close() {
    database.close();
  }

  /** A change of rows, in the transaction that it is given. */
  @FunctionalInterface
  private interface Damage {
    void to(Transaction transaction);
  }

  private static Damage change(Table table, byte[] key, Consumer<byte[]> change) {
    return transaction -> {
      byte[] row = TpccTables.row(transaction, table, key);
      change.accept(row);
      transaction.put(table, key, row);
    };
  }

  private static Damage delete(Table table, byte[] key) {
    return transaction -> assertTrue(transaction.delete(table, key));
  }

  private static byte[] order(int number) {
    return TpccKeys.inDistrict(1, 1, number);
  }

  private static byte[] firstKey(Transaction transaction, Table table) {
    try (Cursor cursor = transaction.scan(table, null, null)) {
      assertTrue(cursor.next());
      return cursor.key();
    }
  }

  /** The damage, the conditions that fail, and the text of one violation. */
  static Stream<Arguments> damages() {
    TpccTables to = tables;
    return Stream.of(
        arguments(
            change(
                to.warehouse(),
                TpccKeys.warehouse(1),
                row -> TpccRows.addLong(row, TpccRows.Warehouse.YTD, 1)),
            Set.of("3.3.2.1", "3.3.2.8"),
            "condition 3.3.2.1, warehouse 1: W_YTD is 100001, but sum(D_YTD) is 100000"),
        arguments(
            change(
                to.district(),
                TpccKeys.district(2, 10),
                row -> TpccRows.addInt(row, TpccRows.District.NEXT_ORDER, 1)),
            Set.of("3.3.2.2"),
            "condition 3.3.2.2, warehouse 2, district 10: D_NEXT_O_ID - 1 is 11, but max(O_ID) is 10"),
        arguments(
            delete(to.newOrder(), order(UNDELIVERED)),
            Set.of("3.3.2.3", "3.3.2.5", "3.3.2.11"),
            "condition 3.3.2.3, warehouse 1, district 1: max(NO_O_ID) - min(NO_O_ID) + 1 is 3, but"
                + " count(NEW-ORDER) is 2"),
        arguments(
            change(
                to.order(), order(DELIVERED), row -> TpccRows.addInt(row, TpccRows.Order.LINES, 1)),
            Set.of("3.3.2.4", "3.3.2.6"),
            "condition 3.3.2.4, warehouse 1, district 1: sum(O_OL_CNT) is"),
        arguments(
            (Damage) transaction -> transaction.put(to.newOrder(), order(7), TpccRows.EMPTY),
            Set.of("3.3.2.5", "3.3.2.11"),
            "condition 3.3.2.5, warehouse 1, district 1, order 7: O_CARRIER_ID is"),
        arguments(
            (Damage)
                transaction -> {
                  change(
                          to.order(),
                          order(DELIVERED),
                          row -> TpccRows.addInt(row, TpccRows.Order.LINES, 1))
                      .to(transaction);
                  change(
                          to.order(),
                          order(DELIVERED + 1),
                          row -> TpccRows.addInt(row, TpccRows.Order.LINES, -1))
                      .to(transaction);
                },
            Set.of("3.3.2.6"),
            "condition 3.3.2.6, warehouse 1, district 1, order 3: O_OL_CNT is"),
        arguments(
            change(
                to.orderLine(),
                TpccKeys.line(1, 1, DELIVERED, 2),
                row -> TpccRows.putLong(row, TpccRows.OrderLine.DELIVERY_DATE, 0)),
            Set.of("3.3.2.7"),
            "condition 3.3.2.7, warehouse 1, district 1, order 3, line 2: OL_DELIVERY_D is 0, but"
                + " O_CARRIER_ID is"),
        arguments(
            (Damage)
                transaction ->
                    change(
                            to.history(),
                            firstKey(transaction, to.history()),
                            row -> TpccRows.addLong(row, TpccRows.History.AMOUNT, -1))
                        .to(transaction),
            Set.of("3.3.2.8", "3.3.2.9", "3.3.2.10"),
            "condition 3.3.2.8, warehouse 1: W_YTD is 100000, but sum(H_AMOUNT) is 99999"),
        arguments(
            (Damage)
                transaction -> {
                  byte[] key = firstKey(transaction, to.history());
                  byte[] row = TpccTables.row(transaction, to.history(), key);
                  transaction.delete(to.history(), key);
                  transaction.put(to.history(), TpccKeys.payment(1, 2, to.nextPayment()), row);
                },
            Set.of("3.3.2.9"),
            "condition 3.3.2.9, warehouse 1, district 1: D_YTD is 10000, but sum(H_AMOUNT) is 9000"),
        arguments(
            (Damage)
                transaction ->
                    change(
                            to.history(),
                            firstKey(transaction, to.history()),
                            row -> TpccRows.putInt(row, TpccRows.History.CUSTOMER, 10))
                        .to(transaction),
            Set.of("3.3.2.10"),
            "condition 3.3.2.10, warehouse 1, district 1, customer 10: C_BALANCE is -1000, but"
                + " sum(OL_AMOUNT) - sum(H_AMOUNT) is -2000"),
        arguments(
            delete(to.newOrder(), order(8)),
            Set.of("3.3.2.5", "3.3.2.11"),
            "condition 3.3.2.11, warehouse 1, district 1: count(ORDER) - count(NEW-ORDER) is 8, but"
                + " that of a load is 7"),
        arguments(
            change(
                to.customer(),
                TpccKeys.inDistrict(2, 3, 4),
                row -> TpccRows.addLong(row, TpccRows.Customer.YTD_PAYMENT, 5)),
            Set.of("3.3.2.12"),
            "condition 3.3.2.12, warehouse 2, district 3, customer 4: C_BALANCE + C_YTD_PAYMENT is"
                + " 5, but sum(OL_AMOUNT) is 0"),
        arguments(
            (Damage)
                transaction ->
                    transaction.delete(
                        to.customerByName(), firstKey(transaction, to.customerByName())),
            Set.of("index"),
            "condition index, warehouse 1, district 1: count(CUSTOMER) is 10, but entries by name"
                + " is 9"),
        arguments(
            (Damage)
                transaction ->
                    transaction.put(
                        to.orderByCustomer(),
                        TpccKeys.orderByCustomer(1, 1, 1, 99),
                        TpccRows.EMPTY),
            Set.of("index"),
            "condition index, warehouse 1, district 1: count(ORDER) is 10, but entries by customer"
                + " is 11"),
        arguments(
            delete(to.stock(), TpccKeys.stock(2, 100)),
            Set.of("cardinality"),
            "condition cardinality, all warehouses: count(STOCK) is 199, but count(WAREHOUSE) *"
                + " count(ITEM) is 200"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("damages")
  void a_changed_row_violates_exactly_these_conditions_and_the_place_is_reported(
      Damage damage, Set<String> conditions, String sentence) {
    List<TpccViolation> violations;
    try (Transaction transaction = database.begin(TransactionOptions.lazy())) {
      damage.to(transaction);
      violations = TpccChecker.check(transaction, tables, SCALE.delivered());
    }
    assertEquals(
        new TreeSet<>(conditions),
        violations.stream()
            .map(TpccViolation::condition)
            .collect(Collectors.toCollection(TreeSet::new)));
    assertTrue(
        violations.stream().anyMatch(it -> it.toString().startsWith(sentence)),
        violations::toString);
  }

  @Test
  void a_demand_for_consistency_reports_all_violations_in_one_exception() throws Exception {
    TpccChecker.demand(database, tables);
    try (Database other = Database.open(directory.resolve("other"))) {
      TpccTables damaged = TpccTables.of(other);
      TpccLoader.load(other, damaged, SCALE, 1);
      other.run(
          change(
                  damaged.warehouse(),
                  TpccKeys.warehouse(1),
                  row -> TpccRows.addLong(row, TpccRows.Warehouse.YTD, 1))
              ::to);
      String message =
          assertThrows(IllegalStateException.class, () -> TpccChecker.demand(other, damaged))
              .getMessage();
      assertTrue(
          message.startsWith("2 violations") && message.contains("3.3.2.8, warehouse 1"), message);
    }
  }
}
