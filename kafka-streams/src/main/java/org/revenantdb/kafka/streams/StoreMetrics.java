package org.revenantdb.kafka.streams;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.jspecify.annotations.Nullable;

/**
 * What a store counts in the registry of Kafka Streams, under the names that RocksDB's metrics have
 * where there is such a one. Kafka removes them with the others of the store.
 *
 * <p>Threads: any, once it is made.
 */
final class StoreMetrics {
  private static final String GROUP = StreamsMetricsImpl.STATE_STORE_LEVEL_GROUP;

  /** Of a context that has no registry, as in tests. */
  static final StoreMetrics NONE = new StoreMetrics(null, null, null, null);

  private final @Nullable Sensor written;
  private final @Nullable Sensor read;
  private final @Nullable Sensor commits;
  private final @Nullable Sensor rollbacks;

  private StoreMetrics(
      @Nullable Sensor written,
      @Nullable Sensor read,
      @Nullable Sensor commits,
      @Nullable Sensor rollbacks) {
    this.written = written;
    this.read = read;
    this.commits = commits;
    this.rollbacks = rollbacks;
  }

  /**
   * The metrics of a store.
   *
   * @param scope as in the names of the metrics that Kafka keeps of it
   * @param gauges numbers of now, by name and description
   */
  static StoreMetrics of(
      StateStoreContext context, String scope, String store, Map<String, Supplier<Long>> gauges) {
    if (!(context instanceof InternalProcessorContext<?, ?> internal)) {
      return NONE;
    }
    StreamsMetricsImpl metrics = internal.metrics();
    String task = context.taskId().toString();
    Map<String, String> tags = metrics.storeLevelTagMap(task, scope, store);
    gauges.forEach((name, value) ->
        metrics.addStoreLevelMutableMetric(
            task,
            scope,
            store,
            name,
            "The " + name.replace('-', ' ') + " of the store",
            Sensor.RecordingLevel.INFO,
            (config, now) -> value.get()));
    Sensor written =
        metrics.storeLevelSensor(task, store, "bytes-written", Sensor.RecordingLevel.DEBUG);
    Sensor read = metrics.storeLevelSensor(task, store, "bytes-read", Sensor.RecordingLevel.DEBUG);
    Sensor commits = metrics.storeLevelSensor(task, store, "commits", Sensor.RecordingLevel.INFO);
    Sensor rollbacks =
        metrics.storeLevelSensor(task, store, "rollbacks", Sensor.RecordingLevel.INFO);
    sum(written, tags, "bytes-written", "bytes of keys and values written to the store");
    sum(read, tags, "bytes-read", "bytes of values read from the store");
    sum(commits, tags, "commits", "transactions that committed rows of the store");
    sum(rollbacks, tags, "rollbacks", "transactions that rolled back rows of the store");
    return new StoreMetrics(written, read, commits, rollbacks);
  }

  private static void sum(Sensor sensor, Map<String, String> tags, String name, String what) {
    StreamsMetricsImpl.addRateOfSumAndSumMetricsToSensor(
        sensor,
        GROUP,
        tags,
        name,
        "The average per-second number of " + what,
        "The total number of " + what);
  }

  void written(long bytes) {
    record(written, bytes);
  }

  void read(byte @Nullable [] value) {
    if (value != null) {
      record(read, value.length);
    }
  }

  void committed() {
    record(commits, 1);
  }

  void rolledBack() {
    record(rollbacks, 1);
  }

  private static void record(@Nullable Sensor sensor, long value) {
    if (sensor != null && sensor.shouldRecord()) {
      sensor.record((double) value);
    }
  }
}
