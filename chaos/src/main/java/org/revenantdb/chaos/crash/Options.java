package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Verdict;

/**
 * How a {@link ProcessDeathRun} goes about it.
 *
 * @param dir scratch; what failures need is kept in it, all else is gone afterwards
 * @param seed of everything that is drawn
 * @param kills how many processes are killed at random moments
 * @param failpoints whether one more is killed before and one after each place where the subject
 *     was seen to change its files
 * @param zombies how many are stopped while another one opens the store, and then go on
 * @param limit after which no new life is begun, or null
 * @param stallLimit how long a child may give no sign before it counts as hanging; see {@link
 *     StallWatch}
 * @param flags of the children's JVM
 * @param listener told after each death and its check, by the thread that runs
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
   * What is known after another death.
   *
   * @param kills processes killed, whose store was opened and checked since
   * @param seeds of the lives that ended since the last check
   * @param place what the last one was doing when it died, in a few words
   * @param recoveryMillis how long the opening after it took
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
   * Random kills alone, without a time limit.
   *
   * @param dir scratch
   * @param seed of everything that is drawn
   * @param kills how many
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
   * Adds processes that are stopped and go on when another one had the store.
   *
   * @param count how many
   * @return other options
   */
  public Options withZombies(int count) {
    return new Options(dir, seed, kills, failpoints, count, limit, stallLimit, flags, listener);
  }

  /**
   * Sets a limit after which no new life is begun.
   *
   * @param time since the run began
   * @return other options
   */
  public Options withLimit(Duration time) {
    return new Options(dir, seed, kills, failpoints, zombies, time, stallLimit, flags, listener);
  }

  /**
   * Sets how long a child may give no sign before it counts as hanging.
   *
   * @param time one minute if not set
   * @return other options
   */
  public Options withStallLimit(Duration time) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, time, flags, listener);
  }

  /**
   * Sets flags of the children's JVM, such as the subject itself needs.
   *
   * @param words each a word
   * @return other options
   */
  public Options withFlags(List<String> words) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, stallLimit, words, listener);
  }

  /**
   * Sets who is told how far it is.
   *
   * @param other told after each death and its check
   * @return other options
   */
  public Options withListener(Consumer<Progressed> other) {
    return new Options(dir, seed, kills, failpoints, zombies, limit, stallLimit, flags, other);
  }
}
