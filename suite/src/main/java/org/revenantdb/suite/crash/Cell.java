package org.revenantdb.suite.crash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.revenantdb.chaos.crash.Seeds;

/**
 * Values whose every byte follows from an id, and their short form in promises.
 *
 * <p>A value is its id (8 bytes) and then words computed from it. In a promise, a value of up to
 * {@link #WHOLE} bytes stands whole. A longer one is represented by its length, its first bytes and
 * a hash of all bytes, so a megabyte of large values is not a megabyte of promises. A value with
 * the head of one version and the tail of another has a form that was never promised.
 */
final class Cell {

  /** The longest value that stands whole in a promise. */
  static final int WHOLE = 64;

  private static final int ID = Long.BYTES;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Cell() {}

  /** The value of an id, at least 8 bytes long. */
  static byte[] value(long id, int length) {
    byte[] value = new byte[Math.max(length, ID)];
    LONGS.set(value, 0, id);
    long word = id;
    int at = ID;
    for (; at + Long.BYTES <= value.length; at += Long.BYTES) {
      word = word * 0xD1342543DE82EF95L + 0x2545F4914F6CDD1DL;
      LONGS.set(value, at, word);
    }
    for (; at < value.length; at++) {
      value[at] = (byte) (word >>> (8 * (at & 7)));
    }
    return value;
  }

  /** The form of a value in a promise. */
  static byte[] promised(byte[] value) {
    if (value.length <= WHOLE) {
      return value;
    }
    byte[] form = Arrays.copyOf(value, 3 * Long.BYTES);
    LONGS.set(form, Long.BYTES, (long) value.length);
    LONGS.set(form, 2 * Long.BYTES, hash(value));
    return form;
  }

  /** The form of a key in promises: table, slash, key. */
  static byte[] key(String table, byte[] key) {
    byte[] prefix = (table + "/").getBytes(StandardCharsets.UTF_8);
    byte[] whole = Arrays.copyOf(prefix, prefix.length + key.length);
    System.arraycopy(key, 0, whole, prefix.length, key.length);
    return whole;
  }

  private static long hash(byte[] value) {
    // Four sums side by side, so that a megabyte takes a processor a tenth of a millisecond.
    long a = value.length;
    long b = 1;
    long c = 2;
    long d = 3;
    int at = 0;
    for (; at + 4 * Long.BYTES <= value.length; at += 4 * Long.BYTES) {
      a = step(a, (long) LONGS.get(value, at));
      b = step(b, (long) LONGS.get(value, at + 8));
      c = step(c, (long) LONGS.get(value, at + 16));
      d = step(d, (long) LONGS.get(value, at + 24));
    }
    for (; at < value.length; at++) {
      a = step(a, value[at]);
    }
    return Seeds.of(Seeds.of(a, b), Seeds.of(c, d));
  }

  private static long step(long sum, long word) {
    long mixed = (sum ^ word) * 0x9E3779B97F4A7C15L;
    return mixed ^ (mixed >>> 32);
  }
}
