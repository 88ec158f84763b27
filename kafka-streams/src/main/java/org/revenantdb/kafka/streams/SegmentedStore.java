package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.metrics.TaskMetrics;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Rows with a time, in a table for each segment of time. A segment whose time is over is dropped
 * with its table, in a time that does not depend on its rows.
 *
 * <p>Threads: as {@link TaskStore}.
 */
final class SegmentedStore extends TaskStore {
  /*
   * Segments are created and dropped in the transaction of the task: after a crash those are there that the offset
   * needs. The task has its own map of them, and others have the one of the last commit.
   */
  private final TimedKeys keys;
  private final String values;
  private final long retention;
  private final long interval;

  private NavigableMap<Long, Table> segments = new TreeMap<>();
  private volatile NavigableMap<Long, Table> committedSegments = new TreeMap<>();
  private boolean hasOtherSegments;

  /** The latest time that was written; rows are over when that is their time and the retention. */
  private long streamTime = ConsumerRecord.NO_TIMESTAMP;

  private volatile long committedStreamTime = ConsumerRecord.NO_TIMESTAMP;

  private String tableName = "";

  /**
   * A store.
   *
   * @param values what the values are
   * @param retention how long a row is there, in milliseconds
   * @param interval length of a segment, in milliseconds
   */
  SegmentedStore(String name, TimedKeys keys, String values, long retention, long interval) {
    super(name);
    this.keys = keys;
    this.values = values;
    this.retention = retention;
    this.interval = interval;
  }

  /** With the interval, since that decides which segment a row is in. */
  @Override
  String format() {
    return values + ' ' + keys + ' ' + interval;
  }

  @Override
  void openTables(SharedDatabase shared, String task, Table table) {
    tableName = table.name();
    committedSegments = shared.segments(tableName);
    segments = new TreeMap<>(committedSegments);
    try (Transaction tx = shared.read()) {
      byte[] time = tx.get(table, StoreKeys.TIME);
      committedStreamTime =
          time == null ? ConsumerRecord.NO_TIMESTAMP : ByteBuffer.wrap(time).getLong();
    }
    streamTime = committedStreamTime;
  }

  @Override
  boolean endsQuietly() {
    return true;
  }

  // --- writes

  void put(Bytes key, byte @Nullable [] value) {
    write(tx -> {
      long time = keys.time(key.get());
      advance(time);
      Table segment = segment(tx, time);
      if (segment != null) {
        put(tx, segment, row(key), value);
      }
    });
  }

  void remove(Bytes key) {
    write(tx -> {
      long time = keys.time(key.get());
      advance(time);
      Table segment = segments.get(time / interval);
      if (segment != null) {
        tx.delete(segment, row(key));
      }
    });
  }

  private void advance(long time) {
    streamTime = Math.max(streamTime, time);
  }

  /** The segment of a time, which is created if need be; null if that time is over. */
  private @Nullable Table segment(Transaction tx, long time) {
    long number = time / interval;
    long live = (streamTime - retention) / interval;
    if (number < live) {
      recordIsDropped();
      return null;
    }
    Table segment = segments.get(number);
    if (segment == null) {
      segment = tx.createTable(SharedDatabase.segment(tableName, number));
      segments.put(number, segment);
      hasOtherSegments = true;
    }
    while (!segments.isEmpty() && segments.firstKey() < live) {
      tx.dropTable(segments.pollFirstEntry().getValue());
      hasOtherSegments = true;
    }
    return segment;
  }

  private void recordIsDropped() {
    if (opened().context() instanceof InternalProcessorContext<?, ?> context) {
      TaskMetrics.droppedRecordsSensor(
              Thread.currentThread().getName(), context.taskId().toString(), context.metrics())
          .record();
    }
  }

  @Override
  void restore(Transaction tx, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      advance(keys.time(change.key()));
    }
    Map<Table, Map<byte[], byte @Nullable []>> rows = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      Table segment = segment(tx, keys.time(change.key()));
      if (segment != null) {
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
    Table segment = segments(inside).get(time / interval);
    if (segment == null) {
      return null;
    }
    return read(
        inside,
        tx -> {
          try {
            return tx.get(segment, row(key));
          } catch (CatalogException | ConflictException over) {
            return null; // dropped meanwhile
          }
        });
  }

  private long oldest(boolean inside) {
    return (inside ? streamTime : committedStreamTime) - retention + 1;
  }

  private NavigableMap<Long, Table> segments(boolean inside) {
    return inside ? segments : committedSegments;
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

  private List<Table> tables(long from, long to, boolean descending, boolean inside) {
    long last = keys.hasLongTimes() ? Long.MAX_VALUE : to;
    if (from > last) {
      return List.of();
    }
    NavigableMap<Long, Table> range =
        segments(inside)
            .subMap(Math.max(from, 0) / interval, true, Math.max(last, 0) / interval, true);
    return new ArrayList<>((descending ? range.descendingMap() : range).values());
  }

  /** How many segments the task has. */
  int segmentCount() {
    return segments.size();
  }

  <R> QueryResult<R> ask(
      Query<R> query, PositionBound positionBound, QueryConfig config, StateStore committed) {
    return query(query, positionBound, config, committed);
  }

  // --- commits

  @Override
  void stage(Transaction tx, Map<TopicPartition, @Nullable Long> changes) {
    super.stage(tx, changes);
    if (streamTime != committedStreamTime) {
      tx.put(table(), StoreKeys.TIME, ByteBuffer.allocate(Long.BYTES).putLong(streamTime).array());
    }
  }

  @Override
  void committed() {
    if (hasOtherSegments) {
      committedSegments = new TreeMap<>(segments); // before the position that their rows belong to
      hasOtherSegments = false;
    }
    committedStreamTime = streamTime;
    super.committed();
  }

  @Override
  void rolledBack() {
    super.rolledBack();
    streamTime = committedStreamTime;
    segments = new TreeMap<>(committedSegments);
    hasOtherSegments = false;
  }
}
