package org.revenantdb.jmh.recovery;

import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * The rows of the experiments of "Constant Time Recovery in Azure SQL Database" (VLDB 2019, §4):
 * 200 bytes, of which an update changes 4.
 */
public final class BigRows {
  static final int LENGTH = 200;

  private static final int NUMBER = 96;
  private static final int PERIOD = 1 << 10;

  /** Bytes that do not repeat within a row, and are made once. */
  private static final byte[] FILL = new byte[LENGTH + PERIOD];

  static {
    new Random(7).nextBytes(FILL);
  }

  private BigRows() {}

  /**
   * The row; with another number all four bytes of it are others.
   *
   * @param key of the row
   * @param number the four bytes
   * @return a new array
   */
  public static byte[] row(long key, int number) {
    byte[] row = new byte[LENGTH];
    System.arraycopy(FILL, (int) (key % PERIOD), row, 0, LENGTH);
    for (int i = 0; i < Integer.BYTES; i++) {
      row[NUMBER + i] = (byte) (number * (2 * i + 1));
    }
    return row;
  }

  /** Throws an exception unless this is the row of the key, whatever its number is. */
  static void demand(long key, byte @Nullable [] row) {
    if (row == null) {
      throw new IllegalStateException("row " + key + " is missing");
    }
    byte[] expected = row(key, 0);
    if (row.length == LENGTH) {
      System.arraycopy(row, NUMBER, expected, NUMBER, Integer.BYTES);
    }
    if (!Arrays.equals(row, expected)) {
      throw new IllegalStateException("row " + key + " is not what was written");
    }
  }

  /** All of them, each with this number. */
  static void load(Database database, Table table, long rows, int number) {
    try (BulkLoad load = database.bulkLoad(table)) {
      for (long key = 0; key < rows; key++) {
        load.add(RowNumbers.key(key), row(key, number));
      }
      load.finish();
    }
  }

  /** The operation of a transaction on one of them. */
  enum Operation {
    INSERT,
    UPDATE,
    DELETE;

    void apply(Transaction tx, Table table, long key, int number) {
      if (this == DELETE) {
        tx.delete(table, RowNumbers.key(key));
      } else {
        tx.put(table, RowNumbers.key(key), row(key, number));
      }
    }

    boolean needsRows() {
      return this != INSERT;
    }
  }
}
