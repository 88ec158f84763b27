package org.revenantdb.gc.spill;

/**
 * Finds out, for most rows that are not in a run, that they are not, without access to the file.
 *
 * <p>Threads: one thread fills it; afterwards any number of threads query it.
 */
final class BloomFilter {
  /*
   * Source      Bloom, "Space/time trade-offs in hash coding with allowable errors" (CACM 1970); two hashes take the
   *             place of many: Kirsch, Mitzenmacher, "Less Hashing, Same Performance" (2008). Ten bits a row and six
   *             places: one in a hundred absent rows is reported as possibly present. With fewer bits, where memory
   *             is short, it is more. A row that is present is never missed.
   */
  private static final int BITS_PER_ROW = 10;
  private static final int PLACES = 6;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final long[] words;

  /**
   * Makes a filter without rows.
   *
   * @param rows the greatest number of rows
   * @param limit the greatest number of bytes
   */
  BloomFilter(long rows, int limit) {
    long bits = Math.min(Math.max(1, rows) * BITS_PER_ROW, (long) limit * Byte.SIZE);
    this.words = new long[(int) Math.max(1, (bits + Long.SIZE - 1) / Long.SIZE)];
  }

  /** Adds a row by its hash. */
  void add(long hash) {
    long step = hash * GOLDEN | 1;
    long at = hash;
    for (int place = 0; place < PLACES; place++) {
      long bit = bit(at);
      words[(int) (bit >>> 6)] |= 1L << bit;
      at += step;
    }
  }

  /** False if no row of this hash was added. */
  boolean mayHave(long hash) {
    long step = hash * GOLDEN | 1;
    long at = hash;
    for (int place = 0; place < PLACES; place++) {
      long bit = bit(at);
      if ((words[(int) (bit >>> 6)] & 1L << bit) == 0) {
        return false;
      }
      at += step;
    }
    return true;
  }

  private long bit(long hash) {
    return Math.unsignedMultiplyHigh(hash, (long) words.length * Long.SIZE);
  }

  /** The size in bytes. */
  int bytes() {
    return words.length * Long.BYTES;
  }
}
