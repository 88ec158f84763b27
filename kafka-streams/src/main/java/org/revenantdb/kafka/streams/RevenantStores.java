package org.revenantdb.kafka.streams;

import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Suppliers of stores, for {@code Materialized.as} and {@code Stores.keyValueStoreBuilder}.
 *
 * {@snippet :
 * KTable<String, Long> counts =
 *     words.groupBy((key, word) -> word)
 *         .count(Materialized.as(RevenantStores.timestampedKeyValueStore("counts")));
 * }
 *
 * <p>All stores of an instance share one database, in the directory {@code revenant} of the
 * application's state directory. An application that is processed exactly once also sets {@link
 * RevenantClientSupplier}.
 */
public final class RevenantStores {
  /** As in the names of Kafka's metrics: {@code revenant-state-id}. */
  private static final String SCOPE = "revenant";

  private RevenantStores() {}

  /**
   * A store of keys and values, for {@code Stores.keyValueStoreBuilder}. A table of the DSL that
   * uses it loses the timestamps of its rows; use {@link #timestampedKeyValueStore} there.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    Objects.requireNonNull(name, "name");
    return new KeyValueSupplier(name, () -> new RevenantStore(name));
  }

  /**
   * A store of keys and values with timestamps, for {@code Materialized.as} and {@code
   * Stores.timestampedKeyValueStoreBuilder}.
   *
   * @param name name of the store
   * @return the supplier
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    Objects.requireNonNull(name, "name");
    return new KeyValueSupplier(name, () -> new RevenantTimestampedStore(name));
  }

  private record KeyValueSupplier(String name, Supplier<KeyValueStore<Bytes, byte[]>> stores)
      implements KeyValueBytesStoreSupplier {
    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return stores.get();
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }
}
