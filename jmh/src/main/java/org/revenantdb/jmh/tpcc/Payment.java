package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.District;
import org.revenantdb.jmh.tpcc.TpccRows.History;
import org.revenantdb.jmh.tpcc.TpccRows.Warehouse;

/** Payment: a customer pays, at a district of the home warehouse or of another one (TPC-C 2.5). */
final class Payment implements TpccTransaction {
  private static final int REMOTE_PERCENT = 15;
  private static final int LEAST_CENTS = 100;
  private static final int MOST_CENTS = 500_000;
  private static final String BAD_CREDIT = "BC";

  private final TpccTables tables;
  private final int warehouse;
  private final int district;
  private final CustomerChoice choice;
  private final long amount;
  private final long now = System.currentTimeMillis();

  Payment(TpccTables tables, TpccRandom random, int warehouse) {
    this.tables = tables;
    this.warehouse = warehouse;
    district = random.between(1, TpccScale.DISTRICTS);
    boolean remote = random.scale().warehouses() > 1 && random.percent(REMOTE_PERCENT);
    choice =
        remote
            ? CustomerChoice.draw(
                random, random.otherWarehouse(warehouse), random.between(1, TpccScale.DISTRICTS))
            : CustomerChoice.draw(random, warehouse, district);
    amount = random.between(LEAST_CENTS, MOST_CENTS);
  }

  @Override
  public TpccType type() {
    return TpccType.PAYMENT;
  }

  /** The customer's balance, in cents. */
  @Override
  public long run(Transaction transaction) {
    byte[] warehouseKey = TpccKeys.warehouse(warehouse);
    byte[] home = TpccTables.row(transaction, tables.warehouse(), warehouseKey);
    TpccRows.addLong(home, Warehouse.YTD, amount);
    transaction.put(tables.warehouse(), warehouseKey, home);
    byte[] districtKey = TpccKeys.district(warehouse, district);
    byte[] part = TpccTables.row(transaction, tables.district(), districtKey);
    TpccRows.addLong(part, District.YTD, amount);
    transaction.put(tables.district(), districtKey, part);
    int customer = choice.find(transaction, tables);
    long balance = pay(transaction, customer);
    putHistory(
        transaction,
        customer,
        TpccRows.getText(home, Warehouse.NAME, Warehouse.NAME_BYTES)
            + "    "
            + TpccRows.getText(part, District.NAME, District.NAME_BYTES));
    return balance;
  }

  private long pay(Transaction transaction, int customer) {
    byte[] key = TpccKeys.inDistrict(choice.warehouse(), choice.district(), customer);
    byte[] row = TpccTables.row(transaction, tables.customer(), key);
    TpccRows.addLong(row, Customer.BALANCE, -amount);
    TpccRows.addLong(row, Customer.YTD_PAYMENT, amount);
    TpccRows.addInt(row, Customer.PAYMENTS, 1);
    if (TpccRows.getText(row, Customer.CREDIT, Customer.CREDIT_BYTES).equals(BAD_CREDIT)) {
      String data =
          "%d %d %d %d %d %d|"
                  .formatted(
                      customer, choice.district(), choice.warehouse(), district, warehouse, amount)
              + TpccRows.getText(row, Customer.DATA, row.length - Customer.DATA);
      row =
          TpccRows.endingWith(
              row,
              Customer.DATA,
              data.substring(0, Math.min(data.length(), Customer.LONGEST_DATA)));
    }
    transaction.put(tables.customer(), key, row);
    return TpccRows.getLong(row, Customer.BALANCE);
  }

  private void putHistory(Transaction transaction, int customer, String data) {
    byte[] row = new byte[History.DATA];
    TpccRows.putInt(row, History.CUSTOMER_WAREHOUSE, choice.warehouse());
    TpccRows.putInt(row, History.CUSTOMER_DISTRICT, choice.district());
    TpccRows.putInt(row, History.CUSTOMER, customer);
    TpccRows.putLong(row, History.DATE, now);
    TpccRows.putLong(row, History.AMOUNT, amount);
    transaction.put(
        tables.history(),
        TpccKeys.payment(warehouse, district, tables.nextPayment()),
        TpccRows.endingWith(row, History.DATA, data));
  }
}
