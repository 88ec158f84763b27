package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The settings of a {@link ProcessDeathRun}.
 *
 * @param dir a scratch directory; only the evidence of failures stays in it
 * @param seed the seed of all random choices
 * @param kills the number of processes killed at random moments
 * @param failpoints whether further processes are killed at each place where the subject was seen
 *     to change its files, one before and one after the operation
 * @param zombies the number of processes that are stopped while another one opens the store, and
 *     then continue
 * @param limit the time after which no new life begins, or null
 * @param stallLimit how long a child may give no sign of life before it counts as hanging; see
 *     {@link StallWatch}
 * @param flags of the children's JVM
 * @param listener receives the progress after each death and its check, in the thread that runs
 */
public record Options(
    Path dir,
    long seed,
    int kills,
    boolean failpoints,
    int zombies,
    @Nullable Duration limit,
    Duration stallLimit,
    List<String> flags,
    Consumer<Progressed> listener) {

  private static final Duration STALL_LIMIT = Duration.ofSeconds(60);

  /** Copies the list. */
  public Options {
    flags = List.copyOf(flags);
  }

  /**
   * The progress after a death.
   *
   * @param kills the number of killed processes whose store was opened and checked since
   * @param seeds of the lives that ended since the last check
   * @param place what the last process was doing when it died, in a few words
   * @param recoveryMillis the duration of the opening after it
   * @param worst verdict so far
   */
  public record Progressed(
      long kills, List<Long> seeds, String place, double recoveryMillis, Verdict worst) {

    /** Copies the list. */
    public Progressed {
      seeds = List.copyOf(seeds);
    }
  }

  /**
   * Returns options for random kills alone, without a time limit.
   *
   * @param dir a scratch directory
   * @param seed the seed of all random choices
   * @param kills the number of processes
   * @return options to be refined
   */
  public static Options of(Path dir, long seed, int kills) {
    return new Options(dir, seed, kills, false, 0, null, STALL_LIMIT, List.of(), step -> {});
  }

  /**
   * Adds deaths at every place where files are changed.
   *
   * @return other options
   */
  public Options withFailpoints() {
    return new Options(dir, seed, kills, true, zombies, limit, stallLimit, flags, listener);
  }

  /**
   * Adds processes that are stopped while another one has the store, and then continue.
   *
   * @param count the number of them
   * @return other options
   */
  public Options withZombies(int count) {
    return new Options(dir, seed, kills, failpoints, count, limit, stallLimit, flags, listener);
  }

  /**
   * Sets a limit after which no new life begins.
   *
   * @param time since the run began
   * @return other options
   */
  public Options withLimit(Duration time) {
    return new Options(dir, seed, kills, failpoints, zombies, time, stallLimit, flags, listener);
  }

  /**
   * Sets how long a child may give no sign of life before it counts as hanging.
   *
   * @param time one minute if not set
   * @return other options
   */
  public Options withStallLimit(Duration time) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, time, flags, listener);
  }

  /**
   * Sets flags of the children's JVM, for instance flags that the subject needs.
   *
   * @param words each a word
   * @return other options
   */
  public Options withFlags(List<String> words) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, stallLimit, words, listener);
  }

  /**
   * Sets the listener for progress.
   *
   * @param other receives the progress after each death and its check
   * @return other options
   */
  public Options withListener(Consumer<Progressed> other) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, stallLimit, flags, other);
  }
}
