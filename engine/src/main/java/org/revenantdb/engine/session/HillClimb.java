package org.revenantdb.engine.session;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Finds the ceiling of pauses with the most commits, from samples of the commit rate. It uses no
 * clock: its decisions depend only on the samples.
 *
 * <p>Threads: one at a time, each with the changes of the former one visible.
 */
public final class HillClimb {
  /*
   * Source      Lim, Kaminsky, Andersen, "Cicada: Dependably Fast Multi-Core In-Memory Transactions", SIGMOD 2017,
   *             contention regulation; thesis §4.5. We differ: (1) ceilings are climbed in ratios, by strides that grow
   *             where nothing is gained, since the best may be a microsecond or milliseconds, and the ground near 0 may
   *             be flat; (2) a try is compared with what was before and after it, and an ascent has to be above the
   *             noise, since an interval of few commits says little; (3) flat ground leads down to 0.
   *
   * Protocol    docs/protocols.md §40.
   *
   * State       at == level: it stands; triedRate >= 0: back from a try, which is decided upon with the next sample.
   *             at != level: it tries.
   */
  /** The shortest interval. */
  public static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(20);

  /** An interval with fewer commits is extended, up to the longest. */
  private static final long FEWEST_COMMITS = 32;

  private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long SHORTEST_CEILING = TimeUnit.MICROSECONDS.toNanos(1);
  private static final int LONGEST_STRIDE = 8;
  private static final int LONGEST_REST = 8;

  /** The gain that a longer pause must bring. */
  private static final double GAIN = 0.02;

  /** The weight of a new sample in the mean. */
  private static final double NEW = 0.4;

  private static final double NONE = -1;

  /** The ceiling of each level. */
  private final long[] ceilings;

  private long begun;
  private long commitsBefore;

  /** The level at which it stands. */
  private int level;

  /** The level of the present ceiling. */
  private int at;

  /** Commits a second at the level. */
  private double rate = NONE;

  /** The usual deviation of samples from the rate, as a part of it. */
  private double noise;

  private double triedRate = NONE;
  private int tried;
  private int stride = 1;
  private boolean isUpward = true;
  private boolean hasTurned;
  private int rest;
  private int lastRest;

  /**
   * Starts at level 0.
   *
   * @param longest the highest ceiling
   * @param now time in nanoseconds since an arbitrary moment
   * @param commits the number of commits until now
   */
  HillClimb(long longest, long now, long commits) {
    int count = 2; // no ceiling, and the longest
    for (long it = SHORTEST_CEILING; it < longest; it *= 2) {
      count++;
    }
    ceilings = new long[count];
    for (int i = 1; i < count; i++) {
      ceilings[i] = i == 1 ? SHORTEST_CEILING : 2 * ceilings[i - 1];
    }
    ceilings[count - 1] = longest;
    beginAnew(now, commits);
  }

  /** Drops all data, and returns to level 0. */
  void beginAnew(long now, long commits) {
    begun = now;
    commitsBefore = commits;
    level = 0;
    at = 0;
    rate = NONE;
    noise = 0;
    triedRate = NONE;
    stride = 1;
    isUpward = true;
    hasTurned = false;
    rest = 0;
    lastRest = 0;
  }

  /** The ceiling of pauses, in nanoseconds. */
  long ceiling() {
    return ceilings[at];
  }

  /** The earliest time at which a sample can end the interval. */
  long due() {
    return begun + Math.max(INTERVAL, 2 * ceiling());
  }

  /**
   * Takes a sample, which may change the ceiling.
   *
   * @param now time in nanoseconds
   * @param commits the number of commits until now
   */
  void sample(long now, long commits) {
    long nanos = now - begun;
    long committed = commits - commitsBefore;
    if (now - due() < 0 || (committed < FEWEST_COMMITS && nanos < LONGEST_INTERVAL)) {
      return;
    }
    begun = now;
    commitsBefore = commits;
    double sampled = committed * 1e9 / nanos;
    if (at != level) {
      triedRate = sampled;
      at = level;
      return;
    }
    stand(sampled);
    if (triedRate != NONE) {
      decide();
    } else if (rest > 0) {
      rest--;
    }
    if (rest == 0 && rate != NONE) {
      beginTry();
    }
  }

  private void stand(double sampled) {
    if (rate == NONE) {
      rate = sampled;
      return;
    }
    double distance = rate == 0 ? 0 : Math.abs(sampled - rate) / rate;
    noise += NEW * (Math.min(distance, 1) - noise);
    rate += (triedRate == NONE ? NEW : 0.5) * (sampled - rate); // before and after a try alike
  }

  /** Whether the level that was tried is better. */
  private void decide() {
    boolean isBetter = tried > level ? triedRate > rate * (1 + GAIN + noise) : triedRate >= rate;
    if (isBetter) {
      level = tried;
      at = tried;
      rate = NONE; // known with the next sample
      hasTurned = false;
      lastRest = 0;
    } else {
      turn();
    }
    triedRate = NONE;
  }

  /** Switches to the other direction, then to the next stride. */
  private void turn() {
    isUpward = !isUpward;
    hasTurned = !hasTurned;
    if (!hasTurned) {
      stride = stride == LONGEST_STRIDE ? 1 : 2 * stride;
      lastRest = Math.min(2 * lastRest + 1, LONGEST_REST);
      rest = lastRest;
    }
  }

  private void beginTry() {
    int target = target();
    if (target == level) {
      turn();
      target = target(); // one of the two directions is possible
      if (rest > 0) {
        return;
      }
    }
    tried = target;
    at = target;
  }

  private int target() {
    return Math.clamp(
        isUpward ? level + (long) stride : level - (long) stride, 0, ceilings.length - 1);
  }

  @Override
  public String toString() {
    return "level " + level + ", at " + at + " of " + Arrays.toString(ceilings);
  }
}
