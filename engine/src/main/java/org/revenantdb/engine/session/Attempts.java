package org.revenantdb.engine.session;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.access.ApiAccess;

/**
 * The attempts of one call of {@link Database#run} that have met conflicts, and the decision when
 * to give up. For one thread.
 */
final class Attempts {
  private final Map<ConflictReason, Integer> failures = new EnumMap<>(ConflictReason.class);
  private final Duration timeout;
  private final int most;
  private final LongSupplier clock;

  /** When the first one met a conflict. */
  private final long begun;

  private int made;
  private int inARow;
  private @Nullable ConflictException last;

  /**
   * Made when the first attempt has met a conflict.
   *
   * @param timeout no attempt begins later than this from now
   * @param most the greatest number of attempts
   * @param clock nanoseconds since an arbitrary moment
   */
  Attempts(Duration timeout, int most, LongSupplier clock) {
    this.timeout = timeout;
    this.most = most;
    this.clock = clock;
    this.begun = clock.getAsLong();
  }

  void failed(ConflictException conflict) {
    ConflictException before = last;
    boolean isSame = before != null && ApiAccess.api().isSame(before, conflict);
    inARow = isSame ? inARow + 1 : 1;
    made++;
    last = conflict;
    failures.merge(conflict.reason(), 1, Integer::sum);
  }

  /**
   * How many attempts have failed in a row for the same reason, because of the same other
   * transaction.
   */
  int inARow() {
    return inARow;
  }

  /** The number of attempts. */
  int made() {
    return made;
  }

  /** Why the last one failed. */
  @Nullable ConflictException last() {
    return last;
  }

  /** The time, by {@link System#nanoTime}, from which on it is too late for another attempt. */
  long deadline() {
    return begun + timeout.toNanos();
  }

  /** Whether the greatest number of attempts is reached. */
  boolean areAll() {
    return made >= most;
  }

  /** Whether it is too late for another attempt. */
  boolean areLate() {
    return clock.getAsLong() - deadline() >= 0;
  }

  /** The number of attempts, the time, the numbers for each reason, and what to do. */
  String inWords() {
    String reasons =
        failures.entrySet().stream()
            .map(one -> one.getKey().text() + ": " + one.getValue())
            .collect(Collectors.joining(", "));
    return "gave up after "
        + made
        + (made == 1 ? " attempt" : " attempts")
        + " in "
        + seconds(clock.getAsLong() - begun)
        + " ("
        + reasons
        + "); "
        + cure();
  }

  /** In a format that does not depend on the locale. */
  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos / (double) TimeUnit.SECONDS.toNanos(1));
  }

  private String cure() {
    if (Thread.currentThread().isInterrupted()) {
      return "the thread was interrupted";
    }
    if (areAll() || areLate()) {
      return "let the transactions that hold the row or table end sooner, or set a higher limit: withRetryTimeout is "
          + seconds(timeout.toNanos())
          + ", withMaxAttempts "
          + most;
    }
    return "another attempt would meet the same conflict";
  }
}
