package org.revenantdb.jmh.tpcc;

/**
 * What one terminal asks for: the five transactions in the standard mix, at its own warehouse, for
 * Stock-Level its own district (TPC-C 5.2.3, 2.8.1.1). One thread.
 */
public final class TpccMix {
  private final TpccTables tables;
  private final TpccRandom random;
  private final int warehouse;
  private final int district;

  /**
   * Makes the terminal of a session.
   *
   * @param tables of the database
   * @param scale of the database
   * @param session its number, from 0: sessions take the warehouses in turn
   * @param seed of all that is drawn; each session draws otherwise
   */
  public TpccMix(TpccTables tables, TpccScale scale, int session, long seed) {
    this.tables = tables;
    this.random = new TpccRandom(scale, seed * 1_000_003 + session);
    this.warehouse = session % scale.warehouses() + 1;
    this.district = session / scale.warehouses() % TpccScale.DISTRICTS + 1;
  }

  /**
   * Draws the next one, with its input.
   *
   * @return it, to be run
   */
  public TpccTransaction next() {
    int drawn = random.between(1, 100);
    for (TpccType type : TpccType.values()) {
      drawn -= type.percent();
      if (drawn <= 0) {
        return of(type);
      }
    }
    throw new IllegalStateException("the mix has less than a hundred in a hundred");
  }

  /**
   * Draws the input of one type.
   *
   * @param type which of the five
   * @return it, to be run
   */
  TpccTransaction of(TpccType type) {
    return switch (type) {
      case NEW_ORDER -> new NewOrder(tables, random, warehouse);
      case PAYMENT -> new Payment(tables, random, warehouse);
      case ORDER_STATUS -> new OrderStatus(tables, random, warehouse);
      case DELIVERY -> new Delivery(tables, random, warehouse);
      case STOCK_LEVEL -> new StockLevel(tables, random, warehouse, district);
    };
  }
}
