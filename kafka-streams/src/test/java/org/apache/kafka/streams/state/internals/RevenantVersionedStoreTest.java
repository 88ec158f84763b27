package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import org.revenantdb.kafka.streams.VersionedStores;

/**
 * Kafka's own test of versioned stores. It has a store of Kafka in a field; here that one passes
 * each call on to one of ours.
 *
 * <p>It looks up a meter by the name of its thread, so a test must run on the thread on which it
 * was set up. The watch for hangs would otherwise give it a thread of its own.
 */
@Tag("slow")
@Timeout(value = 40, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SAME_THREAD)
class RevenantVersionedStoreTest extends RocksDBVersionedStoreTest {
  private static final long RETENTION = 300_000;

  @BeforeEach
  @Override
  public void before() {
    super.before();
    VersionedKeyValueStore<Bytes, byte[]> ours =
        VersionedStores.store("ours", RETENTION, RETENTION / 3);
    RocksDBVersionedStore passing =
        Mockito.mock(RocksDBVersionedStore.class, call -> pass(call, ours));
    try {
      Field store = RocksDBVersionedStoreTest.class.getDeclaredField("store");
      Field context = RocksDBVersionedStoreTest.class.getDeclaredField("context");
      store.setAccessible(true);
      context.setAccessible(true);
      ((RocksDBVersionedStore) store.get(this)).close();
      passing.init((StateStoreContext) context.get(this), passing);
      store.set(this, passing);
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Kafka's test has other fields now", changed);
    }
  }

  /**
   * Only Kafka's own store had its position in a file once; without the annotation it is not run.
   */
  @Override
  public void shouldMigrateExistingPositionFromFile() {}

  private static Object pass(InvocationOnMock call, VersionedKeyValueStore<Bytes, byte[]> ours)
      throws Throwable {
    Object[] arguments = call.getArguments();
    if (call.getMethod().getName().equals("restoreBatch")) {
      @SuppressWarnings("unchecked")
      Collection<ConsumerRecord<byte[], byte[]>> changes =
          (Collection<ConsumerRecord<byte[], byte[]>>) arguments[0];
      VersionedStores.restore(ours, changes);
      return null;
    }
    if (call.getMethod().getName().equals("get") && arguments.length == 4) {
      return iterator(
          VersionedStores.versions(
              ours,
              (Bytes) arguments[0],
              (Long) arguments[1],
              (Long) arguments[2],
              (ResultOrder) arguments[3]));
    }
    for (Method method : VersionedKeyValueStore.class.getMethods()) { // whose parameters are erased
      if (method.getName().equals(call.getMethod().getName())
          && method.getParameterCount() == arguments.length) {
        try {
          return method.invoke(ours, arguments);
        } catch (InvocationTargetException thrown) {
          throw thrown.getCause();
        }
      }
    }
    throw new AssertionError(call);
  }

  private static VersionedRecordIterator<byte[]> iterator(List<VersionedRecord<byte[]>> versions) {
    Iterator<VersionedRecord<byte[]>> rows = versions.iterator();
    return new VersionedRecordIterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public VersionedRecord<byte[]> next() {
        return rows.next();
      }

      @Override
      public void close() {
        // nothing is open
      }
    };
  }
}
