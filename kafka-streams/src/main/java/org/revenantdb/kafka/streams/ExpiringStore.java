package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.metrics.TaskMetrics;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * A store whose rows are over after some time. They are in a table for each segment of time. A
 * segment whose time is over is dropped with its table, in a time that does not depend on its rows.
 *
 * <p>Threads: as {@link TaskStore}.
 */
abstract class ExpiringStore extends TaskStore {
  /*
   * Segments are created and dropped in the transaction of the task: after a crash those are there that the offset
   * needs. The task has its own map of them, and others have the one of the last commit.
   */
  private final long retention;
  private final long interval;

  /** Threads that are inside by mistake may look at it while the task changes it. */
  private volatile NavigableMap<Long, Table> segments = new ConcurrentSkipListMap<>();

  private volatile NavigableMap<Long, Table> committedSegments = new TreeMap<>();

  /**
   * What readers outside of the task look at: the committed segments, and from the stage of a
   * commit on those that it brings. A snapshot that is begun between the commit and {@link
   * #committed} has its rows, so it must find their segments.
   */
  private volatile NavigableMap<Long, Table> visibleSegments = new TreeMap<>();

  private boolean hasOtherSegments;

  /** The latest time that was written; rows are over when that is their time and the retention. */
  private volatile long streamTime = ConsumerRecord.NO_TIMESTAMP;

  private volatile long committedStreamTime = ConsumerRecord.NO_TIMESTAMP;

  private String tableName = "";

  /**
   * A store.
   *
   * @param retention how long a row is there, in milliseconds
   * @param interval length of a segment, in milliseconds
   */
  ExpiringStore(String name, long retention, long interval) {
    super(name);
    this.retention = retention;
    this.interval = interval;
  }

  /** A part of the format, since that decides which segment a row is in. */
  final long interval() {
    return interval;
  }

  @Override
  void openTables(SharedDatabase shared, String task, Table table) {
    tableName = table.name();
    committedSegments = shared.segments(tableName);
    visibleSegments = committedSegments;
    segments = new ConcurrentSkipListMap<>(committedSegments);
    try (Transaction tx = shared.read()) {
      byte[] time = tx.get(table, StoreKeys.TIME);
      committedStreamTime =
          time == null ? ConsumerRecord.NO_TIMESTAMP : ByteBuffer.wrap(time).getLong();
    }
    streamTime = committedStreamTime;
  }

  @Override
  Set<Long> segmentNumbers() {
    return committedSegments.keySet();
  }

  @Override
  Map<String, Supplier<Long>> gauges(SharedDatabase shared) {
    Map<String, Supplier<Long>> gauges = super.gauges(shared);
    gauges.put("number-open-segments", () -> (long) committedSegments.size());
    return gauges;
  }

  final void advance(long time) {
    streamTime = Math.max(streamTime, time);
  }

  final long streamTime(boolean inside) {
    return inside ? streamTime : committedStreamTime;
  }

  /** The oldest time that a reader sees; before it all is over. */
  final long retained(boolean inside) {
    return streamTime(inside) - retention;
  }

  /** The number of the segment of a time. */
  final long number(long time) {
    return time / interval;
  }

  final NavigableMap<Long, Table> segments(boolean inside) {
    return inside ? segments : visibleSegments;
  }

  /** The segment of a time, which is created if need be; null if that time is over. */
  final @Nullable Table segment(Transaction tx, long time) {
    long number = number(time);
    if (number < live()) {
      return null;
    }
    Table segment = segments.get(number);
    if (segment == null) {
      segment = tx.createTable(SharedDatabase.segment(tableName, number));
      segments.put(number, segment);
      hasOtherSegments = true;
    }
    dropOver(tx);
    return segment;
  }

  /** Drops the segments whose time is over. */
  final void dropOver(Transaction tx) {
    while (!segments.isEmpty() && segments.firstKey() < live()) {
      tx.dropTable(segments.pollFirstEntry().getValue());
      hasOtherSegments = true;
    }
  }

  private long live() {
    return number(streamTime - retention);
  }

  /** Counts a record that came too late, as Kafka's own stores do. */
  final void recordIsDropped() {
    if (opened().context() instanceof InternalProcessorContext<?, ?> context) {
      TaskMetrics.droppedRecordsSensor(
              Thread.currentThread().getName(), context.taskId().toString(), context.metrics())
          .record();
    }
  }

  /** How many segments the task has. */
  final int segmentCount() {
    return segments.size();
  }

  // --- commits

  @Override
  void stage(Transaction tx, Map<TopicPartition, @Nullable Long> changes) {
    super.stage(tx, changes);
    if (hasOtherSegments) {
      NavigableMap<Long, Table> both = new TreeMap<>(committedSegments);
      both.putAll(segments);
      visibleSegments = both;
    }
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
    visibleSegments = committedSegments;
    committedStreamTime = streamTime;
    super.committed();
  }

  @Override
  void rolledBack() {
    super.rolledBack();
    streamTime = committedStreamTime;
    segments = new ConcurrentSkipListMap<>(committedSegments);
    visibleSegments = committedSegments;
    hasOtherSegments = false;
  }
}
