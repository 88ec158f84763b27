package org.revenantdb.collections;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A value and the time at which it expires, for tables in which each put says how long its row
 * lives.
 *
 * {@snippet :
 * TypedTable<String, Timed<Page>> cache =
 *     TypedTable.open(db, "cache", Keys.strings(), Timed.codec(Codecs.records(Page.class)))
 *         .expire(Expiry.at(Timed::until));
 * db.run(tx -> cache.put(tx, "/", Timed.of(page, Duration.ofMinutes(5))));
 * }
 *
 * @param value the value
 * @param until when it expires; null for never. Stored in milliseconds, rounded up
 * @param <V> type of the values
 */
public record Timed<V>(V value, @Nullable Instant until) {
  /** Checks it. */
  public Timed {
    Objects.requireNonNull(value, "value must not be null");
    until = until == null ? null : toMillis(until);
  }

  private static @Nullable Instant toMillis(Instant time) {
    long millis = Expiry.millis(time);
    return millis == Long.MAX_VALUE ? null : Instant.ofEpochMilli(millis);
  }

  /**
   * A value that expires when some time has passed, by the clock of the system.
   *
   * @param value the value
   * @param life how long it lives from now on
   * @param <V> type of the value
   * @return value and time
   */
  public static <V> Timed<V> of(V value, Duration life) {
    return of(value, life, InstantSource.system());
  }

  /**
   * A value that expires when some time has passed.
   *
   * @param value the value
   * @param life how long it lives from now on; forever if the time cannot be expressed
   * @param clock what time it is; that of {@link Expiry#withClock}
   * @param <V> type of the value
   * @return value and time
   */
  public static <V> Timed<V> of(V value, Duration life, InstantSource clock) {
    Instant now = clock.instant();
    return life.compareTo(Duration.between(now, Instant.MAX)) >= 0
        ? forever(value)
        : new Timed<>(value, now.plus(life));
  }

  /**
   * A value that never expires.
   *
   * @param value the value
   * @param <V> type of the value
   * @return a value without a time
   */
  public static <V> Timed<V> forever(V value) {
    return new Timed<>(value, null);
  }

  /**
   * A codec: eight bytes for the time, then the value.
   *
   * @param values codec of the values
   * @param <V> type of the values
   * @return a codec
   */
  public static <V> Codec<Timed<V>> codec(Codec<V> values) {
    Objects.requireNonNull(values, "values must not be null");
    return new Codec<>() {
      @Override
      public void encode(Timed<V> timed, ByteWriter out) {
        Instant until = timed.until;
        out.writeLong(until == null ? Long.MAX_VALUE : until.toEpochMilli());
        values.encode(timed.value, out);
      }

      @Override
      public Timed<V> decode(ByteReader in) {
        long millis = in.readLong();
        Instant until = millis == Long.MAX_VALUE ? null : Instant.ofEpochMilli(millis);
        return new Timed<>(values.decode(in), until);
      }
    };
  }
}
