package org.revenantdb.latch;

import java.util.List;
import java.util.concurrent.TimeUnit;

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
  private static final List<Runtime.Version> REPAIRED_IN =
      List.of(
          Runtime.Version.parse("25.0.3"),
          Runtime.Version.parse("26.0.1"),
          Runtime.Version.parse("27"));

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
    return REPAIRED_IN.stream()
        .anyMatch(repaired ->
            repaired.feature() == version.feature()
                && version.compareToIgnoreOptional(repaired) < 0);
  }
}
