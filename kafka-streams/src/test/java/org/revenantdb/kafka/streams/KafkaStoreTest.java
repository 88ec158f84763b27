package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertFalse;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.AbstractKeyValueStoreTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kafka's own test of stores of keys and values. Four of its tests also look for the words that
 * Kafka's stores write to their log; here they look for the empty range alone.
 */
@Tag("slow")
class KafkaStoreTest extends AbstractKeyValueStoreTest {
  @Override
  @SuppressWarnings("unchecked")
  protected <K, V> KeyValueStore<K, V> createKeyValueStore(StateStoreContext context) {
    StoreBuilder<KeyValueStore<K, V>> builder =
        Stores.keyValueStoreBuilder(
            RevenantStores.keyValueStore("my-store"),
            (Serde<K>) context.keySerde(),
            (Serde<V>) context.valueSerde());
    KeyValueStore<K, V> store = builder.build();
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
