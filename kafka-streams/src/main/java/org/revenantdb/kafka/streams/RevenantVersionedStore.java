package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * A store that keeps the versions of its rows for some time.
 *
 * <p>Threads: as {@link TaskStore}.
 */
final class RevenantVersionedStore extends ExpiringStore
    implements VersionedKeyValueStore<Bytes, byte[]> {
  /*
   * The versions of a key follow each other without a gap: each is valid until the next one. A version without a value
   * is a deletion. So a time is in one version, or before the first one.
   *
   *   version                        is in                          row
   *   open, with a value             the table of the store         key -> from | value
   *   closed                         the segment of its end         length, key, end -> from | 1 | value, or from | 0
   *   open, without a value          the segment of its beginning   length, key, MAX_VALUE -> from | 0
   *
   * Versions of a key are in the order of their ends, within a segment and over all of them, and the open one is the
   * last. So the first one that ends behind a time decides about that time. An open deletion is not in the table of
   * the store, or deleted keys would be there for ever. A segment is over when all ends in it are older than the
   * retention; what is before it of a key is over as well. The length of the key, two bytes, keeps the versions of a
   * key together: no other key comes between them.
   */
  private static final long OPEN = Long.MAX_VALUE;
  private static final byte DELETED = 0;
  private static final byte PRESENT = 1;

  RevenantVersionedStore(String name, long retention, long interval) {
    super(name, retention, interval);
  }

  @Override
  String format() {
    return "versioned " + interval();
  }

  @Override
  String scope() {
    return RevenantStores.VERSIONED_SCOPE;
  }

  /** A version, valid from a time until before another one. */
  private record Version(long from, long to, byte @Nullable [] value) {
    /** As Kafka's stores tell of it; null if it is a deletion. */
    @Nullable VersionedRecord<byte[]> told() {
      byte[] present = value;
      if (present == null) {
        return null;
      }
      return to == OPEN
          ? new VersionedRecord<>(present, from)
          : new VersionedRecord<>(present, from, to);
    }

    /** What a write answers: the end of the version. */
    long end() {
      return to == OPEN ? PUT_RETURN_CODE_VALID_TO_UNDEFINED : to;
    }

    byte[] bytes() {
      int length = value == null ? 0 : value.length;
      ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + 1 + length);
      bytes.putLong(from).put(value == null ? DELETED : PRESENT);
      if (value != null) {
        bytes.put(value);
      }
      return bytes.array();
    }

    static Version of(long to, byte[] bytes) {
      return new Version(
          ByteBuffer.wrap(bytes).getLong(),
          to,
          bytes[Long.BYTES] == DELETED
              ? null
              : Arrays.copyOfRange(bytes, Long.BYTES + 1, bytes.length));
    }
  }

  // --- writes

  @Override
  public long put(Bytes key, byte @Nullable [] value, long timestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    demandShort(key);
    long[] end = {PUT_RETURN_CODE_NOT_PUT};
    write(tx -> end[0] = put(tx, key, value, timestamp));
    if (end[0] == PUT_RETURN_CODE_NOT_PUT) {
      recordIsDropped();
    }
    return end[0];
  }

  @Override
  public @Nullable VersionedRecord<byte[]> delete(Bytes key, long timestamp) {
    VersionedRecord<byte[]> present =
        timestamp < retained(/* inside= */ true) ? null : get(key, timestamp);
    put(key, null, timestamp);
    return present;
  }

  private long put(Transaction tx, Bytes key, byte @Nullable [] value, long time) {
    if (time < retained(/* inside= */ true)) {
      return PUT_RETURN_CODE_NOT_PUT;
    }
    advance(time);
    dropOver(tx);
    Version at = behind(tx, key, time, /* inside= */ true);
    if (at == null) {
      at = openDeletion(tx, key, time);
    }
    if (at == null) {
      store(tx, key, null, new Version(time, OPEN, value));
      return PUT_RETURN_CODE_VALID_TO_UNDEFINED;
    }
    if (at.from > time) { // before the first one that is known
      Version first = new Version(time, at.from, value);
      store(tx, key, null, first);
      return first.end();
    }
    if (at.from < time) {
      store(tx, key, null, new Version(at.from, time, at.value));
    }
    Version now = new Version(time, at.to, value);
    store(tx, key, at, now);
    return now.end();
  }

  /** Writes a version in the place of another one with the same end, or where there was none. */
  private void store(Transaction tx, Bytes key, @Nullable Version before, Version now) {
    if (before != null && before.to == OPEN && (before.value == null || now.value == null)) {
      remove(tx, key, before);
    }
    if (now.to == OPEN && now.value != null) {
      put(tx, table(), row(key), latest(now));
      return;
    }
    Table segment = segment(tx, now.to == OPEN ? now.from : now.to);
    if (segment != null) {
      put(tx, segment, row(key, now.to), now.bytes());
    }
  }

  private void remove(Transaction tx, Bytes key, Version open) {
    if (open.value != null) {
      put(tx, table(), row(key), null);
      return;
    }
    Table segment = segments(/* inside= */ true).get(number(open.from));
    if (segment != null) {
      put(tx, segment, row(key, OPEN), null);
    }
  }

  private static byte[] latest(Version version) {
    byte[] value = Objects.requireNonNull(version.value);
    return ByteBuffer.allocate(Long.BYTES + value.length).putLong(version.from).put(value).array();
  }

  private static byte[] row(Bytes key, long end) {
    byte[] of = key.get();
    return ByteBuffer.allocate(Short.BYTES + of.length + Long.BYTES)
        .putShort((short) of.length)
        .put(of)
        .putLong(end)
        .array();
  }

  private void demandShort(Bytes key) {
    int most = Database.MAX_KEY_BYTES - Short.BYTES - Long.BYTES;
    if (key.get().length > most) {
      throw new ProcessorStateException(
          "store "
              + name()
              + ": a key has "
              + key.get().length
              + " bytes, and at most "
              + most
              + " are possible in a versioned store; use shorter keys, or the default store here");
    }
  }

  @Override
  void restore(Transaction tx, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      put(tx, Bytes.wrap(change.key()), change.value(), change.timestamp());
    }
  }

  // --- reads

  @Override
  public @Nullable VersionedRecord<byte[]> get(Bytes key) {
    return get(key, isInside());
  }

  @Nullable VersionedRecord<byte[]> get(Bytes key, boolean inside) {
    Objects.requireNonNull(key, "key cannot be null");
    Version latest = read(inside, tx -> latest(tx, key));
    return latest == null ? null : latest.told();
  }

  @Override
  public @Nullable VersionedRecord<byte[]> get(Bytes key, long asOfTimestamp) {
    return get(key, asOfTimestamp, isInside());
  }

  @Nullable VersionedRecord<byte[]> get(Bytes key, long time, boolean inside) {
    Objects.requireNonNull(key, "key cannot be null");
    boolean isOver = time < retained(inside);
    Version at = read(inside, tx -> isOver ? latest(tx, key) : behind(tx, key, time, inside));
    return at == null || at.from > time ? null : at.told();
  }

  private @Nullable Version latest(Transaction tx, Bytes key) {
    byte[] latest = counted(tx.get(table(), row(key)));
    return latest == null
        ? null
        : new Version(
            ByteBuffer.wrap(latest).getLong(),
            OPEN,
            Arrays.copyOfRange(latest, Long.BYTES, latest.length));
  }

  /** The first version that ends behind a time; null if there is none. */
  private @Nullable Version behind(Transaction tx, Bytes key, long time, boolean inside) {
    Version latest = latest(tx, key);
    if (latest != null && latest.from <= time) {
      return latest;
    }
    long from = Math.clamp(time, 0, OPEN - 1);
    for (Table segment : segments(inside).tailMap(number(from), true).values()) {
      List<Version> found = closed(tx, segment, key, from, /* most= */ 1);
      if (!found.isEmpty()) {
        return found.getFirst();
      }
    }
    return latest;
  }

  /** A deletion that nothing has followed yet, in a segment before that of a time. */
  private @Nullable Version openDeletion(Transaction tx, Bytes key, long time) {
    byte[] row = row(key, OPEN);
    for (Table segment :
        segments(/* inside= */ true).headMap(number(time), false).descendingMap().values()) {
      byte[] found = tx.get(segment, row);
      if (found != null) {
        return Version.of(OPEN, found);
      }
    }
    return null;
  }

  /** The versions of a segment that end behind a time, in the order of their ends. */
  private List<Version> closed(Transaction tx, Table segment, Bytes key, long behind, int most) {
    List<Version> found = new ArrayList<>();
    byte[] last = row(key, OPEN);
    try (Cursor rows =
        tx.scan(segment, row(key, behind + 1), Arrays.copyOf(last, last.length + 1))) {
      while (found.size() < most && rows.next()) {
        byte[] row = rows.key();
        byte[] value = rows.value();
        counted(value);
        found.add(Version.of(ByteBuffer.wrap(row).getLong(row.length - Long.BYTES), value));
      }
    } catch (CatalogException | ConflictException over) {
      found.clear(); // dropped meanwhile
    }
    return found;
  }

  /**
   * The versions with values that are valid at a time of a range.
   *
   * @param from the first time
   * @param to the last one
   */
  List<VersionedRecord<byte[]>> versions(
      Bytes key, long from, long to, ResultOrder order, boolean inside) {
    List<VersionedRecord<byte[]>> told = new ArrayList<>();
    if (from > to) {
      return told;
    }
    boolean isOver = to < retained(inside);
    List<Version> versions =
        read(
            inside,
            tx -> {
              List<Version> found = new ArrayList<>();
              if (!isOver) {
                long first = Math.clamp(from, 0, OPEN - 1);
                for (Table segment : segments(inside).tailMap(number(first), true).values()) {
                  found.addAll(closed(tx, segment, key, first, Integer.MAX_VALUE));
                }
              }
              Version latest = latest(tx, key);
              if (latest != null) {
                found.add(latest);
              }
              return found;
            });
    for (Version version : versions) {
      VersionedRecord<byte[]> row = version.told();
      if (row != null && version.from <= to) {
        told.add(row);
      }
    }
    if (order != ResultOrder.ASCENDING) { // without an order Kafka's own store begins with the last
      Collections.reverse(told);
    }
    return told;
  }

  // --- queries

  @Override
  @SuppressWarnings("unchecked") // the result of such a query is such an iterator
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    if (query
        instanceof MultiVersionedKeyQuery<?, ?> versions) { // Kafka's way casts to its own store
      return ask(
          query,
          positionBound,
          config,
          () -> (R) committed((MultiVersionedKeyQuery<Bytes, byte[]>) versions));
    }
    return query(query, positionBound, config, new CommittedVersions(this));
  }

  private CommittedVersions.Read committed(MultiVersionedKeyQuery<Bytes, byte[]> query) {
    return new CommittedVersions.Read(
        versions(
            query.key(),
            query.fromTime().map(Instant::toEpochMilli).orElse(0L),
            query.toTime().map(Instant::toEpochMilli).orElse(Long.MAX_VALUE),
            query.resultOrder(),
            /* inside= */ false));
  }
}
