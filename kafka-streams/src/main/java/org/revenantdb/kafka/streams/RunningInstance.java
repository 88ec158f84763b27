package org.revenantdb.kafka.streams;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.jspecify.annotations.Nullable;

/**
 * An instance of {@code KafkaStreams}, as its stores see it: by its registry of metrics. The
 * registry has the state of the instance, and closes its reporters when the instance ends.
 *
 * <p>Threads: any. Kafka's locks are taken, so no lock may be held that {@link #onEnd} needs.
 */
final class RunningInstance {
  /** Name of the metric of an instance; the test driver has no such metric. */
  private static final String STATE = "state";

  private static final Set<String> RUNS =
      Set.of(
          KafkaStreams.State.CREATED.name(),
          KafkaStreams.State.REBALANCING.name(),
          KafkaStreams.State.RUNNING.name());

  private final Metrics registry;
  private final MetricName state;

  private RunningInstance(Metrics registry, MetricName state) {
    this.registry = registry;
    this.state = state;
  }

  /** The instance of a store; null for a test without the classes of Kafka Streams. */
  static @Nullable RunningInstance of(StateStoreContext context) {
    return context instanceof InternalProcessorContext<?, ?> internal
        ? of(internal.metrics())
        : null;
  }

  /** The instance that has these metrics. */
  static RunningInstance of(StreamsMetricsImpl metrics) {
    Metrics registry = metrics.metricsRegistry();
    return new RunningInstance(
        registry,
        registry.metricName(
            STATE, StreamsMetricsImpl.CLIENT_LEVEL_GROUP, metrics.clientLevelTagMap()));
  }

  /**
   * Whether this is an instance that has not begun to end. If so, what {@link #onEnd} has received
   * before will run.
   */
  boolean isRunning() {
    KafkaMetric metric = registry.metric(state);
    return metric != null && metric.metricValue() instanceof String now && RUNS.contains(now);
  }

  /** Runs an action when the registry is closed, after the threads of the instance have ended. */
  void onEnd(Runnable action) {
    registry.addReporter(new End(action));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RunningInstance instance && instance.registry == registry;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(registry);
  }

  @Override
  public String toString() {
    return "RunningInstance[" + state.tags() + "]";
  }

  /** Reports nothing. */
  private record End(Runnable action) implements MetricsReporter {
    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void close() {
      action.run();
    }
  }
}
