package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * The settings of power cuts.
 *
 * @param profile what the platform may do
 * @param seed for the choice of states
 * @param states the maximum number of states that are opened and checked
 * @param exhaustive the number of pending operations up to which every subset is tried
 * @param depth 1: power is cut during the run; 2: also during its recovery; 3: also during the
 *     recovery after that
 * @param workers the number of threads that check states
 * @param limit the time after which a state counts as hanging; see {@link
 *     org.revenantdb.chaos.crash.StallWatch}
 * @param budget the time after which no more states are begun, or null
 * @param keep directory for the files of failures, created if needed; null: write no files
 * @param known the causes of failures that are accepted
 */
public record PowerCutOptions(
    PlatformProfile profile,
    long seed,
    int states,
    int exhaustive,
    int depth,
    int workers,
    Duration limit,
    @Nullable Duration budget,
    @Nullable Path keep,
    KnownFailures known) {

  /** Checks the numbers. */
  public PowerCutOptions {
    Objects.requireNonNull(profile, "profile");
    if (states < 1 || exhaustive < 0 || exhaustive > 16 || workers < 1) {
      throw new IllegalArgumentException(
          "states and workers are 1 or more, exhaustive is 0 to 16, not %d, %d, %d"
              .formatted(states, workers, exhaustive));
    }
    if (depth < 1 || depth > 3) {
      throw new IllegalArgumentException("a depth is 1, 2 or 3, not " + depth);
    }
  }

  /**
   * Returns the usual settings: a thousand states, every subset of four, depth 1, a worker for each
   * processor.
   *
   * @param profile what the platform may do
   * @param seed for the choice of states
   * @return the options
   */
  public static PowerCutOptions of(PlatformProfile profile, long seed) {
    return new PowerCutOptions(
        profile,
        seed,
        1000,
        4,
        1,
        // Stores wait for threads of their own: with one checker for each, processors would idle.
        2 * Runtime.getRuntime().availableProcessors(),
        Duration.ofSeconds(30),
        null,
        null,
        KnownFailures.NONE);
  }

  /**
   * Changes the number of states.
   *
   * @param value the maximum
   * @return changed options
   */
  public PowerCutOptions withStates(int value) {
    return new PowerCutOptions(
        profile, seed, value, exhaustive, depth, workers, limit, budget, keep, known);
  }

  /**
   * Changes the exhaustive bound.
   *
   * @param value the number of pending operations
   * @return changed options
   */
  public PowerCutOptions withExhaustive(int value) {
    return new PowerCutOptions(
        profile, seed, states, value, depth, workers, limit, budget, keep, known);
  }

  /**
   * Changes the depth.
   *
   * @param value 1 to 3
   * @return changed options
   */
  public PowerCutOptions withDepth(int value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, value, workers, limit, budget, keep, known);
  }

  /**
   * Changes the number of threads.
   *
   * @param value 1 or more
   * @return changed options
   */
  public PowerCutOptions withWorkers(int value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, value, limit, budget, keep, known);
  }

  /**
   * Changes the limit of one state.
   *
   * @param value the limit
   * @return changed options
   */
  public PowerCutOptions withLimit(Duration value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, workers, value, budget, keep, known);
  }

  /**
   * Sets a time after which no more states are begun.
   *
   * @param value measured from the beginning of the run
   * @return changed options
   */
  public PowerCutOptions withBudget(Duration value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, workers, limit, value, keep, known);
  }

  /**
   * Sets the directory for the files of failures.
   *
   * @param value a directory
   * @return changed options
   */
  public PowerCutOptions withKeep(@Nullable Path value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, workers, limit, budget, value, known);
  }

  /**
   * Changes the causes of failures that are accepted: their states are counted, not reported.
   *
   * @param value the causes
   * @return the changed settings
   */
  public PowerCutOptions withKnown(KnownFailures value) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, workers, limit, budget, keep, value);
  }
}
