package org.revenantdb.recovery.format;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The numbers of the format: little-endian, at any position. */
final class Numbers {
  static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;

  static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Numbers() {}
}
