package org.revenantdb.gc.spill;

import java.util.Arrays;
import org.revenantdb.recovery.format.LittleEndian;

/** Iterates over the entries of blocks that were read and checked. For one thread. */
final class EntryCursor {
  private final byte[] bytes;
  private int next;
  private int left;
  private int entry;
  private int rowLength;
  private int valueLength;

  EntryCursor(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Goes to the next entry; false if there is none. */
  boolean next() {
    while (left == 0) {
      if (next >= bytes.length) {
        return false;
      }
      left = LittleEndian.getInt(bytes, next + SpillLayout.BLOCK_ENTRIES);
      next += SpillLayout.BLOCK_HEADER;
    }
    entry = next;
    rowLength = LittleEndian.getShort(bytes, entry + SpillLayout.ROW_LENGTH);
    valueLength = LittleEndian.getShort(bytes, entry + SpillLayout.VALUE_LENGTH);
    next = entry + SpillLayout.ENTRY_HEADER + rowLength + valueLength;
    left--;
    return true;
  }

  /** How the row of the entry compares with another. */
  int compareRow(byte[] row) {
    int from = entry + SpillLayout.ENTRY_HEADER;
    return Arrays.compareUnsigned(bytes, from, from + rowLength, row, 0, row.length);
  }

  long committedAt() {
    return LittleEndian.getLong(bytes, entry + SpillLayout.COMMITTED);
  }

  long supersededAt() {
    return LittleEndian.getLong(bytes, entry + SpillLayout.SUPERSEDED);
  }

  /** A copy of the entry. */
  SpilledVersion version() {
    int row = entry + SpillLayout.ENTRY_HEADER;
    int value = row + rowLength;
    return new SpilledVersion(
        Arrays.copyOfRange(bytes, row, value),
        committedAt(),
        supersededAt(),
        LittleEndian.getShort(bytes, entry + SpillLayout.FLAGS),
        Arrays.copyOfRange(bytes, value, value + valueLength));
  }
}
