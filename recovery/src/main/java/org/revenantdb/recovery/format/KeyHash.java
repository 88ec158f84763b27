package org.revenantdb.recovery.format;

/**
 * Computes the partition of a key in a hash-partitioned table. It is part of the format: its
 * results never change (format.md §1.5, with test vectors).
 *
 * <p>Stateless; a call allocates nothing.
 */
public final class KeyHash {
  /*
   * Source      Yann Collet, "xxHash fast digest algorithm", XXH64 with seed 0. Chosen because a short key costs a few
   *             nanoseconds, keys that differ in few bits (consecutive numbers) spread well, and there are published
   *             test vectors. It does not protect against keys that are chosen to hit one partition; such keys only
   *             cost speed.
   *
   * Range       The upper half of the product of hash and number takes the place of a division, and works for any
   *             number of partitions; Lemire, "Fast Random Integer Generation in an Interval" (TOMACS 2019).
   */
  /** The code of the function in the catalogue. */
  public static final int FUNCTION = 1;

  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  /** P1 + P2, modulo 2^64. */
  private static final long P1_AND_P2 = 0x60EA27EEADC0B5D6L;

  private static final int STRIPE = 4 * Long.BYTES;

  private KeyHash() {}

  /**
   * The partition of a key.
   *
   * @param key any bytes
   * @param partitions the number of partitions
   * @return a number from 0 to one below {@code partitions}
   */
  public static int partition(byte[] key, int partitions) {
    return (int) Math.unsignedMultiplyHigh(hash(key), partitions);
  }

  /**
   * The hash of a key: XXH64 with seed 0.
   *
   * @param key any bytes
   * @return 64 evenly distributed bits
   */
  public static long hash(byte[] key) {
    int at = 0;
    long hash = P5;
    if (key.length >= STRIPE) {
      at = key.length & -STRIPE;
      hash = stripes(key, at);
    }
    hash += key.length;
    for (; at + Long.BYTES <= key.length; at += Long.BYTES) {
      hash ^= round(0, LittleEndian.getLong(key, at));
      hash = Long.rotateLeft(hash, 27) * P1 + P4;
    }
    if (at + Integer.BYTES <= key.length) {
      hash ^= Integer.toUnsignedLong(LittleEndian.getInt(key, at)) * P1;
      hash = Long.rotateLeft(hash, 23) * P2 + P3;
      at += Integer.BYTES;
    }
    for (; at < key.length; at++) {
      hash ^= (key[at] & 0xFF) * P5;
      hash = Long.rotateLeft(hash, 11) * P1;
    }
    hash = (hash ^ hash >>> 33) * P2;
    hash = (hash ^ hash >>> 29) * P3;
    return hash ^ hash >>> 32;
  }

  /** The whole stripes at the beginning of a long key. */
  private static long stripes(byte[] key, int end) {
    long a = P1_AND_P2;
    long b = P2;
    long c = 0;
    long d = -P1;
    for (int at = 0; at < end; at += STRIPE) {
      a = round(a, LittleEndian.getLong(key, at));
      b = round(b, LittleEndian.getLong(key, at + Long.BYTES));
      c = round(c, LittleEndian.getLong(key, at + 2 * Long.BYTES));
      d = round(d, LittleEndian.getLong(key, at + 3 * Long.BYTES));
    }
    long hash =
        Long.rotateLeft(a, 1)
            + Long.rotateLeft(b, 7)
            + Long.rotateLeft(c, 12)
            + Long.rotateLeft(d, 18);
    hash = merge(hash, a);
    hash = merge(hash, b);
    hash = merge(hash, c);
    return merge(hash, d);
  }

  private static long merge(long hash, long accumulator) {
    return (hash ^ round(0, accumulator)) * P1 + P4;
  }

  private static long round(long accumulator, long word) {
    return Long.rotateLeft(accumulator + word * P2, 31) * P1;
  }
}
