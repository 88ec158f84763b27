package org.revenantdb.engine.page;

import java.util.Arrays;
import java.util.Random;

/** Values that differ little from others: what most updates are. */
public final class Edits {
  private Edits() {}

  /** Other bytes somewhere, some more, or some fewer. */
  public static byte[] edited(Random random, byte[] value) {
    int at = random.nextInt(value.length + 1);
    int until = at + random.nextInt(Math.min(20, value.length - at + 1));
    byte[] between = new byte[random.nextInt(3) > 0 ? until - at : random.nextInt(20)];
    random.nextBytes(between);
    byte[] edited = Arrays.copyOf(value, at + between.length + value.length - until);
    System.arraycopy(between, 0, edited, at, between.length);
    System.arraycopy(value, until, edited, at + between.length, value.length - until);
    return edited;
  }
}
