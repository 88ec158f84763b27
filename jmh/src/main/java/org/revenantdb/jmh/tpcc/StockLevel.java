package org.revenantdb.jmh.tpcc;

import org.agrona.collections.IntHashSet;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.District;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;
import org.revenantdb.jmh.tpcc.TpccRows.Stock;

/** Stock-Level: which items of a district's last twenty orders are running short (TPC-C 2.8). */
final class StockLevel implements TpccTransaction {
  private static final int ORDERS = 20;
  private static final int LEAST_THRESHOLD = 10;
  private static final int GREATEST_THRESHOLD = 20;

  private final TpccTables tables;
  private final int warehouse;
  private final int district;
  private final int threshold;

  StockLevel(TpccTables tables, TpccRandom random, int warehouse, int district) {
    this.tables = tables;
    this.warehouse = warehouse;
    this.district = district;
    threshold = random.between(LEAST_THRESHOLD, GREATEST_THRESHOLD);
  }

  @Override
  public TpccType type() {
    return TpccType.STOCK_LEVEL;
  }

  /** How many items the warehouse has fewer of than the threshold. */
  @Override
  public long run(Transaction transaction) {
    int next =
        TpccRows.getInt(
            TpccTables.row(transaction, tables.district(), TpccKeys.district(warehouse, district)),
            District.NEXT_ORDER);
    IntHashSet items = new IntHashSet();
    try (Cursor cursor =
        transaction.scan(
            tables.orderLine(),
            TpccKeys.inDistrict(warehouse, district, Math.max(0, next - ORDERS)),
            TpccKeys.inDistrict(warehouse, district, next))) {
      while (cursor.next()) {
        items.add(TpccRows.getInt(cursor.value(), OrderLine.ITEM));
      }
    }
    long low = 0;
    for (IntHashSet.IntIterator each = items.iterator(); each.hasNext(); ) {
      byte[] key = TpccKeys.stock(warehouse, each.nextValue());
      byte[] stock = TpccTables.row(transaction, tables.stock(), key);
      low += TpccRows.getInt(stock, Stock.QUANTITY) < threshold ? 1 : 0;
    }
    return low;
  }
}
