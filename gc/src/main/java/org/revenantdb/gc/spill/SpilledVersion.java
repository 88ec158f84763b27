package org.revenantdb.gc.spill;

import java.util.Arrays;

/**
 * A version of a row as it is written to a spill file, or was read from one.
 *
 * @param row table and key, as {@link #row(int, byte[])} puts them together
 * @param committedAt its commit LSN; 0 if it is older than every snapshot, or if its own
 *     transaction has overwritten it
 * @param supersededAt the commit LSN of the version after it, or 0
 * @param flags as in a leaf cell, or {@link #FIRST}
 * @param value its bytes in the cell
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SpilledVersion(
    byte[] row, long committedAt, long supersededAt, int flags, byte[] value) {
  /**
   * Flag of an entry that is no version: the transaction wrote the row for the first time, and the
   * row itself keeps the former version.
   */
  public static final int FIRST = 1 << 8;

  /** Combines table and key. The order of the bytes is the order of the rows. */
  public static byte[] row(int table, byte[] key) {
    byte[] row = new byte[Integer.BYTES + key.length];
    for (int i = 0; i < Integer.BYTES; i++) {
      row[i] = (byte) (table >>> (Integer.SIZE - Byte.SIZE * (i + 1)));
    }
    System.arraycopy(key, 0, row, Integer.BYTES, key.length);
    return row;
  }

  /** The table of the row. */
  public int table() {
    int table = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      table = table << Byte.SIZE | (row[i] & 0xFF);
    }
    return table;
  }

  /** The key of the row. */
  public byte[] key() {
    return Arrays.copyOfRange(row, Integer.BYTES, row.length);
  }

  /** Compares by row; versions of one row, the newest first. */
  static int compare(SpilledVersion one, SpilledVersion other) {
    int order = Arrays.compareUnsigned(one.row, other.row);
    if (order == 0) {
      order = Long.compare(other.committedAt, one.committedAt);
    }
    return order != 0 ? order : Long.compare(other.supersededAt, one.supersededAt);
  }
}
