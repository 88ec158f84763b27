package org.revenantdb.jmh.tpcc;

/** The five transactions, with their part of the standard mix (TPC-C 5.2.3). */
public enum TpccType {
  /** A customer orders five to fifteen items. */
  NEW_ORDER(45),
  /** A customer pays. */
  PAYMENT(43),
  /** A customer reads the last order. */
  ORDER_STATUS(4),
  /** The oldest order of each district is delivered. */
  DELIVERY(4),
  /** Which items of the last twenty orders are running short. */
  STOCK_LEVEL(4);

  private final int percent;

  TpccType(int percent) {
    this.percent = percent;
  }

  /**
   * Its part of the mix.
   *
   * @return in a hundred
   */
  public int percent() {
    return percent;
  }
}
