package org.revenantdb.jmh.tpcc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.District;
import org.revenantdb.jmh.tpcc.TpccRows.History;
import org.revenantdb.jmh.tpcc.TpccRows.Order;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;
import org.revenantdb.jmh.tpcc.TpccRows.Warehouse;

/**
 * The consistency conditions of the specification, of one moment: others may work meanwhile.
 *
 * <p>Source: TPC-C 3.3.2.1 to 3.3.2.12. We differ: (1) all customers are checked, not some; (2)
 * condition 11 holds until the first delivery only, so it is checked only for a database that was
 * just loaded; (3) additionally both indexes must have an entry for each row and no other, and each
 * warehouse must have its districts and its stock.
 *
 * <p>Memory: sums for each customer that has paid, and a district's orders. One thread.
 */
public final class TpccChecker {
  private static final String SPECIFICATION = "3.3.2.";
  private static final String INDEX = "index";
  private static final String CARDINALITY = "cardinality";
  private static final int SHOWN = 10;

  private final Transaction transaction;
  private final TpccTables tables;
  private final List<TpccViolation> violations = new ArrayList<>();

  /** Orders that a district was loaded with and that were delivered; -1: that is long ago. */
  private final int deliveredAtLoad;

  /** Payments, in cents, by warehouse, district and customer, and by the place of payment. */
  private final Map<Integer, Long> paidAtWarehouse = new HashMap<>();

  private final Map<Place, Long> paidAtDistrict = new HashMap<>();
  private final Map<Buyer, Long> paidByCustomer = new HashMap<>();

  /** A district. */
  private record Place(int warehouse, int district) {
    @Override
    public String toString() {
      return "warehouse %d, district %d".formatted(warehouse, district);
    }
  }

  /** A customer. */
  private record Buyer(Place place, int customer) {
    @Override
    public String toString() {
      return place + ", customer " + customer;
    }
  }

  /** An order, and what its lines add up to. */
  private static final class Facts {
    private final int customer;
    private final int carrier;
    private final int lines;
    private int linesFound;

    /** Of the lines that are delivered, in cents. */
    private long delivered;

    private Facts(byte[] row) {
      customer = TpccRows.getInt(row, Order.CUSTOMER);
      carrier = TpccRows.getInt(row, Order.CARRIER);
      lines = TpccRows.getInt(row, Order.LINES);
    }
  }

  /** The action on a row. */
  @FunctionalInterface
  private interface Visitor {
    void visit(byte[] key, byte[] value);
  }

  private TpccChecker(Transaction transaction, TpccTables tables, int deliveredAtLoad) {
    this.transaction = transaction;
    this.tables = tables;
    this.deliveredAtLoad = deliveredAtLoad;
  }

  /**
   * Checks all conditions but the eleventh.
   *
   * @param database an open one
   * @param tables of it
   * @return where they do not hold; empty if all is well, also if nothing was loaded
   */
  public static List<TpccViolation> check(Database database, TpccTables tables) {
    return check(database, tables, -1);
  }

  /**
   * Checks all conditions of a database with which nothing was done since it was loaded.
   *
   * @param database an open one
   * @param tables of it
   * @param scale with which it was loaded
   * @return where they do not hold; empty if all is well
   */
  public static List<TpccViolation> checkLoaded(
      Database database, TpccTables tables, TpccScale scale) {
    return check(database, tables, scale.delivered());
  }

  /**
   * Like {@link #check}, but throws if a condition does not hold.
   *
   * @param database an open one
   * @param tables of it
   * @throws IllegalStateException if a condition does not hold; it names the first ones
   */
  public static void demand(Database database, TpccTables tables) {
    List<TpccViolation> violations = check(database, tables);
    if (!violations.isEmpty()) {
      throw new IllegalStateException(
          violations.stream()
              .limit(SHOWN)
              .map(TpccViolation::toString)
              .collect(
                  Collectors.joining(
                      "\n", violations.size() + " violations of TPC-C's conditions:\n", "")));
    }
  }

  private static List<TpccViolation> check(
      Database database, TpccTables tables, int deliveredAtLoad) {
    try (Transaction transaction = database.begin()) {
      return check(transaction, tables, deliveredAtLoad);
    }
  }

  /** The rows that a transaction sees, including its own changes. */
  static List<TpccViolation> check(
      Transaction transaction, TpccTables tables, int deliveredAtLoad) {
    TpccChecker checker = new TpccChecker(transaction, tables, deliveredAtLoad);
    checker.checkAll();
    return List.copyOf(checker.violations);
  }

  private void checkAll() {
    addUpPayments();
    scan(tables.warehouse(), null, null, (key, row) -> checkWarehouse(TpccKeys.last(key), row));
    long warehouses = transaction.count(tables.warehouse(), null, null);
    demandSame(
        CARDINALITY,
        "all warehouses",
        "count(DISTRICT)",
        transaction.count(tables.district(), null, null),
        "that of " + warehouses + " warehouses",
        warehouses * TpccScale.DISTRICTS);
    demandSame(
        CARDINALITY,
        "all warehouses",
        "count(STOCK)",
        transaction.count(tables.stock(), null, null),
        "count(WAREHOUSE) * count(ITEM)",
        warehouses * transaction.count(tables.item(), null, null));
  }

  private void addUpPayments() {
    scan(
        tables.history(),
        null,
        null,
        (key, row) -> {
          Place paidAt = place(key);
          long amount = TpccRows.getLong(row, History.AMOUNT);
          paidAtWarehouse.merge(paidAt.warehouse(), amount, Long::sum);
          paidAtDistrict.merge(paidAt, amount, Long::sum);
          Place home =
              new Place(
                  TpccRows.getInt(row, History.CUSTOMER_WAREHOUSE),
                  TpccRows.getInt(row, History.CUSTOMER_DISTRICT));
          paidByCustomer.merge(
              new Buyer(home, TpccRows.getInt(row, History.CUSTOMER)), amount, Long::sum);
        });
  }

  private static Place place(byte[] key) {
    return new Place(TpccRows.getInt(key, 0), key[Integer.BYTES]);
  }

  /** Conditions 1 and 8, then those of its districts. */
  private void checkWarehouse(int warehouse, byte[] row) {
    long[] sum = {0};
    scan(
        tables.district(),
        TpccKeys.warehouse(warehouse),
        TpccKeys.warehouse(warehouse + 1),
        (key, district) -> {
          sum[0] += TpccRows.getLong(district, District.YTD);
          checkDistrict(place(key), district);
        });
    long year = TpccRows.getLong(row, Warehouse.YTD);
    String where = "warehouse " + warehouse;
    demandSame(1, where, "W_YTD", year, "sum(D_YTD)", sum[0]);
    demandSame(
        8, where, "W_YTD", year, "sum(H_AMOUNT)", paidAtWarehouse.getOrDefault(warehouse, 0L));
  }

  private void checkDistrict(Place place, byte[] row) {
    demandSame(
        9,
        place.toString(),
        "D_YTD",
        TpccRows.getLong(row, District.YTD),
        "sum(H_AMOUNT)",
        paidAtDistrict.getOrDefault(place, 0L));
    NavigableSet<Integer> undelivered = new TreeSet<>();
    scan(tables.newOrder(), place, (key, _) -> undelivered.add(TpccKeys.last(key)));
    Map<Integer, Facts> orders = new HashMap<>();
    scan(tables.order(), place, (key, order) -> orders.put(TpccKeys.last(key), new Facts(order)));
    checkNumbers(place, TpccRows.getInt(row, District.NEXT_ORDER), orders, undelivered);
    checkLines(place, orders);
    checkOrders(place, orders, undelivered);
    checkCustomers(place, orders);
  }

  /** Conditions 2, 3 and 11. */
  private void checkNumbers(
      Place place, int next, Map<Integer, Facts> orders, NavigableSet<Integer> undelivered) {
    String where = place.toString();
    int last = orders.keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
    demandSame(2, where, "D_NEXT_O_ID - 1", next - 1, "max(O_ID)", last);
    if (!undelivered.isEmpty()) {
      demandSame(2, where, "D_NEXT_O_ID - 1", next - 1, "max(NO_O_ID)", undelivered.last());
      demandSame(
          3,
          where,
          "max(NO_O_ID) - min(NO_O_ID) + 1",
          undelivered.last() - undelivered.first() + 1,
          "count(NEW-ORDER)",
          undelivered.size());
    }
    if (deliveredAtLoad >= 0) {
      demandSame(
          11,
          where,
          "count(ORDER) - count(NEW-ORDER)",
          orders.size() - undelivered.size(),
          "that of a load",
          deliveredAtLoad);
    }
  }

  /** Conditions 4 and 7; the totals of the lines of each order. */
  private void checkLines(Place place, Map<Integer, Facts> orders) {
    long[] found = {0};
    scan(
        tables.orderLine(),
        place,
        (key, line) -> {
          found[0]++;
          int number = TpccKeys.numberInDistrict(key);
          Facts order = orders.get(number);
          if (order == null) {
            return; // condition 4 reports it
          }
          order.linesFound++;
          long delivered = TpccRows.getLong(line, OrderLine.DELIVERY_DATE);
          order.delivered += delivered == 0 ? 0 : TpccRows.getLong(line, OrderLine.AMOUNT);
          if (delivered == 0 != (order.carrier == 0)) {
            differ(
                7,
                "%s, order %d, line %d".formatted(place, number, key[key.length - 1]),
                "OL_DELIVERY_D",
                delivered,
                "O_CARRIER_ID",
                order.carrier);
          }
        });
    long lines = orders.values().stream().mapToLong(order -> order.lines).sum();
    demandSame(4, place.toString(), "sum(O_OL_CNT)", lines, "count(ORDER-LINE)", found[0]);
  }

  /** Conditions 5 and 6, and the index of orders. */
  private void checkOrders(
      Place place, Map<Integer, Facts> orders, NavigableSet<Integer> undelivered) {
    orders.forEach((number, order) -> {
      String where = place + ", order " + number;
      boolean isNew = undelivered.contains(number);
      if (order.carrier == 0 != isNew) {
        differ(5, where, "O_CARRIER_ID", order.carrier, "count(NEW-ORDER)", isNew ? 1 : 0);
      }
      demandSame(6, where, "O_OL_CNT", order.lines, "count(ORDER-LINE)", order.linesFound);
      byte[] entry =
          TpccKeys.orderByCustomer(place.warehouse(), place.district(), order.customer, number);
      demandEntry(where, tables.orderByCustomer(), entry);
    });
    for (int number : undelivered) {
      if (!orders.containsKey(number)) {
        differ(5, place + ", order " + number, "count(ORDER)", 0, "count(NEW-ORDER)", 1);
      }
    }
    demandSame(
        INDEX,
        place.toString(),
        "count(ORDER)",
        orders.size(),
        "entries by customer",
        count(tables.orderByCustomer(), place));
  }

  /** Conditions 10 and 12, and the index of customers. */
  private void checkCustomers(Place place, Map<Integer, Facts> orders) {
    Map<Integer, Long> delivered = new HashMap<>();
    for (Facts order : orders.values()) {
      delivered.merge(order.customer, order.delivered, Long::sum);
    }
    scan(
        tables.customer(),
        place,
        (key, row) -> {
          Buyer buyer = new Buyer(place, TpccKeys.last(key));
          long balance = TpccRows.getLong(row, Customer.BALANCE);
          long owed = delivered.getOrDefault(buyer.customer(), 0L);
          demandSame(
              10,
              buyer.toString(),
              "C_BALANCE",
              balance,
              "sum(OL_AMOUNT) - sum(H_AMOUNT)",
              owed - paidByCustomer.getOrDefault(buyer, 0L));
          demandSame(
              12,
              buyer.toString(),
              "C_BALANCE + C_YTD_PAYMENT",
              balance + TpccRows.getLong(row, Customer.YTD_PAYMENT),
              "sum(OL_AMOUNT)",
              owed);
          demandEntry(
              buyer.toString(),
              tables.customerByName(),
              TpccKeys.customerByName(
                  place.warehouse(),
                  place.district(),
                  TpccRows.getText(row, Customer.LAST, Customer.NAME_BYTES),
                  TpccRows.getText(row, Customer.FIRST, Customer.NAME_BYTES),
                  buyer.customer()));
        });
    demandSame(
        INDEX,
        place.toString(),
        "count(CUSTOMER)",
        count(tables.customer(), place),
        "entries by name",
        count(tables.customerByName(), place));
  }

  private void demandEntry(String where, Table index, byte[] entry) {
    demandSame(
        INDEX, where, "1", 1, "entries in " + index, transaction.exists(index, entry) ? 1 : 0);
  }

  private void demandSame(
      int condition, String place, String left, long leftValue, String right, long rightValue) {
    demandSame(SPECIFICATION + condition, place, left, leftValue, right, rightValue);
  }

  private void demandSame(
      String condition, String place, String left, long leftValue, String right, long rightValue) {
    if (leftValue != rightValue) {
      violations.add(new TpccViolation(condition, place, left, leftValue, right, rightValue));
    }
  }

  /** Two that need not be the same, but do not go together. */
  private void differ(
      int condition, String place, String left, long leftValue, String right, long rightValue) {
    violations.add(
        new TpccViolation(SPECIFICATION + condition, place, left, leftValue, right, rightValue));
  }

  private long count(Table table, Place place) {
    return transaction.count(table, from(place), to(place));
  }

  private void scan(Table table, Place place, Visitor visitor) {
    scan(table, from(place), to(place), visitor);
  }

  private static byte[] from(Place place) {
    return TpccKeys.district(place.warehouse(), place.district());
  }

  private static byte[] to(Place place) {
    return TpccKeys.district(place.warehouse(), place.district() + 1);
  }

  private void scan(Table table, byte @Nullable [] from, byte @Nullable [] to, Visitor visitor) {
    try (Cursor cursor = transaction.scan(table, from, to)) {
      while (cursor.next()) {
        visitor.visit(cursor.key(), cursor.value());
      }
    }
  }
}
