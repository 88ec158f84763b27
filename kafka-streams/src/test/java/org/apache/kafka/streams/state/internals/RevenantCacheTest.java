package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Field;
import java.time.Duration;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.TestUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.revenantdb.kafka.streams.OverOurStores;
import org.revenantdb.kafka.streams.RevenantStores;
import org.revenantdb.kafka.streams.WithoutKafkasLog;

/** Kafka's own tests of its record cache, with our stores under it. They have it in a field. */
@Tag("slow")
@ExtendWith(WithoutKafkasLog.class)
class RevenantCacheTest {
  private static Object get(Class<?> test, String field, Object of) {
    try {
      return field(test, field).get(of);
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Kafka's test has other fields now", changed);
    }
  }

  private static void set(Class<?> test, String field, Object of, Object value) {
    try {
      field(test, field).set(of, value);
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Kafka's test has other fields now", changed);
    }
  }

  private static Field field(Class<?> test, String name) throws NoSuchFieldException {
    Field field = test.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  @Nested
  @OverOurStores
  class OfKeysAndValues extends CachingInMemoryKeyValueStoreTest {
    private static final Class<?> TEST = CachingInMemoryKeyValueStoreTest.class;

    @BeforeEach
    @Override
    public void setUp() {
      super.setUp();
      KeyValueStore<Bytes, byte[]> ours = RevenantStores.keyValueStore("store").get();
      CachingKeyValueStore cached =
          new CachingKeyValueStore(ours, CachingKeyValueStore.CacheType.KEY_VALUE_STORE);
      CacheFlushListenerStub<?, ?> listener =
          (CacheFlushListenerStub<?, ?>) get(TEST, "cacheFlushListener", this);
      cached.setFlushListener(listener::apply, false);
      InternalMockProcessorContext<?, ?> context =
          new InternalMockProcessorContext<>(
              TestUtils.tempDirectory(), null, null, null, (ThreadCache) get(TEST, "cache", this));
      context.setRecordContext(new ProcessorRecordContext(10, 0, 0, "topic", new RecordHeaders()));
      set(TEST, "context", this, context);
      set(TEST, "underlyingStore", this, ours);
      set(TEST, "store", this, cached);
      cached.init(context, cached);
    }
  }

  @Nested
  @OverOurStores
  class OfWindows extends CachingPersistentWindowStoreTest {
    private static final Class<?> TEST = CachingPersistentWindowStoreTest.class;

    @BeforeEach
    @Override
    public void setUp() {
      super.setUp();
      ((CachingWindowStore) get(TEST, "cachingStore", this)).close();
      WindowStore<Bytes, byte[]> ours =
          RevenantStores.windowStore("test", Duration.ofMillis(100), Duration.ofMillis(10), false)
              .get();
      CachingWindowStore cached = new CachingWindowStore(ours, 10, 100);
      CacheFlushListenerStub<?, ?> listener =
          (CacheFlushListenerStub<?, ?>) get(TEST, "cacheListener", this);
      cached.setFlushListener(listener::apply, false);
      set(TEST, "underlyingStore", this, ours);
      set(TEST, "cachingStore", this, cached);
      cached.init((StateStoreContext) get(TEST, "context", this), cached);
    }

    // These five read and write Kafka's segments below the store; without the annotation they are
    // not run.

    @Override
    public void shouldFlushEvictedItemsIntoUnderlyingStore() {}

    @Override
    public void shouldIterateCacheAndStore() {}

    @Override
    public void shouldIterateBackwardCacheAndStore() {}

    @Override
    public void shouldIterateCacheAndStoreKeyRange() {}

    @Override
    public void shouldIterateBackwardCacheAndStoreKeyRange() {}
  }

  @Nested
  class OfSessions extends CachingPersistentSessionStoreTest {
    private static final Class<?> TEST = CachingPersistentSessionStoreTest.class;

    @BeforeEach
    @Override
    public void before() {
      super.before();
      ((CachingSessionStore) get(TEST, "cachingStore", this)).close();
      SessionStore<Bytes, byte[]> ours =
          RevenantStores.sessionStore("store-name", Duration.ofMillis(Long.MAX_VALUE)).get();
      CachingSessionStore cached = new CachingSessionStore(ours, 100);
      set(TEST, "underlyingStore", this, ours);
      set(TEST, "cachingStore", this, cached);
      cached.init((StateStoreContext) get(TEST, "context", this), cached);
    }
  }
}
