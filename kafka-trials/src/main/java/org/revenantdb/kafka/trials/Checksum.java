package org.revenantdb.kafka.trials;

/**
 * Rows of a store, added up in any order: how many there are, the sum of their counts, and a number
 * that depends on which key has which count.
 */
final class Checksum {
  private long rows;
  private long sum;
  private long hash;

  void add(long key, long count) {
    rows++;
    sum += count;
    hash += mix(key * 0x9E37_79B9_7F4A_7C15L + count);
  }

  /** The last steps of SplitMix64. */
  private static long mix(long of) {
    long z = (of ^ of >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }

  long rows() {
    return rows;
  }

  @Override
  public String toString() {
    return rows + " rows, sum " + sum + ", hash " + Long.toHexString(hash);
  }
}
