package org.revenantdb.jmh.tpcc;

import org.agrona.collections.IntArrayList;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;

/**
 * How a user names a customer: by last name, or by number.
 *
 * @param warehouse of the customer
 * @param district of the customer
 * @param number of the customer; 0: by name
 * @param lastName of the customer; empty: by number
 */
record CustomerChoice(int warehouse, int district, int number, String lastName) {
  private static final int BY_NAME_PERCENT = 60;

  static CustomerChoice draw(TpccRandom random, int warehouse, int district) {
    return random.percent(BY_NAME_PERCENT)
        ? new CustomerChoice(warehouse, district, 0, random.lastName())
        : new CustomerChoice(warehouse, district, random.customer(), "");
  }

  /** The number; of several with one last name the middle one by first name (2.5.2.2). */
  int find(Transaction transaction, TpccTables tables) {
    if (lastName.isEmpty()) {
      return number;
    }
    IntArrayList namesakes = new IntArrayList();
    try (Cursor cursor =
        transaction.scan(
            tables.customerByName(),
            TpccKeys.customersNamed(warehouse, district, lastName),
            TpccKeys.afterCustomersNamed(warehouse, district, lastName))) {
      while (cursor.next()) {
        namesakes.addInt(TpccKeys.last(cursor.key()));
      }
    }
    if (namesakes.isEmpty()) {
      throw new IllegalStateException(
          "no customer of warehouse %d, district %d has the name %s"
              .formatted(warehouse, district, lastName));
    }
    return namesakes.getInt((namesakes.size() + 1) / 2 - 1);
  }
}
