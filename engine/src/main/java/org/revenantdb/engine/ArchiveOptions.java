package org.revenantdb.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * An archive of the log, and how it is written. Immutable.
 *
 * @param directory an archive of this database, or a directory that is empty or does not exist, in
 *     any file system
 * @param interval longest time between two shipments of the newest log; default 1 s. Shipped
 *     commits survive the loss of the machine. A restore to a time is exact to about one interval
 * @param stopAfter the engine stops if the archive could not be written for this time; default
 *     {@link #NEVER}: the engine continues
 * @param baseEvery a new base is made when the last one is older than this; default one day. With
 *     {@link #NEVER} one is made only if the archive cannot be restored without it
 * @param policy what is kept after a new base; default everything
 * @param create whether an archive is created if there is none; default true
 * @param listener receives an event when the archive cannot be written, and when it can be written
 *     again; must not block, because the thread that writes the archive calls it. The default
 *     writes to the system logger
 */
public record ArchiveOptions(
    Path directory,
    Duration interval,
    Duration stopAfter,
    Duration baseEvery,
    ArchivePolicy policy,
    boolean create,
    Consumer<ArchiveEvent> listener) {

  /** For {@link #stopAfter} and {@link #baseEvery}. */
  public static final Duration NEVER = DatabaseOptions.NEVER;

  private static final Duration SHORTEST = Duration.ofMillis(1);

  /** Checks the options. */
  public ArchiveOptions {
    OptionCheck.present(directory, "directory", "a path");
    String intervals = "from " + SHORTEST + " to " + OptionCheck.YEAR;
    OptionCheck.present(interval, "interval", intervals);
    if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(OptionCheck.YEAR) > 0) {
      throw OptionCheck.refused("interval", intervals, interval, "");
    }
    orNever(stopAfter, "stopAfter");
    orNever(baseEvery, "baseEvery");
    OptionCheck.present(policy, "policy", "a policy");
    OptionCheck.present(listener, "listener", "a listener");
  }

  private static void orNever(Duration value, String option) {
    String range = "from PT0S to " + OptionCheck.YEAR + ", or NEVER";
    OptionCheck.present(value, option, range);
    if (value.isNegative() || (value.compareTo(OptionCheck.YEAR) > 0 && !value.equals(NEVER))) {
      throw OptionCheck.refused(option, range, value, "");
    }
  }

  /**
   * The defaults for a directory.
   *
   * @param directory the directory of the archive
   * @return options
   */
  public static ArchiveOptions to(Path directory) {
    return new ArchiveOptions(
        directory,
        Duration.ofSeconds(1),
        NEVER,
        Duration.ofDays(1),
        ArchivePolicy.everything(),
        /* create= */ true,
        ArchiveEvent::log);
  }

  /**
   * Sets the longest time between two shipments of the newest log.
   *
   * @param value from 1 ms
   * @return other options
   */
  public ArchiveOptions withInterval(Duration value) {
    return new ArchiveOptions(directory, value, stopAfter, baseEvery, policy, create, listener);
  }

  /**
   * Sets how long the engine continues if the archive cannot be written.
   *
   * @param value a time, or {@link #NEVER}
   * @return other options
   */
  public ArchiveOptions withStopAfter(Duration value) {
    return new ArchiveOptions(directory, interval, value, baseEvery, policy, create, listener);
  }

  /**
   * Sets the age of the last base at which a new one is made.
   *
   * @param value a time, or {@link #NEVER}
   * @return other options
   */
  public ArchiveOptions withBaseEvery(Duration value) {
    return new ArchiveOptions(directory, interval, stopAfter, value, policy, create, listener);
  }

  /**
   * Sets what is kept after a new base.
   *
   * @param value the policy
   * @return other options
   */
  public ArchiveOptions withPolicy(ArchivePolicy value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, value, create, listener);
  }

  /**
   * Sets whether an archive is created if there is none. False protects against a file system that
   * is not mounted.
   *
   * @param value the setting
   * @return other options
   */
  public ArchiveOptions withCreate(boolean value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, policy, value, listener);
  }

  /**
   * Sets the listener that receives failures.
   *
   * @param value the listener
   * @return other options
   */
  public ArchiveOptions withListener(Consumer<ArchiveEvent> value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, policy, create, value);
  }
}
