package org.revenantdb.kafka.streams;

import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Stores for a whole topology of the DSL, by one property:
 *
 * {@snippet :
 * properties.put(
 *     StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
 * }
 *
 * <p>Stores that keep the headers of records are not there yet: a topology with {@code
 * dsl.store.format=headers} is refused.
 */
public final class RevenantDslStoreSuppliers implements DslStoreSuppliers {
  /** As Kafka Streams does. */
  public RevenantDslStoreSuppliers() {}

  @Override
  public KeyValueBytesStoreSupplier keyValueStore(DslKeyValueParams params) {
    refuseHeaders(params.name(), params.dslStoreFormat());
    return params.dslStoreFormat() == DslStoreFormat.PLAIN
        ? RevenantStores.keyValueStore(params.name())
        : RevenantStores.timestampedKeyValueStore(params.name());
  }

  @Override
  public WindowBytesStoreSupplier windowStore(DslWindowParams params) {
    refuseHeaders(params.name(), params.dslStoreFormat());
    return params.dslStoreFormat() == DslStoreFormat.PLAIN
        ? RevenantStores.windowStore(
            params.name(), params.retentionPeriod(), params.windowSize(), params.retainDuplicates())
        : RevenantStores.timestampedWindowStore(
            params.name(),
            params.retentionPeriod(),
            params.windowSize(),
            params.retainDuplicates());
  }

  @Override
  public SessionBytesStoreSupplier sessionStore(DslSessionParams params) {
    refuseHeaders(params.name(), params.storeFormat());
    return RevenantStores.sessionStore(params.name(), params.retentionPeriod());
  }

  private static void refuseHeaders(String store, DslStoreFormat format) {
    if (format == DslStoreFormat.HEADERS) {
      throw new UnsupportedOperationException(
          "store "
              + store
              + ": RevenantDB has no stores with headers yet; leave dsl.store.format at its"
              + " default, or use Kafka's own suppliers");
    }
  }
}
