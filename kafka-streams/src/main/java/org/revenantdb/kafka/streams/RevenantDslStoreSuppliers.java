package org.revenantdb.kafka.streams;

import java.util.Map;
import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores for a whole topology of the DSL, by one property:
 *
 * {@snippet :
 * properties.put(
 *     StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
 * }
 */
public final class RevenantDslStoreSuppliers implements DslStoreSuppliers {
  /** As Kafka Streams does. */
  public RevenantDslStoreSuppliers() {}

  /** Refuses properties of the stores that are not possible before the topology is built. */
  @Override
  public void configure(Map<String, ?> properties) {
    RevenantConfig.check(properties);
  }

  @Override
  public KeyValueBytesStoreSupplier keyValueStore(DslKeyValueParams params) {
    return switch (params.dslStoreFormat()) {
      case PLAIN -> RevenantStores.keyValueStore(params.name());
      case TIMESTAMPED -> RevenantStores.timestampedKeyValueStore(params.name());
      case HEADERS -> RevenantStores.timestampedKeyValueStoreWithHeaders(params.name());
    };
  }

  @Override
  public WindowBytesStoreSupplier windowStore(DslWindowParams params) {
    return switch (orTimestamped(params.dslStoreFormat())) {
      case PLAIN ->
          RevenantStores.windowStore(
              params.name(),
              params.retentionPeriod(),
              params.windowSize(),
              params.retainDuplicates());
      case TIMESTAMPED ->
          RevenantStores.timestampedWindowStore(
              params.name(),
              params.retentionPeriod(),
              params.windowSize(),
              params.retainDuplicates());
      case HEADERS ->
          RevenantStores.timestampedWindowStoreWithHeaders(
              params.name(),
              params.retentionPeriod(),
              params.windowSize(),
              params.retainDuplicates());
    };
  }

  /** As Kafka's own suppliers take it. */
  private static DslStoreFormat orTimestamped(@Nullable DslStoreFormat format) {
    return format == null ? DslStoreFormat.TIMESTAMPED : format;
  }

  @Override
  public SessionBytesStoreSupplier sessionStore(DslSessionParams params) {
    return params.storeFormat() == DslStoreFormat.HEADERS
        ? RevenantStores.sessionStoreWithHeaders(params.name(), params.retentionPeriod())
        : RevenantStores.sessionStore(params.name(), params.retentionPeriod());
  }
}
