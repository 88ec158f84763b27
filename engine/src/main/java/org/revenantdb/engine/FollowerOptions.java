package org.revenantdb.engine;

import java.time.Duration;

/**
 * Options of a follower. Immutable.
 *
 * @param database how snapshots are opened: memory, and what else concerns reading. Each view that
 *     is open has a pool of its own, of at most {@code poolBytes}, by default at most 128 MiB.
 *     {@code readOnly} is set, an archive is ignored
 * @param interval how long the follower rests before it looks at the archive again, from 1 ms to a
 *     day; default 250 ms. What is shown lags behind the database by this, by the interval of the
 *     archive, and by the time that a refresh takes
 * @param foldBytes a new data file is made when so much log lies behind the one there is, or an
 *     eighth of its size if that is more, but 256 MiB at most then; from 1 MiB, default 32 MiB.
 *     Smaller values make refreshes faster, larger ones copy the data file less often
 */
public record FollowerOptions(DatabaseOptions database, Duration interval, long foldBytes) {
  private static final long LEAST_FOLD = 1L << 20;
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(1);
  private static final FollowerOptions DEFAULTS =
      new FollowerOptions(DatabaseOptions.defaults(), Duration.ofMillis(250), 32L << 20);

  /** Checks the options. */
  public FollowerOptions {
    OptionCheck.present(database, "database", "options");
    String intervals = "from " + SHORTEST + " to " + LONGEST;
    OptionCheck.present(interval, "interval", intervals);
    if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
      throw OptionCheck.refused("interval", intervals, interval, "");
    }
    OptionCheck.inRange(foldBytes, "foldBytes", LEAST_FOLD, Long.MAX_VALUE, "");
  }

  /**
   * The defaults.
   *
   * @return options
   */
  public static FollowerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Sets how snapshots are opened.
   *
   * @param value options of a database
   * @return other options
   */
  public FollowerOptions withDatabase(DatabaseOptions value) {
    return new FollowerOptions(value, interval, foldBytes);
  }

  /**
   * Sets how long the follower rests between two looks at the archive.
   *
   * @param value from 1 ms to a day
   * @return other options
   */
  public FollowerOptions withInterval(Duration value) {
    return new FollowerOptions(database, value, foldBytes);
  }

  /**
   * Sets how much log lies behind the data file before a new one is made.
   *
   * @param value bytes, from 1 MiB
   * @return other options
   */
  public FollowerOptions withFoldBytes(long value) {
    return new FollowerOptions(database, interval, value);
  }
}
