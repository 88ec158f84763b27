package org.revenantdb.engine.page;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Big-endian numbers in arrays: their order as unsigned numbers is the order of keys. */
public final class BigEndian {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private BigEndian() {}

  /** Four bytes from an index on; missing bytes count as zero. */
  static int head(byte[] bytes, int index) {
    return head(bytes, index, bytes.length);
  }

  /** Four bytes from an index on; those from {@code end} on count as zero. */
  static int head(byte[] bytes, int index, int end) {
    if (index + Integer.BYTES <= end) {
      return (int) INT.get(bytes, index);
    }
    int head = 0;
    for (int i = index; i < index + Integer.BYTES; i++) {
      head = head << Byte.SIZE | (i < end ? bytes[i] & 0xFF : 0);
    }
    return head;
  }

  /** Eight bytes from an index on; missing bytes count as zero. */
  public static long headLong(byte[] bytes, int index) {
    return index + Long.BYTES <= bytes.length
        ? (long) LONG.get(bytes, index)
        : (long) head(bytes, index) << Integer.SIZE
            | Integer.toUnsignedLong(head(bytes, index + Integer.BYTES));
  }

  static long getLong(byte[] bytes, int index) {
    return (long) LONG.get(bytes, index);
  }

  static void putLong(byte[] bytes, int index, long value) {
    LONG.set(bytes, index, value);
  }
}
