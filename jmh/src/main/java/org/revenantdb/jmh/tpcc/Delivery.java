package org.revenantdb.jmh.tpcc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.Order;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;

/**
 * Delivery: the oldest order of each district that is not delivered is (TPC-C 2.7). All ten in one
 * transaction, at once, not from a queue.
 */
final class Delivery implements TpccTransaction {
  private static final int CARRIERS = 10;

  private final TpccTables tables;
  private final int warehouse;
  private final int carrier;
  private final long now = System.currentTimeMillis();

  Delivery(TpccTables tables, TpccRandom random, int warehouse) {
    this.tables = tables;
    this.warehouse = warehouse;
    carrier = random.between(1, CARRIERS);
  }

  @Override
  public TpccType type() {
    return TpccType.DELIVERY;
  }

  /** How many orders were delivered; a district may have none left. */
  @Override
  public long run(Transaction transaction) {
    int delivered = 0;
    for (int district = 1; district <= TpccScale.DISTRICTS; district++) {
      int order = takeOldest(transaction, district);
      if (order != 0) {
        deliver(transaction, district, order);
        delivered++;
      }
    }
    return delivered;
  }

  /** 0 if there is none. */
  private int takeOldest(Transaction transaction, int district) {
    byte[] key;
    try (Cursor cursor =
        transaction.scan(
            tables.newOrder(),
            TpccKeys.district(warehouse, district),
            TpccKeys.district(warehouse, district + 1))) {
      if (!cursor.next()) {
        return 0;
      }
      key = cursor.key();
    }
    transaction.delete(tables.newOrder(), key);
    return TpccKeys.last(key);
  }

  private void deliver(Transaction transaction, int district, int order) {
    byte[] orderKey = TpccKeys.inDistrict(warehouse, district, order);
    byte[] row = TpccTables.row(transaction, tables.order(), orderKey);
    TpccRows.putInt(row, Order.CARRIER, carrier);
    transaction.put(tables.order(), orderKey, row);
    long sum = deliverLines(transaction, district, order);
    byte[] customerKey =
        TpccKeys.inDistrict(warehouse, district, TpccRows.getInt(row, Order.CUSTOMER));
    byte[] customer = TpccTables.row(transaction, tables.customer(), customerKey);
    TpccRows.addLong(customer, Customer.BALANCE, sum);
    TpccRows.addInt(customer, Customer.DELIVERIES, 1);
    transaction.put(tables.customer(), customerKey, customer);
  }

  /** The total of the lines, in cents. */
  private long deliverLines(Transaction transaction, int district, int order) {
    List<Map.Entry<byte[], byte[]>> lines = new ArrayList<>();
    try (Cursor cursor =
        transaction.scan(
            tables.orderLine(),
            TpccKeys.inDistrict(warehouse, district, order),
            TpccKeys.inDistrict(warehouse, district, order + 1))) {
      while (cursor.next()) {
        lines.add(Map.entry(cursor.key(), cursor.value()));
      }
    }
    long sum = 0;
    for (Map.Entry<byte[], byte[]> line : lines) {
      byte[] row = line.getValue();
      sum += TpccRows.getLong(row, OrderLine.AMOUNT);
      TpccRows.putLong(row, OrderLine.DELIVERY_DATE, now);
      transaction.put(tables.orderLine(), line.getKey(), row);
    }
    return sum;
  }
}
