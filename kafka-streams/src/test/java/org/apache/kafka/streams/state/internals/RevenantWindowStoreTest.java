package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.kafka.streams.RevenantStores;

/**
 * Kafka's own test of stores of windows; it can only be extended in its package. One of its tests
 * also looks for the words that Kafka's stores write to their log.
 */
@Tag("slow")
class RevenantWindowStoreTest extends AbstractWindowBytesStoreTest {
  @Override
  <K, V> WindowStore<K, V> buildWindowStore(
      long retention,
      long windowSize,
      boolean retainDuplicates,
      Serde<K> keySerde,
      Serde<V> valueSerde) {
    return Stores.windowStoreBuilder(
            RevenantStores.windowStore(
                "window-store",
                Duration.ofMillis(retention),
                Duration.ofMillis(windowSize),
                retainDuplicates),
            keySerde,
            valueSerde)
        .build();
  }

  @Test
  @Override
  public void shouldNotThrowInvalidRangeExceptionWithNegativeFromKey() {
    try (KeyValueIterator<Windowed<Integer>, String> rows = windowStore.fetch(-1, 1, 0L, 10L)) {
      assertFalse(rows.hasNext());
    }
  }
}
