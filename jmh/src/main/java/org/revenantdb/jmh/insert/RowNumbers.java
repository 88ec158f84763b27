package org.revenantdb.jmh.insert;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Keys of eight bytes in the order of their numbers. */
public final class RowNumbers {
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private RowNumbers() {}

  /**
   * The key of a number.
   *
   * @param number not negative
   * @return a new array
   */
  public static byte[] key(long number) {
    byte[] key = new byte[Long.BYTES];
    BIG.set(key, 0, number);
    return key;
  }
}
