package org.revenantdb.gc.spill;

import java.util.Arrays;

/**
 * A version of a row on its way to a spill file, or from there.
 *
 * @param row table and key, as {@link #row(int, byte[])} puts them together
 * @param committedAt its commit LSN; 0 when it is older than every snapshot, or one that its own
 *     transaction has overwritten
 * @param supersededAt the commit LSN of the version after it, or 0
 * @param flags as in a leaf cell, or {@link #FIRST}
 * @param value its bytes in the cell
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SpilledVersion(
    byte[] row, long committedAt, long supersededAt, int flags, byte[] value) {
  /** Flag of what is no version: a transaction wrote the row first, and the row has what was. */
  public static final int FIRST = 1 << 8;

  /** Table and key in one: the bytes are in the order of the rows. */
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

  /** Rows in their order; of one row the newest version first. */
  static int compare(SpilledVersion one, SpilledVersion other) {
    int order = Arrays.compareUnsigned(one.row, other.row);
    if (order == 0) {
      order = Long.compare(other.committedAt, one.committedAt);
    }
    return order != 0 ? order : Long.compare(other.supersededAt, one.supersededAt);
  }
}
