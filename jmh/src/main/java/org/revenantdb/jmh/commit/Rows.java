package org.revenantdb.jmh.commit;

import java.nio.ByteBuffer;
import java.util.Random;

/**
 * The rows that all engines store: keys of eight bytes, values of a hundred. Each session has its
 * own rows, so that sessions wait only for the log.
 */
public final class Rows {
  /** Rows of a session. */
  public static final int EACH = 256;

  /** Bytes of a value. */
  public static final int VALUE = 100;

  private Rows() {}

  /**
   * A key.
   *
   * @param number of the row
   * @return eight bytes, in the order of the numbers
   */
  public static byte[] key(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /**
   * A value, another one each time.
   *
   * @param random where its bytes come from
   * @return a hundred bytes
   */
  public static byte[] value(Random random) {
    byte[] value = new byte[VALUE];
    random.nextBytes(value);
    return value;
  }

  /**
   * A row of a session.
   *
   * @param session its number
   * @param random chooses
   * @return the number of the row
   */
  public static long of(int session, Random random) {
    return (long) session * EACH + random.nextInt(EACH);
  }
}
