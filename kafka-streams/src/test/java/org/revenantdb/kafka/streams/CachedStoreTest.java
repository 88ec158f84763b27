package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.ThreadCache;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What readers outside of a task see of a store with Kafka's record cache above it, and without it
 * (guide, "What to expect").
 */
class CachedStoreTest {
  @TempDir Path home;

  private KeyValueStore<String, String> store(boolean isCached) {
    ThreadCache cache =
        new ThreadCache(
            new LogContext(),
            1 << 20,
            new StreamsMetricsImpl(new Metrics(), "client", Time.SYSTEM));
    InternalMockProcessorContext<?, ?> context =
        new InternalMockProcessorContext<>(
            home.resolve("app/0_0").toFile(), Serdes.String(), Serdes.String(), null, cache);
    context.setRecordContext(new ProcessorRecordContext(0, 0, 0, "in", new RecordHeaders()));
    StoreBuilder<KeyValueStore<String, String>> builder =
        Stores.keyValueStoreBuilder(
                RevenantStores.keyValueStore("store"), Serdes.String(), Serdes.String())
            .withLoggingDisabled();
    KeyValueStore<String, String> store =
        (isCached ? builder.withCachingEnabled() : builder.withCachingDisabled()).build();
    store.init(context, store);
    return store;
  }

  private static <T> T outside(Callable<T> read) throws Exception {
    FutureTask<T> task = new FutureTask<>(read);
    Thread.ofPlatform().start(task).join();
    return task.get();
  }

  private static String query(KeyValueStore<String, String> store, KeyQuery<String, String> query)
      throws Exception {
    return outside(
        () -> store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult());
  }

  private static List<String> all(KeyValueIterator<String, String> rows) {
    List<String> all = new ArrayList<>();
    try (rows) {
      rows.forEachRemaining(row -> all.add(row.value));
    }
    return all;
  }

  private static List<String> range(KeyValueStore<String, String> store) throws Exception {
    return outside(() ->
        all(
            store
                .query(
                    RangeQuery.<String, String>withNoBounds(),
                    PositionBound.unbounded(),
                    new QueryConfig(false))
                .getResult()));
  }

  @Test
  void without_the_cache_readers_outside_see_what_is_committed() throws Exception {
    KeyValueStore<String, String> store = store(/* isCached= */ false);
    store.put("a", "1");
    assertEquals("1", store.get("a"));
    assertNull(outside(() -> store.get("a")));
    assertNull(query(store, KeyQuery.withKey("a")));
    assertEquals(List.of(), range(store));
    assertEquals(List.of(), outside(() -> all(store.all())));
    store.commit(Map.of());
    assertEquals("1", outside(() -> store.get("a")));
    assertEquals("1", query(store, KeyQuery.withKey("a")));
    assertEquals(List.of("1"), range(store));
    store.close();
  }

  /** The cache is Kafka's, and any thread looks into it first. */
  @Test
  void with_the_cache_readers_outside_see_what_is_in_it() throws Exception {
    KeyValueStore<String, String> store = store(/* isCached= */ true);
    store.put("a", "1");
    assertEquals("1", outside(() -> store.get("a")));
    assertEquals("1", query(store, KeyQuery.withKey("a")));
    assertEquals(List.of("1"), outside(() -> all(store.all())));
    assertEquals(List.of(), range(store));
    store.close();
  }
}
