package org.revenantdb.jmh.tree;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The rows that all engines store: keys of 16 bytes in the order of the rows, values of a hundred
 * that <em>add up</em> to the number of their row, so that the use of a value also checks it.
 */
public final class TreeRows {
  /*
   *   key    0  number of the row, big-endian, times SPREAD       value    0  eleven words of noise
   *          8  noise, the same each time                                 88  the word that makes the sum right
   *                                                                       96  four bytes of noise
   */

  /** Bytes of a key. */
  public static final int KEY = 16;

  /** Bytes of a value. */
  public static final int VALUE = 100;

  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final VarHandle HALF =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** Keys are not next to each other, as those of most tables are not. */
  private static final long SPREAD = 1_000_003L << 8;

  private static final int BALANCE = 88;
  private static final int LAST = 96;

  private TreeRows() {}

  /**
   * Writes the key of a row.
   *
   * @param row its number, from 0
   * @param key where to
   */
  public static void key(long row, byte[] key) {
    BIG.set(key, 0, row * SPREAD);
    BIG.set(key, Long.BYTES, mix(row));
  }

  /**
   * The key of a row.
   *
   * @param row its number, from 0
   * @return a new array
   */
  public static byte[] key(long row) {
    byte[] key = new byte[KEY];
    key(row, key);
    return key;
  }

  /**
   * Writes a value of a row.
   *
   * @param row its number
   * @param stamp which of its values
   * @param value where to
   */
  public static void value(long row, long stamp, byte[] value) {
    long noise = mix(row + (stamp << 32));
    long sum = 0;
    for (int at = 0; at < BALANCE; at += Long.BYTES) {
      noise = noise * 0x5851_f42d_4c95_7f2dL + 1;
      WORD.set(value, at, noise);
      sum += noise;
    }
    int last = (int) (noise >>> Integer.SIZE);
    HALF.set(value, LAST, last);
    WORD.set(value, BALANCE, row - sum - last);
  }

  /**
   * Adds up a value.
   *
   * @param value whole
   * @return the number of its row
   */
  public static long sum(byte[] value) {
    long sum = (int) HALF.get(value, LAST);
    for (int at = 0; at < LAST; at += Long.BYTES) {
      sum += (long) WORD.get(value, at);
    }
    return sum;
  }

  private static long mix(long number) {
    long mixed = (number ^ (number >>> 31)) * 0x7fb5_d329_728e_a185L;
    return mixed ^ (mixed >>> 27);
  }
}
