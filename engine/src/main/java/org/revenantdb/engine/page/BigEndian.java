package org.revenantdb.engine.page;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Big-endian numbers in arrays: their order as unsigned numbers is the order of keys. */
final class BigEndian {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private BigEndian() {}

  static long getLong(byte[] bytes, int index) {
    return (long) LONG.get(bytes, index);
  }
}
