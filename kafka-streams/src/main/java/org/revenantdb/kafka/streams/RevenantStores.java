package org.revenantdb.kafka.streams;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Suppliers of stores, for {@code Materialized.as} and {@code Stores.keyValueStoreBuilder}.
 *
 * {@snippet :
 * KTable<String, Long> counts =
 *     words.groupBy((key, word) -> word)
 *         .count(Materialized.as(RevenantStores.timestampedKeyValueStore("counts")));
 * }
 *
 * <p>All stores of an instance share one database, in the directory {@code revenant} of the
 * application's state directory. An application that is processed exactly once also sets {@link
 * RevenantClientSupplier}.
 */
public final class RevenantStores {
  /** As in the names of Kafka's metrics: {@code revenant-state-id}. */
  private static final String SCOPE = "revenant";

  private static final long SHORTEST_SEGMENT = 60_000;

  private RevenantStores() {}

  /**
   * A store of keys and values, for {@code Stores.keyValueStoreBuilder}. A table of the DSL that
   * uses it loses the timestamps of its rows; use {@link #timestampedKeyValueStore} there.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    Objects.requireNonNull(name, "name");
    return new KeyValueSupplier(name, () -> new RevenantStore(name));
  }

  /**
   * A store of keys and values with timestamps, for {@code Materialized.as} and {@code
   * Stores.timestampedKeyValueStoreBuilder}.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    Objects.requireNonNull(name, "name");
    return new KeyValueSupplier(name, () -> new RevenantTimestampedStore(name));
  }

  /**
   * A store of windows.
   *
   * @param name name of the store
   * @param retention how long a window is there; at least its size
   * @param windowSize size of a window
   * @param retainDuplicates whether a key can have several values in a window, as in joins of
   *     streams
   * @return the supplier
   */
  public static WindowBytesStoreSupplier windowStore(
      String name, Duration retention, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retention, windowSize, retainDuplicates, /* timestamped= */ false);
  }

  /**
   * A store of windows whose values have timestamps.
   *
   * @param name name of the store
   * @param retention how long a window is there; at least its size
   * @param windowSize size of a window
   * @param retainDuplicates whether a key can have several values in a window
   * @return the supplier
   */
  public static WindowBytesStoreSupplier timestampedWindowStore(
      String name, Duration retention, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retention, windowSize, retainDuplicates, /* timestamped= */ true);
  }

  private static WindowBytesStoreSupplier windows(
      String name,
      Duration retention,
      Duration windowSize,
      boolean retainDuplicates,
      boolean timestamped) {
    Objects.requireNonNull(name, "name");
    long kept = milliseconds("retention", retention);
    long size = milliseconds("windowSize", windowSize);
    if (kept < size) {
      throw new IllegalArgumentException(
          "store "
              + name
              + ": the retention is "
              + retention
              + ", which is less than the size of a window, "
              + windowSize
              + "; retain windows at least as long");
    }
    return new WindowSupplier(name, kept, interval(kept), size, retainDuplicates, timestamped);
  }

  /**
   * A store of sessions.
   *
   * @param name name of the store
   * @param retention how long a session is there after its end
   * @return the supplier
   */
  public static SessionBytesStoreSupplier sessionStore(String name, Duration retention) {
    Objects.requireNonNull(name, "name");
    long kept = milliseconds("retention", retention);
    return new SessionSupplier(name, kept, interval(kept));
  }

  private static long milliseconds(String what, Duration duration) {
    Objects.requireNonNull(duration, what);
    if (duration.isNegative()) {
      throw new IllegalArgumentException(what + " is " + duration + "; use zero or more");
    }
    return duration.toMillis();
  }

  /** Length of a segment, as Kafka's own stores have it. */
  private static long interval(long retention) {
    return Math.max(retention / 2, SHORTEST_SEGMENT);
  }

  private record WindowSupplier(
      String name,
      long retentionPeriod,
      long segmentIntervalMs,
      long windowSize,
      boolean retainDuplicates,
      boolean timestamped)
      implements WindowBytesStoreSupplier {
    @Override
    public WindowStore<Bytes, byte[]> get() {
      SegmentedStore rows =
          new SegmentedStore(name, TimedKeys.WINDOW, retentionPeriod, segmentIntervalMs);
      return timestamped
          ? new RevenantWindowStore.Timestamped(rows, windowSize, retainDuplicates)
          : new RevenantWindowStore(rows, windowSize, retainDuplicates);
    }

    @Override
    public String metricsScope() {
      return SCOPE + "-window";
    }
  }

  private record SessionSupplier(String name, long retentionPeriod, long segmentIntervalMs)
      implements SessionBytesStoreSupplier {
    @Override
    public SessionStore<Bytes, byte[]> get() {
      return new RevenantSessionStore(
          new SegmentedStore(name, TimedKeys.SESSION, retentionPeriod, segmentIntervalMs));
    }

    @Override
    public String metricsScope() {
      return SCOPE + "-session";
    }
  }

  private record KeyValueSupplier(String name, Supplier<KeyValueStore<Bytes, byte[]>> stores)
      implements KeyValueBytesStoreSupplier {
    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return stores.get();
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }
}
