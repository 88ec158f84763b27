package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;

/** Order-Status: a customer reads the last order and its lines (TPC-C 2.6). */
final class OrderStatus implements TpccTransaction {
  private final TpccTables tables;
  private final CustomerChoice choice;

  OrderStatus(TpccTables tables, TpccRandom random, int warehouse) {
    this.tables = tables;
    choice = CustomerChoice.draw(random, warehouse, random.between(1, TpccScale.DISTRICTS));
  }

  @Override
  public TpccType type() {
    return TpccType.ORDER_STATUS;
  }

  /** The customer's balance and the total of the last order's lines, in cents, added up. */
  @Override
  public long run(Transaction transaction) {
    int warehouse = choice.warehouse();
    int district = choice.district();
    int customer = choice.find(transaction, tables);
    byte[] row =
        TpccTables.row(
            transaction, tables.customer(), TpccKeys.inDistrict(warehouse, district, customer));
    long shown = TpccRows.getLong(row, Customer.BALANCE);
    int order = lastOrder(transaction, customer);
    TpccTables.row(transaction, tables.order(), TpccKeys.inDistrict(warehouse, district, order));
    try (Cursor cursor =
        transaction.scan(
            tables.orderLine(),
            TpccKeys.inDistrict(warehouse, district, order),
            TpccKeys.inDistrict(warehouse, district, order + 1))) {
      while (cursor.next()) {
        shown += TpccRows.getLong(cursor.value(), OrderLine.AMOUNT);
      }
    }
    return shown;
  }

  /** Each customer has one from the load. */
  private int lastOrder(Transaction transaction, int customer) {
    try (Cursor cursor =
        transaction.scanDescending(
            tables.orderByCustomer(),
            TpccKeys.orderByCustomer(choice.warehouse(), choice.district(), customer, 0),
            TpccKeys.orderByCustomer(choice.warehouse(), choice.district(), customer + 1, 0))) {
      if (!cursor.next()) {
        throw new IllegalStateException(
            "customer %d of warehouse %d, district %d has no order"
                .formatted(customer, choice.warehouse(), choice.district()));
      }
      return TpccKeys.last(cursor.key());
    }
  }
}
