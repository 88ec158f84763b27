package org.revenantdb.kafka.streams;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.TimeWindow;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * A store of windows, or what is committed of one: interactive queries read the latter, whichever
 * thread asks.
 */
class RevenantWindowStore extends TimedStore implements WindowStore<Bytes, byte[]> {
  private final long windowSize;
  private final boolean retainsDuplicates;

  /** Number of the last duplicate. */
  private int duplicate;

  RevenantWindowStore(SegmentedStore rows, long windowSize, boolean retainsDuplicates) {
    this(rows, windowSize, retainsDuplicates, /* committed= */ false);
  }

  private RevenantWindowStore(
      SegmentedStore rows, long windowSize, boolean retainsDuplicates, boolean committed) {
    super(rows, committed);
    this.windowSize = windowSize;
    this.retainsDuplicates = retainsDuplicates;
  }

  /** A store of windows whose values begin with a timestamp. */
  static final class Timestamped extends RevenantWindowStore implements TimestampedBytesStore {
    Timestamped(SegmentedStore rows, long windowSize, boolean retainsDuplicates) {
      super(rows, windowSize, retainsDuplicates);
    }
  }

  /** A store of windows whose values begin with headers and a timestamp. */
  static final class WithHeaders extends RevenantWindowStore
      implements TimestampedBytesStore, HeadersBytesStore {
    WithHeaders(SegmentedStore rows, long windowSize, boolean retainsDuplicates) {
      super(rows, windowSize, retainsDuplicates);
    }
  }

  @Override
  public void put(Bytes key, byte @Nullable [] value, long windowStart) {
    Objects.requireNonNull(key, "key cannot be null");
    if (!retainsDuplicates) {
      rows.put(Bytes.wrap(TimedKeys.window(key, windowStart, duplicate)), value);
      return;
    }
    int number = duplicate + 1 & Integer.MAX_VALUE;
    if (value != null) { // null would delete none of them
      rows.put(Bytes.wrap(TimedKeys.window(key, windowStart, number)), value);
    }
    duplicate = number; // as Kafka numbers them in the changelog: nulls, and none that were refused
  }

  @Override
  public byte @Nullable [] fetch(Bytes key, long windowStart) {
    Objects.requireNonNull(key, "key cannot be null");
    return rows.get(Bytes.wrap(TimedKeys.window(key, windowStart, duplicate)), isInside());
  }

  @Override
  public WindowStoreIterator<byte[]> fetch(Bytes key, long timeFrom, long timeTo) {
    return new Values(ofKey(key, timeFrom, timeTo, /* descending= */ false));
  }

  @Override
  public WindowStoreIterator<byte[]> backwardFetch(Bytes key, long timeFrom, long timeTo) {
    return new Values(ofKey(key, timeFrom, timeTo, /* descending= */ true));
  }

  private KeyValueIterator<Bytes, byte[]> ofKey(
      Bytes key, long timeFrom, long timeTo, boolean descending) {
    Objects.requireNonNull(key, "key cannot be null");
    return rows.fetch(key, key, timeFrom, timeTo, descending, isInside());
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long timeFrom, long timeTo) {
    return windows(keyFrom, keyTo, timeFrom, timeTo, /* descending= */ false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long timeFrom, long timeTo) {
    return windows(keyFrom, keyTo, timeFrom, timeTo, /* descending= */ true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long timeFrom, long timeTo) {
    return windows(null, null, timeFrom, timeTo, /* descending= */ false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(long timeFrom, long timeTo) {
    return windows(null, null, timeFrom, timeTo, /* descending= */ true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
    return fetchAll(0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
    return backwardFetchAll(0, Long.MAX_VALUE);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> windows(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long timeFrom,
      long timeTo,
      boolean descending) {
    return new WindowedIterator(
        rows.fetch(keyFrom, keyTo, timeFrom, timeTo, descending, isInside()), this::windowed);
  }

  private Windowed<Bytes> windowed(byte[] key) {
    long start = TimedKeys.WINDOW.time(key);
    long end = start + windowSize;
    return new Windowed<>(
        Bytes.wrap(TimedKeys.WINDOW.key(key)),
        new TimeWindow(start, end < 0 ? Long.MAX_VALUE : end));
  }

  /** The windows of one key. */
  private record Values(KeyValueIterator<Bytes, byte[]> rows)
      implements WindowStoreIterator<byte[]> {
    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public KeyValue<Long, byte[]> next() {
      KeyValue<Bytes, byte[]> row = rows.next();
      return KeyValue.pair(TimedKeys.WINDOW.time(row.key.get()), row.value);
    }

    @Override
    public Long peekNextKey() {
      return TimedKeys.WINDOW.time(rows.peekNextKey().get());
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  @Override
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    return rows.query(
        query,
        positionBound,
        config,
        new RevenantWindowStore(rows, windowSize, retainsDuplicates, /* committed= */ true));
  }
}
