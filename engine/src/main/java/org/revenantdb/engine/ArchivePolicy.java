package org.revenantdb.engine;

import java.time.Duration;

/**
 * What an archive keeps. Immutable. The newest base always stays, and the log behind it.
 *
 * @param moments any moment of so long a time before now can be restored; {@link #EVERYTHING} to
 *     delete nothing
 * @param days of each of the last so many periods of 24 hours the newest base stays, at least. The
 *     database can be restored as it was at the end of that base; of moments behind it only those
 *     of {@code moments}
 */
public record ArchivePolicy(Duration moments, int days) {
  /** For {@link #moments}: nothing is deleted. */
  public static final Duration EVERYTHING = DatabaseOptions.NEVER;

  private static final int MOST_DAYS = 36_500;
  private static final ArchivePolicy KEEP = new ArchivePolicy(EVERYTHING, 0);

  /** Checks the numbers. */
  public ArchivePolicy {
    String range = "from PT0S to " + OptionCheck.YEAR.multipliedBy(100) + ", or EVERYTHING";
    OptionCheck.present(moments, "moments", range);
    if (moments.isNegative()
        || (moments.compareTo(OptionCheck.YEAR.multipliedBy(100)) > 0
            && !moments.equals(EVERYTHING))) {
      throw OptionCheck.refused("moments", range, moments, "");
    }
    OptionCheck.inRange(days, "days", 0, MOST_DAYS, "");
  }

  /**
   * Nothing is deleted.
   *
   * @return the policy
   */
  public static ArchivePolicy everything() {
    return KEEP;
  }

  /**
   * Any moment of the last time can be restored; what only older moments need is deleted.
   *
   * @param time how long
   * @return the policy
   */
  public static ArchivePolicy moments(Duration time) {
    return new ArchivePolicy(time, 0);
  }

  /**
   * The same, and a base of each day.
   *
   * @param number how many days
   * @return the policy
   */
  public ArchivePolicy withDays(int number) {
    return new ArchivePolicy(moments, number);
  }
}
