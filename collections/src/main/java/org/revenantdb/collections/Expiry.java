package org.revenantdb.collections;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * When rows of a table expire. {@link TypedTable#expire} declares it. Immutable.
 *
 * {@snippet :
 * sessions.expire(Expiry.at(Session::end));
 * }
 *
 * <p>The function has no side effects and returns the same for the same row, always, as those of
 * indexes do. A time counts in milliseconds, and is rounded up.
 *
 * @param <V> type of the rows
 */
public final class Expiry<V> {
  private final Function<? super V, ? extends @Nullable Instant> at;
  private final InstantSource clock;
  private final boolean hasRemover;

  private Expiry(
      Function<? super V, ? extends @Nullable Instant> at,
      InstantSource clock,
      boolean hasRemover) {
    this.at = at;
    this.clock = clock;
    this.hasRemover = hasRemover;
  }

  /**
   * Rows that expire at a time that they have. For rows that have none, see {@link Timed}.
   *
   * @param at the time of a row; null if it never expires
   * @param <V> type of the rows
   * @return an expiry by the clock of the system
   */
  public static <V> Expiry<V> at(Function<? super V, ? extends @Nullable Instant> at) {
    return new Expiry<>(
        Objects.requireNonNull(at, "at must not be null"),
        InstantSource.system(),
        /* hasRemover= */ true);
  }

  /**
   * The same by another clock.
   *
   * @param source what time it is
   * @return another expiry
   */
  public Expiry<V> withClock(InstantSource source) {
    return new Expiry<>(at, Objects.requireNonNull(source, "source must not be null"), hasRemover);
  }

  /**
   * The same with or without a thread that removes expired rows. Without one, call {@link
   * TypedTable#removeExpired}.
   *
   * @param isOn default: true
   * @return another expiry
   */
  public Expiry<V> withRemover(boolean isOn) {
    return new Expiry<>(at, clock, isOn);
  }

  /** The time of a row in milliseconds, {@link Long#MAX_VALUE} for never. */
  long millis(V row) {
    Instant time = at.apply(row);
    return time == null ? Long.MAX_VALUE : millis(time);
  }

  /** The first millisecond that is not before a time. */
  static long millis(Instant time) {
    long seconds = time.getEpochSecond();
    if (seconds > Long.MAX_VALUE / 1_000 - 1) {
      return Long.MAX_VALUE;
    }
    if (seconds < Long.MIN_VALUE / 1_000 + 1) {
      return Long.MIN_VALUE;
    }
    return seconds * 1_000 + (time.getNano() + 999_999) / 1_000_000;
  }

  InstantSource clock() {
    return clock;
  }

  boolean hasRemover() {
    return hasRemover;
  }
}
