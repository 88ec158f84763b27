package org.revenantdb.latch;

import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts how often, and for how long, threads waited for one class of latches.
 *
 * <p>A latch has no room for a pointer to its class, so the acquiring code passes the class: {@link
 * HybridLatch#acquireExclusive(WaitStatistics)}. Only an acquisition that had to wait is counted.
 * One that needs no wait costs nothing.
 *
 * <p>The counters only grow: there is no reset, because it would lose what other threads count at
 * the same time. For the waits of a period, take a {@link Snapshot} at both ends and subtract.
 *
 * <p>A class may have a rank, its place in the order in which latches are acquired: a thread that
 * holds a latch of some rank waits only for latches of the same or a greater rank. The rank is
 * checked in debug mode ({@link LatchDebug}) and has no other effect.
 *
 * <p>Threads: everything may be called by any thread.
 */
public final class WaitStatistics {
  /*
   * Layout      stripe 0 | stripe 1 | ...     one array, so that counting allocates nothing
   *             a stripe: total, maximum, bucket 0 .. 62, padding up to 72 words (nine cache lines)
   *             bucket i counts waits of 2^i to 2^(i+1) - 1 ns; bucket 0 those of 0 ns as well
   *
   * There is no counter of waits: their number is the sum of the buckets.
   *
   * Ordering    record: maximum, total, bucket last. snapshot: buckets first, of all stripes, then totals and
   *             maxima. All volatile, so each wait that a snapshot counts is in its total and within its maximum.
   *             The total may contain waits that are not counted yet; they are at most as many as threads.
   *
   * Stripes     A thread that counts has just acquired the latch and still holds it. So the threads of one contended
   *             latch do not count at the same time, but threads of several latches of one class do.
   */
  private static final int BUCKETS = Long.SIZE - 1;

  private static final int TOTAL = 0;
  private static final int MAXIMUM = 1;
  private static final int FIRST_BUCKET = 2;
  private static final int STRIDE = 72;

  private static final int STRIPES = stripes(Runtime.getRuntime().availableProcessors());

  private final String latchClass;
  private final OptionalInt rank;
  private final AtomicLongArray counters = new AtomicLongArray(STRIPES * STRIDE);

  /**
   * Makes empty statistics of a class without rank.
   *
   * @param latchClass the name under which they are shown
   */
  public WaitStatistics(String latchClass) {
    this(latchClass, OptionalInt.empty());
  }

  /**
   * Makes empty statistics of a class with a rank.
   *
   * @param latchClass the name under which they are shown
   * @param rank the place in the order of latches; lower ones are acquired first
   */
  public WaitStatistics(String latchClass, int rank) {
    this(latchClass, OptionalInt.of(rank));
  }

  private WaitStatistics(String latchClass, OptionalInt rank) {
    this.latchClass = Objects.requireNonNull(latchClass, "latchClass");
    this.rank = rank;
  }

  /**
   * The class of latches whose waits are counted.
   *
   * @return the name given at construction
   */
  public String latchClass() {
    return latchClass;
  }

  /**
   * The place of the class in the order of latches.
   *
   * @return the rank given at construction, lower first; empty if there is none
   */
  public OptionalInt rank() {
    return rank;
  }

  /**
   * How often a thread waited, with or without success.
   *
   * @return the number of acquisitions that had to wait
   */
  public long waits() {
    return snapshot().waits();
  }

  /**
   * How long they waited, spinning and parked together.
   *
   * @return the sum of all waits in nanoseconds
   */
  public long waitedNanos() {
    return snapshot().totalNanos();
  }

  /**
   * The counts until now.
   *
   * @return an immutable copy
   */
  public Snapshot snapshot() {
    long[] histogram = new long[BUCKETS];
    for (int stripe = 0; stripe < STRIPES; stripe++) {
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        histogram[bucket] += counters.get(stripe * STRIDE + FIRST_BUCKET + bucket);
      }
    }
    long total = 0;
    long maximum = 0;
    for (int stripe = 0; stripe < STRIPES; stripe++) {
      total += counters.get(stripe * STRIDE + TOTAL);
      maximum = Math.max(maximum, counters.get(stripe * STRIDE + MAXIMUM));
    }
    return new Snapshot(latchClass, histogram, total, maximum);
  }

  /**
   * Counts one wait; it may also be a wait for something other than a latch. Never throws, because
   * its caller has just acquired the latch. If there is no room on the stack, or no memory to link
   * a method, the count is lost: that is better than to lose a latch.
   *
   * @param waitedNanos how long it was; less than 0 counts as 0
   */
  public void record(long waitedNanos) {
    try {
      count(Math.max(0, waitedNanos));
    } catch (VirtualMachineError | LinkageError e) {
      // One wait is not counted.
    }
  }

  private void count(long nanos) {
    int stripe = ((int) Thread.currentThread().threadId() & (STRIPES - 1)) * STRIDE;
    for (long max = counters.get(stripe + MAXIMUM); max < nanos; ) {
      max = counters.compareAndExchange(stripe + MAXIMUM, max, nanos);
    }
    counters.getAndAdd(stripe + TOTAL, nanos);
    counters.getAndIncrement(stripe + FIRST_BUCKET + bucketOf(nanos));
  }

  @Override
  public String toString() {
    return snapshot().toString();
  }

  static int bucketOf(long nanos) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos | 1);
  }

  /** As many as processors, rounded down to a power of two, eight at most. */
  static int stripes(int processors) {
    return Integer.highestOneBit(Math.clamp(processors, 1, 8));
  }

  /** The counts at one moment, or between two moments. Immutable. */
  public static final class Snapshot {
    private final String latchClass;
    private final long[] histogram;
    private final long waits;
    private final long totalNanos;
    private final long maxNanos;

    private Snapshot(String latchClass, long[] histogram, long totalNanos, long maxNanos) {
      this.latchClass = latchClass;
      this.histogram = histogram;
      this.waits = Arrays.stream(histogram).sum();
      this.totalNanos = totalNanos;
      this.maxNanos = maxNanos;
    }

    /**
     * The class of latches that was counted.
     *
     * @return its name
     */
    public String latchClass() {
      return latchClass;
    }

    /**
     * How often a thread waited, with or without success.
     *
     * @return the sum of the histogram
     */
    public long waits() {
      return waits;
    }

    /**
     * How long they waited, together.
     *
     * @return nanoseconds
     */
    public long totalNanos() {
      return totalNanos;
    }

    /**
     * The longest wait.
     *
     * @return nanoseconds; an upper bound in the result of {@link #minus}; 0 if no thread waited
     */
    public long maxNanos() {
      return maxNanos;
    }

    /**
     * The waits by their length.
     *
     * @return a copy: at index <i>i</i> how many waits took from 2<sup><i>i</i></sup> to less than
     *     2<sup><i>i</i>+1</sup> nanoseconds; index 0 has those of 0 ns as well
     */
    public long[] histogram() {
      return histogram.clone();
    }

    /**
     * Estimates a percentile: the time within which a fraction of the waits ended.
     *
     * @param fraction 0.5 for the median, 0.99 for the time that one in a hundred exceeds
     * @return nanoseconds, in the same power-of-two bucket as the true value; 0 if no thread waited
     * @throws IllegalArgumentException if the fraction is not between 0 and 1
     */
    public long nanosAt(double fraction) {
      if (!(fraction >= 0 && fraction <= 1)) {
        throw new IllegalArgumentException("not between 0 and 1: " + fraction);
      }
      long place = Math.max(1, (long) Math.ceil(fraction * waits));
      long before = 0;
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        long here = histogram[bucket];
        if (here != 0 && before + here >= place) {
          double share = (double) (place - before) / here;
          long floor = floorOf(bucket);
          long width = ceilingOf(bucket) - floor; // as a double it may be rounded up
          return Math.min(maxNanos, floor + Math.min(width, (long) (share * width)));
        }
        before += here;
      }
      return maxNanos;
    }

    /**
     * The counts since an earlier snapshot of the same statistics.
     *
     * @param earlier taken before this one
     * @return the difference; its longest wait is exact if it is the longest ever, else the upper
     *     bound of its bucket
     * @throws IllegalArgumentException if the other snapshot is of another class, or later
     */
    public Snapshot minus(Snapshot earlier) {
      if (!latchClass.equals(earlier.latchClass)) {
        throw new IllegalArgumentException(
            "different classes of latches: " + latchClass + ", " + earlier.latchClass);
      }
      long[] difference = new long[BUCKETS];
      long longest = 0;
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        difference[bucket] = histogram[bucket] - earlier.histogram[bucket];
        if (difference[bucket] < 0) {
          throw new IllegalArgumentException("not earlier: " + earlier + ", this: " + this);
        }
        if (difference[bucket] > 0) {
          longest = Math.min(maxNanos, ceilingOf(bucket));
        }
      }
      return new Snapshot(latchClass, difference, totalNanos - earlier.totalNanos, longest);
    }

    @Override
    public String toString() {
      if (waits == 0) {
        return latchClass + ": 0 waits";
      }
      return String.format(
          Locale.ROOT,
          "%s: %d %s, %s together, half within %s, 99 %% within %s, longest %s",
          latchClass,
          waits,
          waits == 1 ? "wait" : "waits",
          readable(totalNanos),
          readable(nanosAt(0.5)),
          readable(nanosAt(0.99)),
          readable(maxNanos));
    }

    private static long floorOf(int bucket) {
      return bucket == 0 ? 0 : 1L << bucket;
    }

    private static long ceilingOf(int bucket) {
      return (1L << bucket) - 1 + (1L << bucket);
    }

    private static String readable(long nanos) {
      if (nanos < TimeUnit.MICROSECONDS.toNanos(10)) {
        return nanos + " ns";
      }
      if (nanos < TimeUnit.MILLISECONDS.toNanos(10)) {
        return TimeUnit.NANOSECONDS.toMicros(nanos) + " us";
      }
      return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    }
  }
}
