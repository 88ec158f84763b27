package org.revenantdb.jmh.tpcc;

/**
 * How large the database is. Immutable.
 *
 * <p>Source: TPC-C 1.2 and 4.3.3.1. A warehouse always has {@link #DISTRICTS} districts. The other
 * cardinalities may be a fraction of the specification's, so that a test creates a database
 * quickly. Their proportions stay, and so does the skew of keys.
 *
 * @param warehouses from 1
 * @param items in the catalogue, each in the stock of every warehouse; specification: 100,000
 * @param customers of a district, and orders that it is loaded with; specification: 3,000
 */
public record TpccScale(int warehouses, int items, int customers) {
  /** Districts of a warehouse. */
  public static final int DISTRICTS = 10;

  /** Items of the specification. */
  static final int FULL_ITEMS = 100_000;

  /** Customers of a district of the specification. */
  static final int FULL_CUSTOMERS = 3_000;

  /** Customers that share a last name. */
  private static final int NAMESAKES = 3;

  /** So that there are items enough for an order, and customers with the same name. */
  private static final int FEWEST_ITEMS = 100;

  private static final int FEWEST_CUSTOMERS = 10;

  /** Checks the numbers. */
  public TpccScale {
    if (warehouses < 1 || items < FEWEST_ITEMS || customers < FEWEST_CUSTOMERS) {
      throw new IllegalArgumentException(
          "TPC-C needs 1 warehouse, %d items and %d customers a district at least, not %d, %d and %d"
              .formatted(FEWEST_ITEMS, FEWEST_CUSTOMERS, warehouses, items, customers));
    }
  }

  /**
   * A part of the specification's cardinalities.
   *
   * @param warehouses from 1
   * @param fraction of items, customers and orders; 1 is the specification
   * @return the scale; where the part would be too small, the smallest that works
   */
  public static TpccScale of(int warehouses, double fraction) {
    return new TpccScale(
        warehouses,
        Math.max(FEWEST_ITEMS, (int) (FULL_ITEMS * fraction)),
        Math.max(FEWEST_CUSTOMERS, (int) (FULL_CUSTOMERS * fraction)));
  }

  /** Orders of a district that are delivered when it is loaded; specification: 2,100. */
  int delivered() {
    return customers * 7 / 10;
  }

  /** Different last names; specification: 1,000. */
  int lastNames() {
    return customers / NAMESAKES;
  }
}
