package org.revenantdb.kafka.streams;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * A store of sessions, or what is committed of one: interactive queries read the latter, whichever
 * thread asks.
 */
class RevenantSessionStore extends TimedStore implements SessionStore<Bytes, byte[]> {

  RevenantSessionStore(SegmentedStore rows) {
    this(rows, /* committed= */ false);
  }

  private RevenantSessionStore(SegmentedStore rows, boolean committed) {
    super(rows, committed);
  }

  /** A store of sessions whose values begin with headers. */
  static final class WithHeaders extends RevenantSessionStore implements HeadersBytesStore {
    WithHeaders(SegmentedStore rows) {
      super(rows);
    }
  }

  @Override
  public void put(Windowed<Bytes> session, byte @Nullable [] aggregate) {
    rows.put(key(session), aggregate);
  }

  @Override
  public void remove(Windowed<Bytes> session) {
    rows.remove(key(session));
  }

  private static Bytes key(Windowed<Bytes> session) {
    return Bytes.wrap(
        TimedKeys.session(session.key(), session.window().start(), session.window().end()));
  }

  @Override
  public byte @Nullable [] fetchSession(Bytes key, long start, long end) {
    Objects.requireNonNull(key, "key cannot be null");
    return rows.get(Bytes.wrap(TimedKeys.session(key, start, end)), isInside());
  }

  /** Sessions of all keys that end in this time, which sessions that emit when they close need. */
  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(long earliestEnd, long latestEnd) {
    return new WindowedIterator(
        rows.fetch(earliestEnd, latestEnd, isInside()), RevenantSessionStore::windowed);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      Bytes key, long earliestEnd, long latestStart) {
    Objects.requireNonNull(key, "key cannot be null");
    return sessions(key, key, earliestEnd, latestStart, /* descending= */ false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      Bytes key, long earliestEnd, long latestStart) {
    Objects.requireNonNull(key, "key cannot be null");
    return sessions(key, key, earliestEnd, latestStart, /* descending= */ true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long earliestEnd, long latestStart) {
    return sessions(keyFrom, keyTo, earliestEnd, latestStart, /* descending= */ false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long earliestEnd, long latestStart) {
    return sessions(keyFrom, keyTo, earliestEnd, latestStart, /* descending= */ true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
    return findSessions(key, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
    return backwardFindSessions(key, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return findSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return backwardFindSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> sessions(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestEnd,
      long latestStart,
      boolean descending) {
    return new WindowedIterator(
        rows.fetch(keyFrom, keyTo, earliestEnd, latestStart, descending, isInside()),
        RevenantSessionStore::windowed);
  }

  private static Windowed<Bytes> windowed(byte[] key) {
    return new Windowed<>(
        Bytes.wrap(TimedKeys.SESSION.key(key)),
        new SessionWindow(TimedKeys.SESSION.start(key), TimedKeys.SESSION.time(key)));
  }

  @Override
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    return rows.query(
        query, positionBound, config, new RevenantSessionStore(rows, /* committed= */ true));
  }
}
