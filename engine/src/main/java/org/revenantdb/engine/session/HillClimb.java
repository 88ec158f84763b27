package org.revenantdb.engine.session;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * Finds the ceiling of pauses with which most is committed, from samples of how much that is. It
 * knows no clock: what it does follows from the samples alone.
 *
 * <p>Threads: one at a time, each seeing what the one before has done.
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

  /** An interval with fewer commits goes on, up to the longest. */
  private static final long FEWEST_COMMITS = 32;

  private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long SHORTEST_CEILING = TimeUnit.MICROSECONDS.toNanos(1);
  private static final int LONGEST_STRIDE = 8;
  private static final int LONGEST_REST = 8;

  /** What a longer pause has to gain. */
  private static final double GAIN = 0.02;

  /** The part of a new sample in the mean. */
  private static final double NEW = 0.4;

  private static final double NONE = -1;

  /** Of each level. */
  private final long[] ceilings;

  private long begun;
  private long commitsBefore;

  /** Where it stands. */
  private int level;

  /** What the ceiling is now. */
  private int at;

  /** Commits a second at the level. */
  private double rate = NONE;

  /** How far samples are from that, as a part of it. */
  private double noise;

  private double triedRate = NONE;
  private int tried;
  private int stride = 1;
  private boolean isUpward = true;
  private boolean hasTurned;
  private int rest;
  private int lastRest;

  /**
   * At 0.
   *
   * @param longest ceiling
   * @param now time in nanoseconds, of any origin
   * @param commits until now
   */
  HillClimb(long longest, long now, long commits) {
    LongStream doubled =
        LongStream.iterate(SHORTEST_CEILING, it -> it < longest, it -> Math.min(2 * it, longest));
    ceilings =
        LongStream.concat(LongStream.of(0), LongStream.concat(doubled, LongStream.of(longest)))
            .toArray();
    beginAnew(now, commits);
  }

  /** Forgets all it knows, and stands at 0. */
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

  /** Pauses are to be below that, in nanoseconds. */
  long ceiling() {
    return ceilings[at];
  }

  /** No sample before that ends the interval. */
  long due() {
    return begun + Math.max(INTERVAL, 2 * ceiling());
  }

  /**
   * A sample; the ceiling may be another one then.
   *
   * @param now time in nanoseconds
   * @param commits until now
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

  /** The other direction, then the next stride. */
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
      target = target(); // one of the two directions leads somewhere
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
