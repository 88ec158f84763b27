package org.revenantdb.jmh.gc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * A thousand hot rows: keys of 8 bytes, values of 100. The first 8 bytes count how often the row
 * was written; the others are noise. One thread.
 */
final class HotRows {
  /** How many there are. */
  static final int ROWS = 1_000;

  /** Bytes of a value. */
  static final int VALUE = 100;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] key = new byte[Long.BYTES];
  private final byte[] value = new byte[VALUE];
  private final long[] written = new long[ROWS];
  private final SplittableRandom random;

  HotRows(long seed) {
    random = new SplittableRandom(seed);
  }

  /** The key of a row; good until the next call. */
  byte[] key(int row) {
    LONG.set(key, 0, (long) row);
    return key;
  }

  /** How often the row with this value had been written before. */
  static long count(byte[] value) {
    if (value.length != VALUE) {
      throw new IllegalStateException("a row of " + value.length + " bytes");
    }
    return (long) LONG.get(value, 0);
  }

  /** Writes all rows, in order. */
  void fill(SnapshotStore store) throws Exception {
    for (int row = 0; row < ROWS; row++) {
      write(store, row);
    }
  }

  /** Writes rows that are chosen at random, all alike. */
  void update(SnapshotStore store, long updates) throws Exception {
    for (long i = 0; i < updates; i++) {
      write(store, random.nextInt(ROWS));
    }
  }

  private void write(SnapshotStore store, int row) throws Exception {
    for (int at = Long.BYTES; at + Long.BYTES <= VALUE; at += Long.BYTES) {
      LONG.set(value, at, random.nextLong());
    }
    LONG.set(value, 0, written[row]++);
    store.update(key(row), value);
  }

  /** How often each row has been written, less the first time. */
  long[] counts() {
    long[] counts = new long[ROWS];
    for (int row = 0; row < ROWS; row++) {
      counts[row] = written[row] - 1;
    }
    return counts;
  }

  /** Ends the run if the snapshot does not have the rows that were there when it was opened. */
  void demandInSnapshot(SnapshotStore store, long[] counts) throws Exception {
    for (int row = 0; row < ROWS; row++) {
      demand("the snapshot", row, counts[row], store.readInSnapshot(key(row)));
    }
  }

  /** Ends the run if the rows are not those that were written last. */
  void demandNow(SnapshotStore store) throws Exception {
    for (int row = 0; row < ROWS; row++) {
      demand("the table", row, written[row] - 1, store.readNow(key(row)));
    }
  }

  private static void demand(String where, int row, long expected, byte[] found) {
    if (count(found) != expected) {
      throw new IllegalStateException(
          "%s has version %d of row %d, not %d".formatted(where, count(found), row, expected));
    }
  }
}
