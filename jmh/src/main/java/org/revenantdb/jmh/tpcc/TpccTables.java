package org.revenantdb.jmh.tpcc;

import java.util.HexFormat;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * The nine tables, the two indexes, and the numbers of payments, which have no key of their own.
 * Thread-safe.
 *
 * @param warehouse by number
 * @param district by warehouse, number
 * @param customer by warehouse, district, number
 * @param customerByName by warehouse, district, last name, first name, number
 * @param history payments, by warehouse and district where it was paid, number
 * @param newOrder orders that are not delivered, as {@code order}
 * @param order by warehouse, district, number
 * @param orderByCustomer by warehouse, district, customer, number
 * @param orderLine by warehouse, district, order, line
 * @param item by number
 * @param stock by warehouse, item
 * @param payments numbers of payments
 */
public record TpccTables(
    Table warehouse,
    Table district,
    Table customer,
    Table customerByName,
    Table history,
    Table newOrder,
    Table order,
    Table orderByCustomer,
    Table orderLine,
    Table item,
    Table stock,
    Sequence payments) {

  /**
   * The tables of a database; those that are missing are created, which is durable then.
   *
   * @param database an open one
   * @return the tables
   */
  public static TpccTables of(Database database) {
    return new TpccTables(
        database.getOrCreateTable("warehouse"),
        database.getOrCreateTable("district"),
        database.getOrCreateTable("customer"),
        database.getOrCreateTable("customer_by_name"),
        database.getOrCreateTable("history"),
        database.getOrCreateTable("new_order"),
        database.getOrCreateTable("order"),
        database.getOrCreateTable("order_by_customer"),
        database.getOrCreateTable("order_line"),
        database.getOrCreateTable("item"),
        database.getOrCreateTable("stock"),
        database.getOrCreateSequence("payments"));
  }

  /** A number that no other payment has; it is durable with the payment. */
  long nextPayment() {
    return payments.next(Durability.LAZY);
  }

  /** A row that must be there. */
  static byte[] row(Transaction transaction, Table table, byte[] key) {
    byte[] row = transaction.get(table, key);
    if (row == null) {
      throw new IllegalStateException(
          "table %s has no row %s".formatted(table, HexFormat.of().formatHex(key)));
    }
    return row;
  }
}
