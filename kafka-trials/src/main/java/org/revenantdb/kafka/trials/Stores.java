package org.revenantdb.kafka.trials;

import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.streams.StreamsConfig;
import org.revenantdb.kafka.streams.RevenantClientSupplier;
import org.revenantdb.kafka.streams.RevenantDslStoreSuppliers;

/** Which stores an application has; all else is the same. */
enum Stores {
  /** Ours, by the two properties that the guide tells of. */
  REVENANT {
    @Override
    void configure(Properties properties) {
      properties.put(
          StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
          RevenantDslStoreSuppliers.class.getName());
      properties.put(
          StreamsConfig.DEFAULT_CLIENT_SUPPLIER_CONFIG, RevenantClientSupplier.class.getName());
    }
  },

  /** Those that Kafka Streams has without any property: RocksDB. */
  DEFAULT {
    @Override
    void configure(Properties properties) {
      // nothing is the default
    }
  };

  abstract void configure(Properties properties);

  static Stores of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  /** As in arguments and in the names of results. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
