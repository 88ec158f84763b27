package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.kafka.streams.RevenantStores;

/**
 * Kafka's own test of stores of windows, for each such store, and with Kafka's changelog above it;
 * it can only be extended in its package. One of its tests also looks for the words that Kafka's
 * stores write to their log.
 */
@Tag("slow")
class RevenantWindowStoreTest {
  private interface Supplier {
    WindowBytesStoreSupplier of(
        String name, Duration retention, Duration windowSize, boolean retainDuplicates);
  }

  private abstract static class OfStore extends AbstractWindowBytesStoreTest {
    Supplier supplier() {
      return RevenantStores::windowStore;
    }

    <K, V> StoreBuilder<WindowStore<K, V>> with(StoreBuilder<WindowStore<K, V>> builder) {
      return builder;
    }

    @Override
    <K, V> WindowStore<K, V> buildWindowStore(
        long retention,
        long windowSize,
        boolean retainDuplicates,
        Serde<K> keySerde,
        Serde<V> valueSerde) {
      return with(Stores.windowStoreBuilder(
              supplier()
                  .of(
                      "window-store",
                      Duration.ofMillis(retention),
                      Duration.ofMillis(windowSize),
                      retainDuplicates),
              keySerde,
              valueSerde))
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

  @Nested
  class Windows extends OfStore {}

  @Nested
  class WindowsWithTimestamps extends OfStore {
    @Override
    Supplier supplier() {
      return RevenantStores::timestampedWindowStore;
    }
  }

  @Nested
  class WindowsWithHeaders extends OfStore {
    @Override
    Supplier supplier() {
      return RevenantStores::timestampedWindowStoreWithHeaders;
    }
  }

  @Nested
  class WindowsUnderTheChangelog extends OfStore {
    @Override
    <K, V> StoreBuilder<WindowStore<K, V>> with(StoreBuilder<WindowStore<K, V>> builder) {
      return builder.withLoggingEnabled(Map.of());
    }
  }
}
