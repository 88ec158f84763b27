package org.revenantdb.kafka.streams;

import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;

/** Versioned stores for tests in packages of Kafka. */
public final class VersionedStores {
  private VersionedStores() {}

  /** A store whose segments have a certain length. */
  public static VersionedKeyValueStore<Bytes, byte[]> store(
      String name, long retention, long interval) {
    return new RevenantVersionedStore(name, retention, interval);
  }

  /** Restores a batch. */
  public static void restore(
      VersionedKeyValueStore<Bytes, byte[]> store,
      Collection<ConsumerRecord<byte[], byte[]>> changes) {
    ((RevenantVersionedStore) store).restore(changes);
  }

  /** The versions of a key, as the task sees them. */
  public static List<VersionedRecord<byte[]>> versions(
      VersionedKeyValueStore<Bytes, byte[]> store,
      Bytes key,
      long from,
      long to,
      ResultOrder order) {
    return ((RevenantVersionedStore) store).versions(key, from, to, order, true);
  }
}
