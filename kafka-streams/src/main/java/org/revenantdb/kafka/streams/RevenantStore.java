package org.revenantdb.kafka.streams;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Transaction;

/** A store of keys and values: one table. */
class RevenantStore extends TaskStore implements KeyValueStore<Bytes, byte[]> {
  RevenantStore(String name) {
    super(name);
  }

  @Override
  String format() {
    return "plain";
  }

  @Override
  String scope() {
    return RevenantStores.SCOPE;
  }

  // --- reads

  @Override
  public byte @Nullable [] get(Bytes key) {
    return get(key, isInside());
  }

  byte @Nullable [] get(Bytes key, boolean inside) {
    Objects.requireNonNull(key, "key cannot be null");
    return counted(read(inside, tx -> tx.get(table(), row(key))));
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(@Nullable Bytes from, @Nullable Bytes to) {
    return range(from, to, /* descending= */ false, isInside());
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseRange(@Nullable Bytes from, @Nullable Bytes to) {
    return range(from, to, /* descending= */ true, isInside());
  }

  KeyValueIterator<Bytes, byte[]> range(
      @Nullable Bytes from, @Nullable Bytes to, boolean descending, boolean inside) {
    byte[] first = from == null ? null : StoreKeys.row(from.get());
    byte[] end = to == null ? null : StoreKeys.behind(to.get());
    if (from != null && to != null && from.compareTo(to) > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "store {0}: a range that ends before it begins is empty; bytes are compared without"
              + " their sign, so negative numbers are behind positive ones",
          name());
      end = first;
    }
    return iterator(first, end, descending, inside);
  }

  private KeyValueIterator<Bytes, byte[]> iterator(
      byte @Nullable [] from, byte @Nullable [] to, boolean descending, boolean inside) {
    return iterator(List.of(table()), from, to, descending, inside, row -> true);
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
    return prefixScan(prefix, serializer, isInside());
  }

  <PS extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(
      P prefix, PS serializer, boolean inside) {
    Objects.requireNonNull(prefix, "prefix cannot be null");
    Objects.requireNonNull(serializer, "prefixKeySerializer cannot be null");
    byte[] bytes = serializer.serialize(null, prefix);
    return iterator(
        StoreKeys.row(bytes), StoreKeys.behindPrefix(bytes), /* descending= */ false, inside);
  }

  /** The exact number of rows, which are counted: the time is that of a scan without values. */
  @Override
  public long approximateNumEntries() {
    return count(isInside());
  }

  long count(boolean inside) {
    return read(
        inside,
        tx ->
            tx.count(table(), null, null)
                - tx.count(table(), StoreKeys.OWN_FROM, StoreKeys.OWN_TO));
  }

  @Override
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    return query(query, positionBound, config, new CommittedRows(this));
  }

  // --- writes

  @Override
  public void put(Bytes key, byte @Nullable [] value) {
    Objects.requireNonNull(key, "key cannot be null");
    write(tx -> put(tx, table(), row(key), value));
  }

  @Override
  public byte @Nullable [] putIfAbsent(Bytes key, byte @Nullable [] value) {
    byte[] present = get(key);
    if (present == null && value != null) {
      put(key, value);
    }
    return present;
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    List<byte[]> rows = new ArrayList<>(entries.size()); // all are refused, or none
    for (KeyValue<Bytes, byte[]> entry : entries) {
      Objects.requireNonNull(entry.key, "key cannot be null");
      rows.add(row(entry.key));
    }
    write(tx -> {
      for (int i = 0; i < rows.size(); i++) {
        put(tx, table(), rows.get(i), entries.get(i).value);
      }
    });
  }

  @Override
  public byte @Nullable [] delete(Bytes key) {
    byte[] present = get(key);
    put(key, null);
    return present;
  }

  @Override
  boolean gathers() {
    return true;
  }

  @Override
  void restore(Transaction tx, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    Map<byte[], byte @Nullable []> rows = sorted();
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      rows.put(row(Bytes.wrap(change.key())), change.value());
    }
    rows.forEach((row, value) -> put(tx, table(), row, value));
  }
}
