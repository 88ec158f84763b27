package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.tpcc.TpccRows.Address;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.District;
import org.revenantdb.jmh.tpcc.TpccRows.History;
import org.revenantdb.jmh.tpcc.TpccRows.Item;
import org.revenantdb.jmh.tpcc.TpccRows.Order;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;
import org.revenantdb.jmh.tpcc.TpccRows.Stock;
import org.revenantdb.jmh.tpcc.TpccRows.Warehouse;

/**
 * Fills a database according to the specification (TPC-C 4.3.3.1).
 *
 * <p>The items are one transaction, and so is each warehouse with everything that belongs to it. So
 * a load that a crash ended leaves whole warehouses and can be continued. One thread.
 */
public final class TpccLoader {
  private static final int LEAST_LINES = 5;
  private static final int MOST_LINES = 15;
  private static final int ORDERED = 5;
  private static final int MOST_CENTS = 999_999;
  private static final long OPENING_PAYMENT = 1_000;
  private static final long CREDIT_LIMIT = 5_000_000;
  private static final int GREATEST_TAX = 2_000;
  private static final int GREATEST_DISCOUNT = 5_000;
  private static final int BAD_CREDIT_PERCENT = 10;

  private final TpccTables tables;
  private final TpccScale scale;
  private final TpccRandom random;
  private final long now = System.currentTimeMillis();

  private TpccLoader(TpccTables tables, TpccScale scale, long seed) {
    this.tables = tables;
    this.scale = scale;
    this.random = new TpccRandom(scale, seed);
  }

  /**
   * Loads what is missing; it is durable on return.
   *
   * @param database an open one
   * @param tables of it
   * @param scale how much
   * @param seed of the random choices
   */
  public static void load(Database database, TpccTables tables, TpccScale scale, long seed) {
    TpccLoader loader = new TpccLoader(tables, scale, seed);
    TransactionOptions lazy = TransactionOptions.lazy();
    database.run(lazy, loader::loadItems);
    for (int warehouse = 1; warehouse <= scale.warehouses(); warehouse++) {
      int number = warehouse;
      database.run(lazy, transaction -> loader.loadWarehouse(transaction, number));
    }
    database.sync();
  }

  private void loadItems(Transaction transaction) {
    if (transaction.exists(tables.item(), TpccKeys.item(1))) {
      return;
    }
    for (int item = 1; item <= scale.items(); item++) {
      byte[] row = new byte[Item.DATA];
      TpccRows.putInt(row, Item.IMAGE, random.between(1, 10_000));
      TpccRows.putLong(row, Item.PRICE, random.between(100, 10_000));
      TpccRows.putText(row, Item.NAME, random.text(14, Item.NAME_BYTES));
      transaction.put(
          tables.item(),
          TpccKeys.item(item),
          TpccRows.endingWith(row, Item.DATA, random.data(26, 50)));
    }
  }

  private void loadWarehouse(Transaction transaction, int warehouse) {
    byte[] key = TpccKeys.warehouse(warehouse);
    if (transaction.exists(tables.warehouse(), key)) {
      return;
    }
    byte[] row = new byte[Warehouse.BYTES];
    TpccRows.putInt(row, Warehouse.TAX, random.between(0, GREATEST_TAX));
    TpccRows.putLong(row, Warehouse.YTD, scale.customers() * OPENING_PAYMENT * TpccScale.DISTRICTS);
    TpccRows.putText(row, Warehouse.NAME, random.text(6, Warehouse.NAME_BYTES));
    putAddress(row, Warehouse.ADDRESS);
    transaction.put(tables.warehouse(), key, row);
    for (int item = 1; item <= scale.items(); item++) {
      loadStock(transaction, warehouse, item);
    }
    for (int district = 1; district <= TpccScale.DISTRICTS; district++) {
      loadDistrict(transaction, warehouse, district);
    }
  }

  private void loadStock(Transaction transaction, int warehouse, int item) {
    byte[] row = new byte[Stock.DATA];
    TpccRows.putInt(row, Stock.QUANTITY, random.between(10, 100));
    for (int district = 0; district < TpccScale.DISTRICTS; district++) {
      TpccRows.putText(
          row,
          Stock.DISTRICT + district * Stock.DISTRICT_BYTES,
          random.text(Stock.DISTRICT_BYTES, Stock.DISTRICT_BYTES));
    }
    transaction.put(
        tables.stock(),
        TpccKeys.stock(warehouse, item),
        TpccRows.endingWith(row, Stock.DATA, random.data(26, 50)));
  }

  private void loadDistrict(Transaction transaction, int warehouse, int district) {
    byte[] row = new byte[District.BYTES];
    TpccRows.putInt(row, District.TAX, random.between(0, GREATEST_TAX));
    TpccRows.putLong(row, District.YTD, scale.customers() * OPENING_PAYMENT);
    TpccRows.putInt(row, District.NEXT_ORDER, scale.customers() + 1);
    TpccRows.putText(row, District.NAME, random.text(6, District.NAME_BYTES));
    putAddress(row, District.ADDRESS);
    transaction.put(tables.district(), TpccKeys.district(warehouse, district), row);
    for (int customer = 1; customer <= scale.customers(); customer++) {
      loadCustomer(transaction, warehouse, district, customer);
      loadPayment(transaction, warehouse, district, customer);
    }
    int[] customers = random.permutation(scale.customers());
    for (int order = 1; order <= scale.customers(); order++) {
      loadOrder(transaction, warehouse, district, order, customers[order - 1]);
    }
  }

  private void loadCustomer(Transaction transaction, int warehouse, int district, int customer) {
    String first = random.text(8, Customer.NAME_BYTES);
    String last = random.lastNameOf(customer);
    byte[] row = new byte[Customer.DATA];
    TpccRows.putLong(row, Customer.CREDIT_LIMIT, CREDIT_LIMIT);
    TpccRows.putInt(row, Customer.DISCOUNT, random.between(0, GREATEST_DISCOUNT));
    TpccRows.putLong(row, Customer.BALANCE, -OPENING_PAYMENT);
    TpccRows.putLong(row, Customer.YTD_PAYMENT, OPENING_PAYMENT);
    TpccRows.putInt(row, Customer.PAYMENTS, 1);
    TpccRows.putLong(row, Customer.SINCE, now);
    TpccRows.putText(row, Customer.FIRST, first);
    TpccRows.putText(row, Customer.MIDDLE, "OE");
    TpccRows.putText(row, Customer.LAST, last);
    putAddress(row, Customer.ADDRESS);
    TpccRows.putText(row, Customer.PHONE, random.digits(Customer.PHONE_BYTES));
    TpccRows.putText(row, Customer.CREDIT, random.percent(BAD_CREDIT_PERCENT) ? "BC" : "GC");
    transaction.put(
        tables.customer(),
        TpccKeys.inDistrict(warehouse, district, customer),
        TpccRows.endingWith(row, Customer.DATA, random.text(300, Customer.LONGEST_DATA)));
    transaction.put(
        tables.customerByName(),
        TpccKeys.customerByName(warehouse, district, last, first, customer),
        TpccRows.EMPTY);
  }

  private void loadPayment(Transaction transaction, int warehouse, int district, int customer) {
    byte[] row = new byte[History.DATA];
    TpccRows.putInt(row, History.CUSTOMER_WAREHOUSE, warehouse);
    TpccRows.putInt(row, History.CUSTOMER_DISTRICT, district);
    TpccRows.putInt(row, History.CUSTOMER, customer);
    TpccRows.putLong(row, History.DATE, now);
    TpccRows.putLong(row, History.AMOUNT, OPENING_PAYMENT);
    transaction.put(
        tables.history(),
        TpccKeys.payment(warehouse, district, tables.nextPayment()),
        TpccRows.endingWith(row, History.DATA, random.text(12, 24)));
  }

  private void loadOrder(
      Transaction transaction, int warehouse, int district, int order, int customer) {
    boolean delivered = order <= scale.delivered();
    int lines = random.between(LEAST_LINES, MOST_LINES);
    byte[] row = new byte[Order.BYTES];
    TpccRows.putInt(row, Order.CUSTOMER, customer);
    TpccRows.putLong(row, Order.ENTRY_DATE, now);
    TpccRows.putInt(row, Order.CARRIER, delivered ? random.between(1, 10) : 0);
    TpccRows.putInt(row, Order.LINES, lines);
    TpccRows.putInt(row, Order.ALL_LOCAL, 1);
    byte[] key = TpccKeys.inDistrict(warehouse, district, order);
    transaction.put(tables.order(), key, row);
    transaction.put(
        tables.orderByCustomer(),
        TpccKeys.orderByCustomer(warehouse, district, customer, order),
        TpccRows.EMPTY);
    if (!delivered) {
      transaction.put(tables.newOrder(), key, TpccRows.EMPTY);
    }
    for (int line = 1; line <= lines; line++) {
      byte[] part = new byte[OrderLine.BYTES];
      TpccRows.putInt(part, OrderLine.ITEM, random.between(1, scale.items()));
      TpccRows.putInt(part, OrderLine.SUPPLY_WAREHOUSE, warehouse);
      TpccRows.putLong(part, OrderLine.DELIVERY_DATE, delivered ? now : 0);
      TpccRows.putInt(part, OrderLine.QUANTITY, ORDERED);
      TpccRows.putLong(part, OrderLine.AMOUNT, delivered ? 0 : random.between(1, MOST_CENTS));
      TpccRows.putText(
          part, OrderLine.DISTRICT_INFO, random.text(Stock.DISTRICT_BYTES, Stock.DISTRICT_BYTES));
      transaction.put(tables.orderLine(), TpccKeys.line(warehouse, district, order, line), part);
    }
  }

  private void putAddress(byte[] row, int column) {
    TpccRows.putText(row, column + Address.STREET_1, random.text(10, 20));
    TpccRows.putText(row, column + Address.STREET_2, random.text(10, 20));
    TpccRows.putText(row, column + Address.CITY, random.text(10, 20));
    TpccRows.putText(row, column + Address.STATE, random.text(2, 2));
    TpccRows.putText(row, column + Address.ZIP, random.digits(4) + "11111");
  }
}
