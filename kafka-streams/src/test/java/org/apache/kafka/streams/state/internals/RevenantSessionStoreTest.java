package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.kafka.streams.RevenantStores;

/**
 * Kafka's own test of stores of sessions, for each such store, and with Kafka's changelog above it;
 * it can only be extended in its package. One of its tests also looks for the words that Kafka's
 * stores write to their log, one restores a closed store.
 */
@Tag("slow")
class RevenantSessionStoreTest {
  private abstract static class OfStore extends AbstractSessionBytesStoreTest {
    SessionBytesStoreSupplier supplier(Duration retention) {
      return RevenantStores.sessionStore("session-store", retention);
    }

    <K, V> StoreBuilder<SessionStore<K, V>> with(StoreBuilder<SessionStore<K, V>> builder) {
      return builder;
    }

    @Override
    <K, V> SessionStore<K, V> buildSessionStore(
        long retention, Serde<K> keySerde, Serde<V> valueSerde) {
      return with(Stores.sessionStoreBuilder(
              supplier(Duration.ofMillis(retention)), keySerde, valueSerde))
          .build();
    }

    @Override
    StoreType storeType() {
      return StoreType
          .RocksDBTimeOrderedSessionStoreWithoutIndex; // these find sessions by time alone
    }

    @Test
    @Override
    public void shouldNotThrowInvalidRangeExceptionWithNegativeFromKey() {
      try (KeyValueIterator<Windowed<String>, Long> rows =
          sessionStore.findSessions("b", "a", 0L, 10L)) {
        assertFalse(rows.hasNext());
      }
    }

    @Test
    @Override
    public void shouldRestore() {
      context.restore(
          sessionStore.name(),
          List.of(change(0, 0, 1L), change(10, 20, 2L), change(30, 40, 3L), change(10, 20, null)));
      try (KeyValueIterator<Windowed<String>, Long> rows = sessionStore.fetch("a")) {
        assertEquals(1L, rows.next().value);
        assertEquals(3L, rows.next().value);
        assertFalse(rows.hasNext());
      }
    }
  }

  @Nested
  class Sessions extends OfStore {}

  @Nested
  class SessionsWithHeaders extends OfStore {
    @Override
    SessionBytesStoreSupplier supplier(Duration retention) {
      return RevenantStores.sessionStoreWithHeaders("session-store", retention);
    }
  }

  @Nested
  class SessionsUnderTheChangelog extends OfStore {
    @Override
    <K, V> StoreBuilder<SessionStore<K, V>> with(StoreBuilder<SessionStore<K, V>> builder) {
      return builder.withLoggingEnabled(Map.of());
    }
  }

  private static KeyValue<byte[], byte[]> change(long start, long end, Long value) {
    Bytes key = Bytes.wrap("a".getBytes(StandardCharsets.UTF_8));
    try (LongSerializer serializer = new LongSerializer()) {
      return KeyValue.pair(
          SessionKeySchema.toBinary(key, start, end).get(),
          value == null ? null : serializer.serialize("", value));
    }
  }
}
