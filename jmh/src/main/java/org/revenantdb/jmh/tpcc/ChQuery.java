package org.revenantdb.jmh.tpcc;

import java.util.Arrays;
import java.util.function.Consumer;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.tpcc.TpccRows.Customer;
import org.revenantdb.jmh.tpcc.TpccRows.Order;
import org.revenantdb.jmh.tpcc.TpccRows.OrderLine;
import org.revenantdb.jmh.tpcc.TpccRows.Stock;

/**
 * Analysis over the tables of TPC-C: each query reads whole tables through cursors, in one
 * transaction.
 *
 * <p>Source: Cole et al., "The Mixed Workload CH-benCHmark", DBTest 2011. We differ: five of its 22
 * queries, those that scan tables with changes, and without the additional tables of TPC-H, which
 * do not change; the filters of a query are fixed.
 */
public enum ChQuery {
  /** Query 1: quantities and amounts of delivered lines, by their number in the order. */
  PRICING_SUMMARY {
    @Override
    Answer run(Transaction transaction, TpccTables tables) {
      long[] quantities = new long[GROUPS];
      long[] amounts = new long[GROUPS];
      long rows =
          scan(
              transaction,
              tables.orderLine(),
              cells -> {
                if (TpccRows.getLong(cells.value, OrderLine.DELIVERY_DATE) != 0) {
                  int group = cells.key[cells.key.length - 1] & (GROUPS - 1);
                  quantities[group] += TpccRows.getInt(cells.value, OrderLine.QUANTITY);
                  amounts[group] += TpccRows.getLong(cells.value, OrderLine.AMOUNT);
                }
              });
      return new Answer(rows, 31L * Arrays.hashCode(quantities) + Arrays.hashCode(amounts));
    }
  },
  /** Query 11: how often items in stock were ordered, by supplier. */
  IMPORTANT_STOCK {
    @Override
    Answer run(Transaction transaction, TpccTables tables) {
      long[] ordered = new long[GROUPS];
      long rows =
          scan(
              transaction,
              tables.stock(),
              cells ->
                  ordered[TpccKeys.last(cells.key) & (GROUPS - 1)] +=
                      TpccRows.getInt(cells.value, Stock.ORDERS)
                          + TpccRows.getLong(cells.value, Stock.YTD));
      return new Answer(rows, Arrays.hashCode(ordered));
    }
  },
  /** Query 12: lines of orders by carrier; each order must have the number of lines it contains. */
  SHIPPING {
    @Override
    Answer run(Transaction transaction, TpccTables tables) {
      long[] carried = new long[GROUPS];
      long rows = 0;
      Cells line = new Cells(LINE_KEY);
      try (Cursor orders = transaction.scan(tables.order(), null, null);
          Cursor lines = transaction.scan(tables.orderLine(), null, null)) {
        Cells order = new Cells(LINE_KEY - 1);
        boolean isLine = lines.next();
        while (orders.next()) {
          order.read(orders);
          rows++;
          int found = 0;
          while (isLine && isOf(lines, line, order)) {
            found++;
            rows++;
            isLine = lines.next();
          }
          int said = TpccRows.getInt(order.value, Order.LINES);
          if (found != said) {
            throw new IllegalStateException(
                "a snapshot has %d lines of an order of %d".formatted(found, said));
          }
          carried[TpccRows.getInt(order.value, Order.CARRIER) & (GROUPS - 1)] += found;
        }
        if (isLine) {
          throw new IllegalStateException("a snapshot has a line without its order");
        }
      }
      return new Answer(rows, Arrays.hashCode(carried));
    }

    private boolean isOf(Cursor lines, Cells line, Cells order) {
      line.read(lines);
      return Arrays.mismatch(line.key, order.key) == order.key.length;
    }
  },
  /** Query 10: what customers owe and have paid, by district. */
  CUSTOMERS {
    @Override
    Answer run(Transaction transaction, TpccTables tables) {
      long[] balances = new long[GROUPS];
      long rows =
          scan(
              transaction,
              tables.customer(),
              cells ->
                  balances[cells.key[Integer.BYTES] & (GROUPS - 1)] +=
                      TpccRows.getLong(cells.value, Customer.BALANCE)
                          + 3 * TpccRows.getLong(cells.value, Customer.YTD_PAYMENT));
      return new Answer(rows, Arrays.hashCode(balances));
    }
  },
  /** Query 15: revenue by supplier. */
  TOP_SUPPLIER {
    @Override
    Answer run(Transaction transaction, TpccTables tables) {
      long[] revenue = new long[SUPPLIERS];
      long rows =
          scan(
              transaction,
              tables.orderLine(),
              cells -> {
                int supplier =
                    TpccRows.getInt(cells.value, OrderLine.SUPPLY_WAREHOUSE)
                        * TpccRows.getInt(cells.value, OrderLine.ITEM);
                revenue[Math.floorMod(supplier, SUPPLIERS)] +=
                    TpccRows.getLong(cells.value, OrderLine.AMOUNT);
              });
      return new Answer(rows, Arrays.hashCode(revenue));
    }
  };

  private static final int GROUPS = 16;

  /** As many as TPC-H has. */
  private static final int SUPPLIERS = 10_000;

  /** A key of a line; that of its order is one byte shorter. */
  private static final int LINE_KEY = 10;

  /** No row of TPC-C is longer. */
  private static final int LONGEST_ROW = 1024;

  /**
   * The result of a query.
   *
   * @param rows that it has read
   * @param digest of its answer: the same for the same rows
   */
  public record Answer(long rows, long digest) {}

  /** A row, copied out of a cursor. */
  private static final class Cells {
    private final byte[] key;
    private final byte[] value = new byte[LONGEST_ROW];

    private Cells(int keyLength) {
      key = new byte[keyLength];
    }

    private void read(Cursor cursor) {
      cursor.key(key, 0);
      cursor.value(value, 0);
    }
  }

  /**
   * Runs it.
   *
   * @param transaction the transaction whose snapshot it reads
   * @param tables of the database
   * @return the result
   * @throws IllegalStateException if the values read cannot belong to one moment
   */
  abstract Answer run(Transaction transaction, TpccTables tables);

  /** Reads a table, copies each row and shows it; returns how many there were. */
  private static long scan(Transaction transaction, Table table, Consumer<Cells> visitor) {
    long rows = 0;
    try (Cursor cursor = transaction.scan(table, null, null)) {
      Cells cells = null;
      while (cursor.next()) {
        if (cells == null) {
          cells = new Cells(cursor.key().length); // all keys of a table are as long
        }
        cells.read(cursor);
        visitor.accept(cells);
        rows++;
      }
    }
    return rows;
  }
}
