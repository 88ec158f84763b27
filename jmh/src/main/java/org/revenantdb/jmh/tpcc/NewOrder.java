package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.District;
import org.revenantdb.jmh.tpcc.TpccRows.Item;
import org.revenantdb.jmh.tpcc.TpccRows.Order;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;
import org.revenantdb.jmh.tpcc.TpccRows.Stock;
import org.revenantdb.jmh.tpcc.TpccRows.Warehouse;

/** New-Order: a customer orders five to fifteen items (TPC-C 2.4). */
final class NewOrder implements TpccTransaction {
  private static final int FEWEST_LINES = 5;
  private static final int MOST_LINES = 15;
  private static final int MOST_OF_AN_ITEM = 10;
  private static final int UNUSED_PERCENT = 1;
  private static final int REMOTE_PERCENT = 1;

  /** One that there is none of. */
  private static final int UNUSED_ITEM = Integer.MAX_VALUE;

  /** Rates are ten-thousandths. */
  private static final double WHOLE = 10_000;

  /** A stock that would have less than this left is filled up, by the next constant (2.4.2.2). */
  private static final int LEAST_LEFT = 10;

  private static final int REFILL = 91;

  /**
   * The input of a line.
   *
   * @param item its number
   * @param supplier a warehouse
   * @param quantity of the item
   */
  private record Line(int item, int supplier, int quantity) {}

  private final TpccTables tables;
  private final int warehouse;
  private final int district;
  private final int customer;
  private final Line[] lines;
  private final long now = System.currentTimeMillis();

  NewOrder(TpccTables tables, TpccRandom random, int warehouse) {
    this.tables = tables;
    this.warehouse = warehouse;
    district = random.between(1, TpccScale.DISTRICTS);
    customer = random.customer();
    lines = new Line[random.between(FEWEST_LINES, MOST_LINES)];
    boolean unused = random.percent(UNUSED_PERCENT);
    for (int i = 0; i < lines.length; i++) {
      int item = unused && i == lines.length - 1 ? UNUSED_ITEM : random.item();
      boolean remote = random.scale().warehouses() > 1 && random.percent(REMOTE_PERCENT);
      lines[i] =
          new Line(
              item,
              remote ? random.otherWarehouse(warehouse) : warehouse,
              random.between(1, MOST_OF_AN_ITEM));
    }
  }

  @Override
  public TpccType type() {
    return TpccType.NEW_ORDER;
  }

  /** The order's sum with taxes, in cents. */
  @Override
  public long run(Transaction transaction) {
    int order = takeNumber(transaction);
    putOrder(transaction, order);
    long sum = 0;
    for (int i = 0; i < lines.length; i++) {
      sum += putLine(transaction, order, i + 1, lines[i]);
    }
    byte[] buyer =
        TpccTables.row(
            transaction, tables.customer(), TpccKeys.inDistrict(warehouse, district, customer));
    double discount = TpccRows.getInt(buyer, Customer.DISCOUNT) / WHOLE;
    return Math.round(sum * (1 - discount) * (1 + taxes(transaction)));
  }

  /** The district's next number, which all orders of the district queue for: it comes first. */
  private int takeNumber(Transaction transaction) {
    byte[] key = TpccKeys.district(warehouse, district);
    byte[] row = TpccTables.row(transaction, tables.district(), key);
    int order = TpccRows.getInt(row, District.NEXT_ORDER);
    TpccRows.putInt(row, District.NEXT_ORDER, order + 1);
    transaction.put(tables.district(), key, row);
    return order;
  }

  private void putOrder(Transaction transaction, int order) {
    boolean local = true;
    for (Line line : lines) {
      local &= line.supplier() == warehouse;
    }
    byte[] row = new byte[Order.BYTES];
    TpccRows.putInt(row, Order.CUSTOMER, customer);
    TpccRows.putLong(row, Order.ENTRY_DATE, now);
    TpccRows.putInt(row, Order.LINES, lines.length);
    TpccRows.putInt(row, Order.ALL_LOCAL, local ? 1 : 0);
    byte[] key = TpccKeys.inDistrict(warehouse, district, order);
    transaction.put(tables.order(), key, row);
    transaction.put(tables.newOrder(), key, TpccRows.EMPTY);
    transaction.put(
        tables.orderByCustomer(),
        TpccKeys.orderByCustomer(warehouse, district, customer, order),
        TpccRows.EMPTY);
  }

  /** Takes the items out of the stock; what they cost. */
  private long putLine(Transaction transaction, int order, int number, Line line) {
    byte[] item = transaction.get(tables.item(), TpccKeys.item(line.item()));
    if (item == null) {
      throw new UnusedItemException();
    }
    byte[] stockKey = TpccKeys.stock(line.supplier(), line.item());
    byte[] stock = TpccTables.row(transaction, tables.stock(), stockKey);
    int left = TpccRows.getInt(stock, Stock.QUANTITY) - line.quantity();
    TpccRows.putInt(stock, Stock.QUANTITY, left >= LEAST_LEFT ? left : left + REFILL);
    TpccRows.addLong(stock, Stock.YTD, line.quantity());
    TpccRows.addInt(stock, Stock.ORDERS, 1);
    TpccRows.addInt(stock, Stock.REMOTE_ORDERS, line.supplier() == warehouse ? 0 : 1);
    transaction.put(tables.stock(), stockKey, stock);
    long amount = line.quantity() * TpccRows.getLong(item, Item.PRICE);
    byte[] row = new byte[OrderLine.BYTES];
    TpccRows.putInt(row, OrderLine.ITEM, line.item());
    TpccRows.putInt(row, OrderLine.SUPPLY_WAREHOUSE, line.supplier());
    TpccRows.putInt(row, OrderLine.QUANTITY, line.quantity());
    TpccRows.putLong(row, OrderLine.AMOUNT, amount);
    System.arraycopy(
        stock,
        Stock.DISTRICT + (district - 1) * Stock.DISTRICT_BYTES,
        row,
        OrderLine.DISTRICT_INFO,
        Stock.DISTRICT_BYTES);
    transaction.put(tables.orderLine(), TpccKeys.line(warehouse, district, order, number), row);
    return amount;
  }

  /** Of the warehouse and of the district. */
  private double taxes(Transaction transaction) {
    byte[] home = TpccTables.row(transaction, tables.warehouse(), TpccKeys.warehouse(warehouse));
    byte[] part =
        TpccTables.row(transaction, tables.district(), TpccKeys.district(warehouse, district));
    return (TpccRows.getInt(home, Warehouse.TAX) + TpccRows.getInt(part, District.TAX)) / WHOLE;
  }
}
