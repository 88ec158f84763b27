package org.revenantdb.engine;

import java.time.Duration;

/**
 * What an archive keeps. Immutable. The newest base and the log after it are always kept.
 *
 * @param moments a duration before now of which any moment can be restored; {@link #EVERYTHING} to
 *     delete nothing
 * @param days number of past periods of 24 hours. The newest base of each of them is kept, at
 *     least. The database can be restored as it was at the end of that base; later moments can be
 *     restored only within {@code moments}
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
   * Any moment of the last time can be restored. Files that only older moments need are deleted.
   *
   * @param time length of that time
   * @return the policy
   */
  public static ArchivePolicy moments(Duration time) {
    return new ArchivePolicy(time, 0);
  }

  /**
   * The same, and a base of each day.
   *
   * @param number number of days
   * @return the policy
   */
  public ArchivePolicy withDays(int number) {
    return new ArchivePolicy(moments, number);
  }
}
