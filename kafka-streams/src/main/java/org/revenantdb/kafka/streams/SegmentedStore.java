package org.revenantdb.kafka.streams;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Rows of windows and of sessions, whose keys contain their time.
 *
 * <p>Threads: as {@link TaskStore}.
 */
class SegmentedStore extends ExpiringStore {
  private final TimedKeys keys;
  private final String values;

  /**
   * A store.
   *
   * @param values what the values are
   * @param retention how long a row is there, in milliseconds
   * @param interval length of a segment, in milliseconds
   */
  SegmentedStore(String name, TimedKeys keys, String values, long retention, long interval) {
    super(name, retention, interval);
    this.keys = keys;
    this.values = values;
  }

  /** With the interval, since that decides which segment a row is in. */
  @Override
  String format() {
    return values + ' ' + keys + ' ' + interval();
  }

  @Override
  String scope() {
    return keys == TimedKeys.WINDOW ? RevenantStores.WINDOW_SCOPE : RevenantStores.SESSION_SCOPE;
  }

  @Override
  boolean iteratesAsWindows() {
    return true;
  }

  // --- writes

  void put(Bytes key, byte @Nullable [] value) {
    byte[] row = row(key); // first: a key that is refused changes nothing
    write(tx -> {
      long time = keys.time(key.get());
      advance(time);
      Table segment = segment(tx, time);
      if (segment == null) {
        recordIsDropped();
      } else {
        put(tx, segment, row, value);
      }
    });
  }

  void remove(Bytes key) {
    byte[] row = row(key);
    write(tx -> {
      long time = keys.time(key.get());
      advance(time);
      Table segment = segments(/* inside= */ true).get(number(time));
      if (segment != null) {
        put(tx, segment, row, null);
      }
    });
  }

  @Override
  void restore(Transaction tx, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      advance(keys.time(change.key()));
    }
    Map<Table, Map<byte[], byte @Nullable []>> rows = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      Table segment = segment(tx, keys.time(change.key()));
      if (segment == null) {
        recordIsDropped();
      } else {
        rows.computeIfAbsent(segment, table -> sorted())
            .put(row(Bytes.wrap(change.key())), change.value());
      }
    }
    rows.forEach((segment, of) -> of.forEach((row, value) -> put(tx, segment, row, value)));
  }

  // --- reads

  byte @Nullable [] get(Bytes key, boolean inside) {
    long time = keys.time(key.get());
    if (time < oldest(inside)) {
      return null;
    }
    Table segment = segments(inside).get(number(time));
    if (segment == null) {
      return null;
    }
    return counted(
        read(
            inside,
            tx -> {
              try {
                return tx.get(segment, row(key));
              } catch (CatalogException | ConflictException over) {
                return null; // dropped meanwhile
              }
            }));
  }

  private long oldest(boolean inside) {
    return retained(inside) + 1;
  }

  /**
   * Rows of a range of keys and times, segment by segment.
   *
   * @param keyFrom null for the first
   * @param keyTo inclusive; null for the last
   */
  KeyValueIterator<Bytes, byte[]> fetch(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long timeFrom,
      long timeTo,
      boolean descending,
      boolean inside) {
    long from = Math.max(timeFrom, oldest(inside));
    List<Table> tables = tables(from, timeTo, descending, inside);
    byte[] first = null;
    byte[] end = null;
    if (keyFrom != null && keyFrom.equals(keyTo)) {
      first = StoreKeys.row(keys.first(keyFrom, from));
      end = StoreKeys.behind(keys.last(keyFrom, timeTo));
    } else {
      // A key is the beginning of its rows' keys, so these are not before it.
      first = keyFrom == null ? null : StoreKeys.row(keyFrom.get());
      end = keyTo == null ? null : keys.behind(keyTo.get(), timeTo);
    }
    if (keyFrom != null && keyTo != null && keyFrom.compareTo(keyTo) > 0) {
      tables = List.of();
    }
    return iterator(
        tables,
        first,
        end,
        descending,
        inside,
        key -> keys.isIn(key, keyFrom, keyTo, from, timeTo));
  }

  /**
   * Rows of all keys whose time is in a range, segment by segment. A session closes when its
   * retention is over, so rows are found as long as their segment is there.
   */
  KeyValueIterator<Bytes, byte[]> fetch(long from, long timeTo, boolean inside) {
    List<Table> tables =
        from > timeTo
            ? List.of()
            : new ArrayList<>(
                segments(inside)
                    .subMap(number(Math.max(from, 0)), true, number(Math.max(timeTo, 0)), true)
                    .values());
    return iterator(
        tables,
        null,
        null,
        /* descending= */ false,
        inside,
        key -> keys.time(key) >= from && keys.time(key) <= timeTo);
  }

  private List<Table> tables(long from, long to, boolean descending, boolean inside) {
    long last = keys.hasLongTimes() ? Long.MAX_VALUE : to;
    if (from > last) {
      return List.of();
    }
    NavigableMap<Long, Table> range =
        segments(inside).subMap(number(Math.max(from, 0)), true, number(Math.max(last, 0)), true);
    return new ArrayList<>((descending ? range.descendingMap() : range).values());
  }
}
