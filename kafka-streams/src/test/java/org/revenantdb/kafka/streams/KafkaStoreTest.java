package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Map;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.AbstractKeyValueStoreTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kafka's own test of stores of keys and values, for each such store, and with Kafka's layers above
 * it. Four of its tests also look for the words that Kafka's stores write to their log; here they
 * look for the empty range alone.
 */
@Tag("slow")
class KafkaStoreTest {
  private abstract static class OfStore extends AbstractKeyValueStoreTest {
    KeyValueBytesStoreSupplier supplier() {
      return RevenantStores.keyValueStore("my-store");
    }

    <K, V> StoreBuilder<KeyValueStore<K, V>> with(StoreBuilder<KeyValueStore<K, V>> builder) {
      return builder;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected <K, V> KeyValueStore<K, V> createKeyValueStore(StateStoreContext context) {
      KeyValueStore<K, V> store =
          with(Stores.keyValueStoreBuilder(
                  supplier(), (Serde<K>) context.keySerde(), (Serde<V>) context.valueSerde()))
              .build();
      store.init(context, store);
      return store;
    }

    @Test
    @Override
    public void shouldNotThrowInvalidRangeExceptionWithNegativeFromKey() {
      assertEmpty(store.range(-1, 1));
    }

    @Test
    @Override
    public void shouldNotThrowInvalidReverseRangeExceptionWithNegativeFromKey() {
      assertEmpty(store.reverseRange(-1, 1));
    }

    @Test
    @Override
    public void shouldNotThrowInvalidRangeExceptionWithFromLargerThanTo() {
      assertEmpty(store.range(2, 1));
    }

    @Test
    @Override
    public void shouldNotThrowInvalidReverseRangeExceptionWithFromLargerThanTo() {
      assertEmpty(store.reverseRange(2, 1));
    }

    private static void assertEmpty(KeyValueIterator<Integer, String> rows) {
      try (rows) {
        assertFalse(rows.hasNext());
      }
    }
  }

  @Nested
  class Rows extends OfStore {}

  @Nested
  class RowsWithTimestamps extends OfStore {
    @Override
    KeyValueBytesStoreSupplier supplier() {
      return RevenantStores.timestampedKeyValueStore("my-store");
    }
  }

  @Nested
  class RowsWithHeaders extends OfStore {
    @Override
    KeyValueBytesStoreSupplier supplier() {
      return RevenantStores.timestampedKeyValueStoreWithHeaders("my-store");
    }
  }

  @Nested
  class RowsUnderTheChangelog extends OfStore {
    @Override
    <K, V> StoreBuilder<KeyValueStore<K, V>> with(StoreBuilder<KeyValueStore<K, V>> builder) {
      return builder.withLoggingEnabled(Map.of());
    }
  }

  @Nested
  class RowsUnderTheCache extends OfStore {
    @Override
    <K, V> StoreBuilder<KeyValueStore<K, V>> with(StoreBuilder<KeyValueStore<K, V>> builder) {
      return builder.withCachingEnabled();
    }
  }
}
