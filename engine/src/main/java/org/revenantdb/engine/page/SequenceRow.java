package org.revenantdb.engine.page;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * The catalogue's row of a sequence.
 *
 * <pre>
 *   key     u8 0xFF, then the name in UTF-8, in which no byte is 0xFF: behind the keys of all tables
 *   value    0 u64 mark: how many values may have been handed out
 *            8 u64 start        16 u64 increment, not 0
 *           24 u32 cache size, at least 1
 *           28 u8  order: 0 plain, 1 bit-reversed       29 3 bytes 0
 *           32
 * </pre>
 *
 * <p>Value number {@code k}, from 0, is {@code start + k * increment}, with its lower 63 bits
 * reversed if the order is bit-reversed. All methods are static and only access the given bytes.
 */
public final class SequenceRow {
  /** The order in which numbers are not changed. */
  public static final int PLAIN = 0;

  /** The order in which the lower 63 bits of each number are reversed. */
  public static final int BIT_REVERSED = 1;

  private static final int MARK = 0;
  private static final int START = MARK + Long.BYTES;
  private static final int INCREMENT = START + Long.BYTES;
  private static final int CACHE = INCREMENT + Long.BYTES;
  private static final int ORDER = CACHE + Integer.BYTES;
  private static final int RESERVED = ORDER + 1;
  private static final int SIZE = RESERVED + 3;

  private static final byte PREFIX = (byte) 0xFF;

  /** Longest name, in bytes of UTF-8. */
  public static final int MAX_NAME = LeafCell.MAX_KEY - 1;

  private SequenceRow() {}

  /** The key below those of all sequences, and above those of all tables. */
  public static byte[] firstKey() {
    return new byte[] {PREFIX};
  }

  /** The key of a name. */
  public static byte[] key(byte[] name) {
    byte[] key = new byte[1 + name.length];
    key[0] = PREFIX;
    System.arraycopy(name, 0, key, 1, name.length);
    return key;
  }

  /** Whether a key of the catalogue is that of a sequence. */
  public static boolean isKey(byte[] key) {
    return key.length > 0 && key[0] == PREFIX;
  }

  /** The name in a key. */
  public static byte[] name(byte[] key) {
    return Arrays.copyOfRange(key, 1, key.length);
  }

  /** A row in which no value has been reserved. */
  public static byte[] build(long start, long increment, int cacheSize, int order) {
    byte[] row = new byte[SIZE];
    LittleEndian.putLong(row, START, start);
    LittleEndian.putLong(row, INCREMENT, increment);
    LittleEndian.putInt(row, CACHE, cacheSize);
    row[ORDER] = (byte) order;
    return row;
  }

  /** How many values may have been handed out. */
  public static long mark(byte[] row) {
    return LittleEndian.getLong(row, MARK);
  }

  /** Sets how many values may have been handed out. */
  public static void putMark(byte[] row, long mark) {
    LittleEndian.putLong(row, MARK, mark);
  }

  /** The first number. */
  public static long start(byte[] row) {
    return LittleEndian.getLong(row, START);
  }

  /** The difference from each number to the next. */
  public static long increment(byte[] row) {
    return LittleEndian.getLong(row, INCREMENT);
  }

  /** How many values one record reserves. */
  public static int cacheSize(byte[] row) {
    return LittleEndian.getInt(row, CACHE);
  }

  /** {@link #PLAIN} or {@link #BIT_REVERSED}. */
  public static int order(byte[] row) {
    return row[ORDER] & 0xFF;
  }

  /** The total number of values; 2^63 - 1 if it would be more. */
  public static long count(byte[] row) {
    return count(start(row), increment(row), order(row));
  }

  /** The total number of values with these options. */
  public static long count(long start, long increment, int order) {
    long least = order == BIT_REVERSED ? 1 : Long.MIN_VALUE;
    // Differences of two longs, and the absolute value of one, fit if they are read as unsigned.
    long steps =
        increment > 0
            ? Long.divideUnsigned(Long.MAX_VALUE - start, increment)
            : Long.divideUnsigned(start - least, -increment);
    return steps < 0 || steps == Long.MAX_VALUE ? Long.MAX_VALUE : steps + 1;
  }

  /**
   * A value.
   *
   * @param number from 0 to {@link #count} - 1. So the product may overflow, but the sum does not
   */
  public static long value(long start, long increment, int order, long number) {
    long plain = start + number * increment;
    return order == BIT_REVERSED ? Long.reverse(plain) >>> 1 : plain;
  }

  /** What is wrong with a row, or null. */
  public static @Nullable String problem(byte[] row) {
    if (row.length != SIZE) {
      return "has a row of " + row.length + " bytes in the catalogue, not of " + SIZE;
    }
    if (order(row) > BIT_REVERSED) {
      return "has the unknown order " + order(row);
    }
    if (increment(row) == 0
        || cacheSize(row) < 1
        || (order(row) == BIT_REVERSED && start(row) < 1)
        || row[RESERVED] != 0
        || row[RESERVED + 1] != 0
        || row[RESERVED + 2] != 0) {
      return "has a row in the catalogue that cannot be decoded";
    }
    if (mark(row) < 0 || mark(row) > count(row)) {
      return "has reserved " + mark(row) + " values, but its range has only " + count(row);
    }
    return null;
  }
}
