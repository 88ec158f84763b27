package org.revenantdb.latch;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The terms on which a thread waits: for how long, whether an interrupt ends the wait, whether a
 * callback decides from time to time that it continues, and where the wait is counted.
 *
 * <p>Immutable. Make terms once and use them often: then a wait on terms allocates no more than a
 * wait without. Any thread may use them.
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
 * <p>Source: Böttcher, "Scalable Concurrency Control", thesis 2023, section 2.2.4, calls the
 * callback every 10 ms, to ask whether the query was cancelled or the page has gone.
 */
public final class WaitTerms {
  /** The period of the callback of {@link #asLongAs(BooleanSupplier)}, as in the thesis. */
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
   * Waits without limit. An interrupt is kept for later, no callback is asked, and nothing is
   * counted.
   *
   * @return the terms from which all others are made
   */
  public static WaitTerms endless() {
    return ENDLESS;
  }

  /**
   * The same, but for at most this time, from the moment at which the wait begins. It replaces a
   * time that was set before, even a shorter one.
   *
   * @param time 0 or less does not wait at all; more than 292 years means without limit
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
   * The same, but every 10 ms of waiting the waiter asks whether it should go on.
   *
   * @param stillWanted see {@link #asLongAs(Duration, BooleanSupplier)}
   * @return other terms
   */
  public WaitTerms asLongAs(BooleanSupplier stillWanted) {
    return asLongAs(Duration.ofNanos(PERIOD_NANOS), stillWanted);
  }

  /**
   * The same, but from time to time the waiter asks whether it should go on. The callback replaces
   * an earlier one.
   *
   * @param period how often; more than 0
   * @param stillWanted false ends the wait. It runs on the waiting thread while that is queued,
   *     outside all locks of the parking lot. It must be short, and must not wait for a thread that
   *     may be waiting for the same latch. The waiter may be granted the latch or be woken while
   *     the callback runs. Then all threads that are queued behind it wait until the callback has
   *     returned, even if no thread holds the latch. An exception of the callback ends the wait and
   *     reaches the caller, which then does not hold the latch; except if the caller's request was
   *     already being run
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
   * The same, and the wait is reported to a meter, which is looked up when the wait begins.
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

  /** The time limit, if there is one. */
  long nanos() {
    return nanos;
  }

  boolean isInterruptible() {
    return interruptible;
  }

  boolean asks() {
    return wanted != null;
  }

  /** The period of the callback, if there is one. */
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
