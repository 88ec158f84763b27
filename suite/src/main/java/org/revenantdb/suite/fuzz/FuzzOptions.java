package org.revenantdb.suite.fuzz;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What to do.
 *
 * @param seed of everything that is drawn
 * @param time how long; zero: as long as the variants take
 * @param first number of the first variant
 * @param variants how many; 0: as many as the time allows
 * @param children how many JVMs side by side
 * @param limit how long a variant may take; see {@link org.revenantdb.chaos.crash.StallWatch}
 * @param directory where the sound databases are kept, and what hangs
 * @param opener class of what is opened
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

  /** How long a variant may take, unless said otherwise. */
  public static final Duration LIMIT = Duration.ofSeconds(20);

  /**
   * Options for RevenantDB itself.
   *
   * @param seed of everything that is drawn
   * @param time how long, or zero
   * @param first number of the first variant
   * @param variants how many, or 0
   * @param children how many JVMs
   * @param directory where to work
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
