package org.revenantdb.jmh.contend;

/**
 * How often which wait occurred, to three per cent, in four kilobytes.
 *
 * <p>Threads: one writes, others read when it has ended.
 */
public final class WaitHistogram {
  /*
   * Slots       Log-linear. A value below 32 has its own slot. Above, each doubling is divided into
   *             32 slots: the slot is the exponent and the five bits below the highest one.
   *
   *               value    0 .. 31   32 .. 63   64 .. 127   128 .. 255   ...   2^36 and more
   *               slot     0 .. 31   32 .. 63   64 .. 95    96 .. 127          the last
   *               width       1         1           2            4
   *
   * A slot counts as its upper end, so a percentile is never too low. The largest value is kept
   * exactly.
   */
  private static final int SUB_BITS = 5;
  private static final int SUB_SLOTS = 1 << SUB_BITS;
  private static final int MAX_EXPONENT = 36;
  private static final int SLOTS = (MAX_EXPONENT - SUB_BITS + 1) * SUB_SLOTS;

  private final int[] slots = new int[SLOTS];
  private long count;
  private long max;
  private long sum;

  /** Makes an empty one. */
  public WaitHistogram() {}

  /**
   * Counts one wait.
   *
   * @param nanos its length; less than 0 counts as 0
   */
  public void record(long nanos) {
    slots[slotOf(nanos)]++;
    count++;
    max = Math.max(max, nanos);
    sum += Math.max(0, nanos);
  }

  /**
   * Counts what another has counted.
   *
   * @param other stays as it is
   */
  public void add(WaitHistogram other) {
    for (int i = 0; i < SLOTS; i++) {
      slots[i] += other.slots[i];
    }
    count += other.count;
    max = Math.max(max, other.max);
    sum += other.sum;
  }

  /**
   * How many waits were counted.
   *
   * @return their number
   */
  public long count() {
    return count;
  }

  /**
   * The longest wait, exactly.
   *
   * @return nanoseconds, 0 if nothing was counted
   */
  public long max() {
    return max;
  }

  /**
   * The average wait.
   *
   * @return nanoseconds, 0 if nothing was counted
   */
  public double mean() {
    return count == 0 ? 0 : (double) sum / count;
  }

  /**
   * The wait that a share of all waits did not exceed.
   *
   * @param share between 0 and 1: 0.99 for the 99th percentile
   * @return nanoseconds, at most three per cent too much; 0 if nothing was counted
   */
  public long percentile(double share) {
    if (share < 0 || share > 1) {
      throw new IllegalArgumentException("not a share: " + share);
    }
    long wanted = Math.max(1, (long) Math.ceil(share * count));
    long seen = 0;
    for (int i = 0; i < SLOTS; i++) {
      seen += slots[i];
      if (seen >= wanted) {
        return Math.min(upperEnd(i), max);
      }
    }
    return max;
  }

  /** Which slot counts a value; tested at every edge. */
  static int slotOf(long nanos) {
    if (nanos < SUB_SLOTS) {
      return (int) Math.max(nanos, 0);
    }
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
    if (exponent >= MAX_EXPONENT) {
      return SLOTS - 1;
    }
    int shift = exponent - SUB_BITS;
    return shift * SUB_SLOTS + (int) (nanos >>> shift);
  }

  /** The largest value that a slot counts. */
  static long upperEnd(int slot) {
    if (slot < SUB_SLOTS) {
      return slot;
    }
    int shift = slot / SUB_SLOTS - 1;
    long first = (long) (slot - shift * SUB_SLOTS) << shift;
    return first + (1L << shift) - 1;
  }
}
