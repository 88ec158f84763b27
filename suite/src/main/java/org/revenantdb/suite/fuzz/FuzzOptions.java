package org.revenantdb.suite.fuzz;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The options of a run.
 *
 * @param seed of all random choices
 * @param time the duration; zero: as long as the variants take
 * @param first number of the first variant
 * @param variants the number of variants; 0: as many as the time allows
 * @param children the number of JVMs in parallel
 * @param limit the time limit of a variant; see {@link org.revenantdb.chaos.crash.StallWatch}
 * @param directory for the sound databases, and for variants that hang
 * @param opener the class that opens the database
 */
public record FuzzOptions(
    long seed,
    Duration time,
    long first,
    long variants,
    int children,
    Duration limit,
    Path directory,
    String opener) {

  /** The default time limit of a variant. */
  public static final Duration LIMIT = Duration.ofSeconds(20);

  /**
   * Returns options for RevenantDB itself.
   *
   * @param seed of all random choices
   * @param time the duration, or zero
   * @param first number of the first variant
   * @param variants the number, or 0
   * @param children the number of JVMs
   * @param directory the working directory
   * @return the options
   */
  public static FuzzOptions of(
      long seed, Duration time, long first, long variants, int children, Path directory) {
    return new FuzzOptions(
        seed,
        time,
        first,
        variants,
        children,
        LIMIT,
        directory,
        RevenantSubject.Opener.class.getName());
  }
}
