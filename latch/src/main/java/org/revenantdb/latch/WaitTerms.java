package org.revenantdb.latch;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The terms on which a thread waits: for how long, whether an interrupt ends it, whether somebody
 * is asked from time to time if it is still wanted, and where the wait is counted.
 *
 * <p>Immutable. Terms are best made once and used often; then waiting on terms allocates no more
 * than waiting without. Any thread may use them.
 *
 * {@snippet :
 * static final WaitTerms TERMS = WaitTerms.endless().countedIn(LEAF_LATCHES);
 *
 * WaitTerms ofQuery = TERMS.asLongAs(() -> !query.isCancelled()).atMost(Duration.ofSeconds(5));
 * switch (latch.acquireExclusive(ofQuery)) {
 *   case ACQUIRED -> { try { page.change(); } finally { latch.releaseExclusive(); } }
 *   case GIVEN_UP -> throw new QueryCancelledException();
 *   case TIMED_OUT, INTERRUPTED -> throw new PageBusyException();
 * }
 * }
 *
 * <p>Source: Böttcher, "Scalable Concurrency Control", thesis 2023, section 2.2.4, has the question
 * asked every 10 ms: whether the query was cancelled, or the page has gone meanwhile.
 */
public final class WaitTerms {
  /** How often the question of {@link #asLongAs(BooleanSupplier)} is asked, as in the thesis. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  static final WaitTerms ENDLESS =
      new WaitTerms(
          /* timed= */ false, 0, /* interruptible= */ false, 0, /* wanted= */ null, null, null);
  static final WaitTerms INTERRUPTIBLE = ENDLESS.interruptible();

  private final boolean timed;
  private final long nanos;
  private final boolean interruptible;
  private final long periodNanos;
  private final @Nullable BooleanSupplier wanted;
  private final @Nullable WaitStatistics statistics;
  private final @Nullable LatchMeters meters;

  private WaitTerms(
      boolean timed,
      long nanos,
      boolean interruptible,
      long periodNanos,
      @Nullable BooleanSupplier wanted,
      @Nullable WaitStatistics statistics,
      @Nullable LatchMeters meters) {
    this.timed = timed;
    this.nanos = nanos;
    this.interruptible = interruptible;
    this.periodNanos = periodNanos;
    this.wanted = wanted;
    this.statistics = statistics;
    this.meters = meters;
  }

  /**
   * Waits as long as it takes; an interrupt is kept for later; nobody is asked; nothing is counted.
   *
   * @return the terms that all others are made from
   */
  public static WaitTerms endless() {
    return ENDLESS;
  }

  /**
   * The same, but for this time at most, from the moment the wait begins; not the less of this and
   * one that was set before.
   *
   * @param time 0 or less does not wait at all; longer than 292 years is as good as for ever
   * @return other terms
   */
  public WaitTerms atMost(Duration time) {
    long saturated;
    try {
      saturated = time.toNanos();
    } catch (ArithmeticException e) {
      saturated = time.isNegative() ? 0 : Long.MAX_VALUE;
    }
    return new WaitTerms(
        /* timed= */ true, saturated, interruptible, periodNanos, wanted, statistics, meters);
  }

  /**
   * The same, but an interrupt ends the wait. The interrupt status stays set.
   *
   * @return other terms
   */
  public WaitTerms interruptible() {
    return new WaitTerms(
        timed, nanos, /* interruptible= */ true, periodNanos, wanted, statistics, meters);
  }

  /**
   * The same, but every 10 ms of waiting the waiter asks whether it shall go on.
   *
   * @param stillWanted see {@link #asLongAs(Duration, BooleanSupplier)}
   * @return other terms
   */
  public WaitTerms asLongAs(BooleanSupplier stillWanted) {
    return asLongAs(Duration.ofNanos(PERIOD_NANOS), stillWanted);
  }

  /**
   * The same, but from time to time the waiter asks whether it shall go on; instead of what it
   * asked before.
   *
   * @param period how often; more than 0
   * @param stillWanted false ends the wait. It runs on the waiting thread while that is queued,
   *     outside all locks of the parking lot. It must be short, and must not wait for anybody who
   *     may be waiting for the same latch: this one may be granted or woken meanwhile, and all that
   *     are queued behind it wait until it has answered, though nobody may hold the latch. What it
   *     throws ends the wait and reaches the caller, who then does not hold the latch; unless the
   *     caller's request was being run already
   * @return other terms
   */
  public WaitTerms asLongAs(Duration period, BooleanSupplier stillWanted) {
    if (period.isZero() || period.isNegative()) {
      throw new IllegalArgumentException("a period of " + period);
    }
    long saturated;
    try {
      saturated = period.toNanos();
    } catch (ArithmeticException e) {
      saturated = Long.MAX_VALUE;
    }
    return new WaitTerms(
        timed,
        nanos,
        interruptible,
        saturated,
        Objects.requireNonNull(stillWanted, "stillWanted"),
        statistics,
        meters);
  }

  /**
   * The same, and the wait is counted.
   *
   * @param newStatistics of the class of latches
   * @return other terms
   */
  public WaitTerms countedIn(WaitStatistics newStatistics) {
    return new WaitTerms(
        timed,
        nanos,
        interruptible,
        periodNanos,
        wanted,
        Objects.requireNonNull(newStatistics, "newStatistics"),
        meters);
  }

  /**
   * The same, and the wait is told to a meter that is looked for when it begins.
   *
   * @param newMeters find the meter of a latch
   * @return other terms
   */
  public WaitTerms meteredBy(LatchMeters newMeters) {
    return new WaitTerms(
        timed,
        nanos,
        interruptible,
        periodNanos,
        wanted,
        statistics,
        Objects.requireNonNull(newMeters, "newMeters"));
  }

  boolean isTimed() {
    return timed;
  }

  /** For how long, if timed. */
  long nanos() {
    return nanos;
  }

  boolean isInterruptible() {
    return interruptible;
  }

  boolean asks() {
    return wanted != null;
  }

  /** How often it asks, if it does. */
  long periodNanos() {
    return periodNanos;
  }

  boolean stillWanted() {
    return wanted == null || wanted.getAsBoolean();
  }

  @Nullable WaitStatistics statistics() {
    return statistics;
  }

  @Nullable LatchMeters meters() {
    return meters;
  }

  @Override
  public String toString() {
    return (timed ? "for " + nanos + " ns" : "endless")
        + (interruptible ? ", interruptible" : "")
        + (wanted == null ? "" : ", asking every " + periodNanos + " ns")
        + (statistics == null ? "" : ", counted in " + statistics.latchClass())
        + (meters == null ? "" : ", metered");
  }
}
