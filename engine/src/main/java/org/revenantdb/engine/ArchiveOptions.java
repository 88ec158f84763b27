package org.revenantdb.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * An archive of the log, and how it is written. Immutable.
 *
 * @param directory where: an archive of this database, or a directory that is empty or does not
 *     exist, in any file system
 * @param interval the open tail of the log is shipped at least so often; default 1 s. What was
 *     shipped survives the loss of the machine. It is also how exactly a time can be restored
 * @param stopAfter the engine stops if the archive could not be written for so long; default {@link
 *     #NEVER}: the engine goes on
 * @param baseEvery a new base is made when the last one is older than this; default one day. {@link
 *     #NEVER} to make one only if the archive cannot be restored without it
 * @param policy what stays after a new base; default everything
 * @param create whether an archive is made where there is none; default true
 * @param listener is told when the archive cannot be written, and when it is written again, by the
 *     thread that writes it; must not block. The default writes to the log of the platform
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
   * @param directory where
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
   * Sets how often the open tail of the log is shipped.
   *
   * @param value from 1 ms
   * @return other options
   */
  public ArchiveOptions withInterval(Duration value) {
    return new ArchiveOptions(directory, value, stopAfter, baseEvery, policy, create, listener);
  }

  /**
   * Sets how long the engine goes on without an archive.
   *
   * @param value a time, or {@link #NEVER}
   * @return other options
   */
  public ArchiveOptions withStopAfter(Duration value) {
    return new ArchiveOptions(directory, interval, value, baseEvery, policy, create, listener);
  }

  /**
   * Sets how old a base becomes.
   *
   * @param value a time, or {@link #NEVER}
   * @return other options
   */
  public ArchiveOptions withBaseEvery(Duration value) {
    return new ArchiveOptions(directory, interval, stopAfter, value, policy, create, listener);
  }

  /**
   * Sets what stays after a new base.
   *
   * @param value the policy
   * @return other options
   */
  public ArchiveOptions withPolicy(ArchivePolicy value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, value, create, listener);
  }

  /**
   * Sets whether an archive is made where there is none. False protects against a file system that
   * is not mounted.
   *
   * @param value the setting
   * @return other options
   */
  public ArchiveOptions withCreate(boolean value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, policy, value, listener);
  }

  /**
   * Sets what is told about failures.
   *
   * @param value the listener
   * @return other options
   */
  public ArchiveOptions withListener(Consumer<ArchiveEvent> value) {
    return new ArchiveOptions(directory, interval, stopAfter, baseEvery, policy, create, value);
  }
}
