package org.revenantdb.jmh.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.revenantdb.chaos.report.Progress;

/**
 * Rounds of a comparison. In each round all variants run once, so that a slow minute of the machine
 * affects all of them. A round that was disturbed is repeated, and reported.
 *
 * <p>Repeats are bounded: the wasted rounds of a benchmark may take a certain time together. A
 * disturbed round that exceeds the remaining time counts. Then the figures are noisy, and the tally
 * reports it.
 */
final class Rounds {
  private static final Duration QUICK_BUDGET = Duration.ofSeconds(6);
  private static final Duration FULL_BUDGET = Duration.ofMinutes(3);

  private final int wanted;
  private final Probe probe;
  private final LongSupplier nanoTime;
  private final long start;
  private long budgetLeft;
  private int measured;
  private int repeated;
  private int keptDisturbed;

  /**
   * Describes them.
   *
   * @param wanted how many rounds each comparison has
   * @param budget how long the rounds may take that are run again, in all comparisons together
   * @param probe detects whether a round was disturbed
   * @param nanoTime the clock
   */
  Rounds(int wanted, Duration budget, Probe probe, LongSupplier nanoTime) {
    if (wanted < 1) {
      throw new IllegalArgumentException("no rounds");
    }
    this.wanted = wanted;
    this.budgetLeft = budget.toNanos();
    this.probe = probe;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  /** The usual ones, watched by a {@link MachineProbe}. */
  static Rounds of(Bench.Settings settings, int wanted) {
    Duration budget = settings.quick() ? QUICK_BUDGET : FULL_BUDGET;
    return new Rounds(wanted, budget, new MachineProbe(), System::nanoTime);
  }

  /**
   * One round.
   *
   * @param <T> the type of the result
   */
  @FunctionalInterface
  interface Round<T> {
    /** Runs all variants once. */
    T run() throws CannotMeasureException;
  }

  /**
   * How many rounds there were.
   *
   * @param measured rounds that count
   * @param repeated rounds that were disturbed and run again
   * @param keptDisturbed rounds that count though they were disturbed
   */
  record Tally(int measured, int repeated, int keptDisturbed) {}

  /** Runs the rounds of one comparison and returns the results that count. */
  <T> List<T> run(String what, Round<T> round) throws CannotMeasureException {
    return run(what, wanted, round);
  }

  /** Runs another number of rounds than usual, of something that takes long. */
  <T> List<T> run(String what, int count, Round<T> round) throws CannotMeasureException {
    List<T> results = new ArrayList<>();
    while (results.size() < count) {
      long begin = nanoTime.getAsLong();
      System.err.println(
          Progress.fitted(
              String.format(
                  Locale.ROOT,
                  "%s: round %d of %d (after %d s)",
                  what,
                  results.size() + 1,
                  count,
                  Duration.ofNanos(begin - start).toSeconds())));
      Probe.Watch watch = probe.start();
      T result = round.run();
      String disturbance = watch.stop();
      if (!disturbance.isEmpty() && isRepeated(nanoTime.getAsLong() - begin)) {
        System.err.println(Progress.fitted(String.format(Locale.ROOT, "  again: %s", disturbance)));
        continue;
      }
      if (!disturbance.isEmpty()) {
        System.err.println(
            Progress.fitted(
                String.format(Locale.ROOT, "  disturbed, but it counts: %s", disturbance)));
        keptDisturbed++;
      }
      measured++;
      results.add(result);
    }
    return results;
  }

  int wanted() {
    return wanted;
  }

  Tally tally() {
    return new Tally(measured, repeated, keptDisturbed);
  }

  private boolean isRepeated(long nanos) {
    if (nanos > budgetLeft) {
      return false;
    }
    budgetLeft -= nanos;
    repeated++;
    return true;
  }
}
