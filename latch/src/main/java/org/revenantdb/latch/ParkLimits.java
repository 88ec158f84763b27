package org.revenantdb.latch;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long a waiter may sleep without looking at its state.
 *
 * <p>A lost wake-up costs at most that time. Usually no wake-up is lost, but some builds of the JDK
 * lose them: there the time is short.
 */
final class ParkLimits {
  /*
   * JDK-8369227: a virtual thread that parks without a time-out just after it has parked with one may miss its
   * unpark. It came with JDK 25; a release line is correct from its first release with the repair on. Its earlier
   * builds are not, and neither are early-access builds of that release.
   */
  private static @Nullable String repairedIn(int feature) {
    return switch (feature) {
      case 25 -> "25.0.3";
      case 26 -> "26.0.1";
      case 27 -> "27";
      default -> null;
    };
  }

  private static final long USUAL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long GUARD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** For the running JDK. */
  static final long LONGEST_PARK_NANOS = longestParkNanos(Runtime.version());

  private ParkLimits() {}

  /** The longest time to sleep on a JDK. */
  static long longestParkNanos(Runtime.Version version) {
    return losesUnparks(version) ? GUARD_NANOS : USUAL_NANOS;
  }

  /** Whether a JDK is known to lose wake-ups of virtual threads. */
  static boolean losesUnparks(Runtime.Version version) {
    @Nullable String repaired = repairedIn(version.feature());
    return repaired != null && version.compareToIgnoreOptional(Runtime.Version.parse(repaired)) < 0;
  }
}
