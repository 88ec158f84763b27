package org.revenantdb.collections;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;

/**
 * How long a {@link ChangeFeed} keeps commits. {@link ChangeFeed#retain} declares it. Immutable.
 *
 * {@snippet :
 * feed.retain(FeedRetention.of(Duration.ofDays(7)));
 * }
 *
 * <p><b>Age.</b> A commit stays for the whole age. It goes at most a 64th of the age and a minute
 * later, if the database is open with the retention declared. Otherwise it stays until then.
 *
 * <p><b>Clock.</b> The time is that of a clock, which is the one of the system if no other is
 * given. It counts in milliseconds. The feed reads it in each pass of the removal, and never in a
 * commit.
 *
 * <ul>
 *   <li>A clock that is set ahead makes commits older by as much. They go too early by that time,
 *       and a reader that still needs them receives {@link ChangesGoneException}.
 *   <li>A clock that is set back, or was ahead and is corrected, makes commits stay longer, by the
 *       age at most for each time, however far it is set back.
 * </ul>
 */
public final class FeedRetention {
  private final Duration age;
  private final InstantSource clock;
  private final boolean hasTrimmer;

  private FeedRetention(Duration age, InstantSource clock, boolean hasTrimmer) {
    this.age = age;
    this.clock = clock;
    this.hasTrimmer = hasTrimmer;
  }

  /**
   * Commits stay for a time, by the clock of the system.
   *
   * @param age for how long; positive
   * @return a retention
   */
  public static FeedRetention of(Duration age) {
    if (!Objects.requireNonNull(age, "age must not be null").isPositive()) {
      throw new IllegalArgumentException("age must be positive, and is " + age);
    }
    return new FeedRetention(age, InstantSource.system(), /* hasTrimmer= */ true);
  }

  /**
   * The same by another clock.
   *
   * @param source what time it is
   * @return another retention
   */
  public FeedRetention withClock(InstantSource source) {
    return new FeedRetention(
        age, Objects.requireNonNull(source, "source must not be null"), hasTrimmer);
  }

  /**
   * The same with or without a thread that removes old commits. Without one, call {@link
   * ChangeFeed#trimOld}.
   *
   * @param isOn default: true
   * @return another retention
   */
  public FeedRetention withTrimmer(boolean isOn) {
    return new FeedRetention(age, clock, isOn);
  }

  /** The first number of milliseconds that is not less than the age. */
  long millis() {
    return age.getSeconds() > Long.MAX_VALUE / 1_000 - 1
        ? Long.MAX_VALUE
        : age.getSeconds() * 1_000 + (age.getNano() + 999_999) / 1_000_000;
  }

  InstantSource clock() {
    return clock;
  }

  boolean hasTrimmer() {
    return hasTrimmer;
  }

  @Override
  public String toString() {
    return "FeedRetention[" + age + "]";
  }
}
