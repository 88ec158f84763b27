package org.revenantdb.recovery.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Little-endian numbers in arrays: cells and log records while they are built or read. */
public final class LittleEndian {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private LittleEndian() {}

  /**
   * Unsigned 16-bit number.
   *
   * @param bytes where it stands
   * @param index of its first byte
   * @return the number
   */
  public static int getShort(byte[] bytes, int index) {
    return (short) SHORT.get(bytes, index) & 0xFFFF;
  }

  /**
   * Stores a 16-bit number.
   *
   * @param bytes where it goes
   * @param index of its first byte
   * @param value the number
   */
  public static void putShort(byte[] bytes, int index, int value) {
    SHORT.set(bytes, index, (short) value);
  }

  /**
   * 32-bit number.
   *
   * @param bytes where it stands
   * @param index of its first byte
   * @return the number
   */
  public static int getInt(byte[] bytes, int index) {
    return (int) INT.get(bytes, index);
  }

  /**
   * Stores a 32-bit number.
   *
   * @param bytes where it goes
   * @param index of its first byte
   * @param value the number
   */
  public static void putInt(byte[] bytes, int index, int value) {
    INT.set(bytes, index, value);
  }

  /**
   * 64-bit number.
   *
   * @param bytes where it stands
   * @param index of its first byte
   * @return the number
   */
  public static long getLong(byte[] bytes, int index) {
    return (long) LONG.get(bytes, index);
  }

  /**
   * Stores a 64-bit number.
   *
   * @param bytes where it goes
   * @param index of its first byte
   * @param value the number
   */
  public static void putLong(byte[] bytes, int index, long value) {
    LONG.set(bytes, index, value);
  }
}
