package org.revenantdb.kafka.streams;

import java.util.List;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** What is committed of a store, whichever thread asks: interactive queries read this. */
final class CommittedRows implements KeyValueStore<Bytes, byte[]> {
  private final RevenantStore store;

  CommittedRows(RevenantStore store) {
    this.store = store;
  }

  @Override
  public byte @Nullable [] get(Bytes key) {
    return store.get(key, /* inside= */ false);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(@Nullable Bytes from, @Nullable Bytes to) {
    return store.range(from, to, /* descending= */ false, /* inside= */ false);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseRange(@Nullable Bytes from, @Nullable Bytes to) {
    return store.range(from, to, /* descending= */ true, /* inside= */ false);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    return range(null, null);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseAll() {
    return reverseRange(null, null);
  }

  @Override
  public <PS extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(
      P prefix, PS serializer) {
    return store.prefixScan(prefix, serializer, /* inside= */ false);
  }

  @Override
  public long approximateNumEntries() {
    return store.count(/* inside= */ false);
  }

  @Override
  public String name() {
    return store.name();
  }

  @Override
  public boolean persistent() {
    return true;
  }

  @Override
  public boolean isOpen() {
    return store.isOpen();
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    throw readOnly();
  }

  @Override
  public void close() {
    throw readOnly();
  }

  @Override
  public void put(Bytes key, byte @Nullable [] value) {
    throw readOnly();
  }

  @Override
  public byte @Nullable [] putIfAbsent(Bytes key, byte @Nullable [] value) {
    throw readOnly();
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    throw readOnly();
  }

  @Override
  public byte @Nullable [] delete(Bytes key) {
    throw readOnly();
  }

  private UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("a query of store " + name() + " only reads");
  }
}
