package org.revenantdb.kafka.streams;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.VersionedKeyValueToBytesStoreAdapter;

/**
 * Suppliers of stores, for {@code Materialized.as} and {@link
 * org.apache.kafka.streams.state.Stores#keyValueStoreBuilder}.
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
  static final String SCOPE = "revenant";

  static final String WINDOW_SCOPE = SCOPE + "-window";
  static final String SESSION_SCOPE = SCOPE + "-session";
  static final String VERSIONED_SCOPE = SCOPE + "-versioned";

  private static final long SHORTEST_SEGMENT = 60_000;

  /**
   * Into how many segments the history of a versioned store is divided, if they are long enough.
   */
  private static final long VERSION_SEGMENTS = 12;

  private RevenantStores() {}

  /**
   * A store of keys and values, for {@link
   * org.apache.kafka.streams.state.Stores#keyValueStoreBuilder}. A table of the DSL that uses it
   * loses the timestamps of its rows, and Kafka's adapter between the two cannot answer a query for
   * a range. Use {@link #timestampedKeyValueStore} there.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    TaskStore.checkName(name);
    return new KeyValueSupplier(name, () -> new RevenantStore(name));
  }

  /**
   * A store of keys and values with timestamps, for {@code Materialized.as} and {@link
   * org.apache.kafka.streams.state.Stores#timestampedKeyValueStoreBuilder}.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    TaskStore.checkName(name);
    return new KeyValueSupplier(name, () -> new RevenantTimestampedStore(name));
  }

  /**
   * A store of keys and values with timestamps and headers, for {@code dsl.store.format=headers}
   * and {@link org.apache.kafka.streams.state.Stores#timestampedKeyValueStoreWithHeadersBuilder}.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStoreWithHeaders(String name) {
    TaskStore.checkName(name);
    return new KeyValueHeadersSupplier(name);
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
    return windows(name, retention, windowSize, retainDuplicates, Values.PLAIN);
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
    return windows(name, retention, windowSize, retainDuplicates, Values.TIMESTAMPED);
  }

  /**
   * A store of windows whose values have timestamps and headers.
   *
   * @param name name of the store
   * @param retention how long a window is there; at least its size
   * @param windowSize size of a window
   * @param retainDuplicates whether a key can have several values in a window
   * @return the supplier
   */
  public static WindowBytesStoreSupplier timestampedWindowStoreWithHeaders(
      String name, Duration retention, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retention, windowSize, retainDuplicates, Values.HEADERS);
  }

  private static WindowBytesStoreSupplier windows(
      String name,
      Duration retention,
      Duration windowSize,
      boolean retainDuplicates,
      Values values) {
    TaskStore.checkName(name);
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
    return values == Values.HEADERS
        ? new WindowHeadersSupplier(name, kept, interval(kept), size, retainDuplicates)
        : new WindowSupplier(name, kept, interval(kept), size, retainDuplicates, values);
  }

  /**
   * A store of sessions.
   *
   * @param name name of the store
   * @param retention how long a session is there after its end
   * @return the supplier
   */
  public static SessionBytesStoreSupplier sessionStore(String name, Duration retention) {
    TaskStore.checkName(name);
    long kept = milliseconds("retention", retention);
    return new SessionSupplier(name, kept, interval(kept));
  }

  /**
   * A store of sessions whose values have headers.
   *
   * @param name name of the store
   * @param retention how long a session is there after its end
   * @return the supplier
   */
  public static SessionBytesStoreSupplier sessionStoreWithHeaders(String name, Duration retention) {
    TaskStore.checkName(name);
    long kept = milliseconds("retention", retention);
    return new SessionHeadersSupplier(name, kept, interval(kept));
  }

  /**
   * A store that keeps the versions of its rows, for {@code Materialized.as} and {@link
   * org.apache.kafka.streams.state.Stores#versionedKeyValueStoreBuilder}.
   *
   * @param name name of the store
   * @param historyRetention how long a version is there that is not valid any more; also how late a
   *     record may come
   * @return the supplier
   */
  public static VersionedBytesStoreSupplier versionedKeyValueStore(
      String name, Duration historyRetention) {
    TaskStore.checkName(name);
    long kept = milliseconds("historyRetention", historyRetention);
    return new VersionedSupplier(name, kept, Math.max(kept / VERSION_SEGMENTS, SHORTEST_SEGMENT));
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

  /** What the values of a store begin with; a part of its format. */
  private enum Values {
    PLAIN,
    TIMESTAMPED,
    HEADERS;

    SegmentedStore rows(String name, TimedKeys keys, long retention, long interval) {
      return new SegmentedStore(name, keys, name().toLowerCase(Locale.ROOT), retention, interval);
    }
  }

  private record WindowSupplier(
      String name,
      long retentionPeriod,
      long segmentIntervalMs,
      long windowSize,
      boolean retainDuplicates,
      Values values)
      implements WindowBytesStoreSupplier {
    @Override
    public WindowStore<Bytes, byte[]> get() {
      SegmentedStore rows = values.rows(name, TimedKeys.WINDOW, retentionPeriod, segmentIntervalMs);
      return values == Values.TIMESTAMPED
          ? new RevenantWindowStore.Timestamped(rows, windowSize, retainDuplicates)
          : new RevenantWindowStore(rows, windowSize, retainDuplicates);
    }

    @Override
    public String metricsScope() {
      return WINDOW_SCOPE;
    }
  }

  private record SessionSupplier(String name, long retentionPeriod, long segmentIntervalMs)
      implements SessionBytesStoreSupplier {
    @Override
    public SessionStore<Bytes, byte[]> get() {
      return new RevenantSessionStore(
          Values.PLAIN.rows(name, TimedKeys.SESSION, retentionPeriod, segmentIntervalMs));
    }

    @Override
    public String metricsScope() {
      return SESSION_SCOPE;
    }
  }

  private record VersionedSupplier(String name, long historyRetentionMs, long interval)
      implements VersionedBytesStoreSupplier {
    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return new VersionedKeyValueToBytesStoreAdapter(
          new RevenantVersionedStore(name, historyRetentionMs, interval));
    }

    @Override
    public String metricsScope() {
      return VERSIONED_SCOPE;
    }
  }

  // Kafka Streams recognises stores with headers by their suppliers.

  private record KeyValueHeadersSupplier(String name)
      implements KeyValueBytesStoreSupplier, HeadersBytesStoreSupplier {
    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return new RevenantHeadersStore(name);
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }

  private record WindowHeadersSupplier(
      String name,
      long retentionPeriod,
      long segmentIntervalMs,
      long windowSize,
      boolean retainDuplicates)
      implements WindowBytesStoreSupplier, HeadersBytesStoreSupplier {
    @Override
    public WindowStore<Bytes, byte[]> get() {
      return new RevenantWindowStore.WithHeaders(
          Values.HEADERS.rows(name, TimedKeys.WINDOW, retentionPeriod, segmentIntervalMs),
          windowSize,
          retainDuplicates);
    }

    @Override
    public String metricsScope() {
      return WINDOW_SCOPE;
    }
  }

  private record SessionHeadersSupplier(String name, long retentionPeriod, long segmentIntervalMs)
      implements SessionBytesStoreSupplier, HeadersBytesStoreSupplier {
    @Override
    public SessionStore<Bytes, byte[]> get() {
      return new RevenantSessionStore.WithHeaders(
          Values.HEADERS.rows(name, TimedKeys.SESSION, retentionPeriod, segmentIntervalMs));
    }

    @Override
    public String metricsScope() {
      return SESSION_SCOPE;
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
