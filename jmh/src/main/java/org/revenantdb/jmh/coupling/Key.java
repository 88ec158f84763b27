package org.revenantdb.jmh.coupling;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.revenantdb.jmh.tree.TreeRows;

/** The key of a row as two words, in which form it is compared. One thread uses it. */
final class Key {
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] bytes = new byte[TreeRows.KEY];

  void set(long row) {
    TreeRows.key(row, bytes);
  }

  long high() {
    return (long) BIG.get(bytes, 0);
  }

  long low() {
    return (long) BIG.get(bytes, Long.BYTES);
  }
}
