package org.revenantdb.kafka.streams;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.jspecify.annotations.Nullable;

/** What is committed of a versioned store, for interactive queries: whichever thread asks. */
record CommittedVersions(RevenantVersionedStore store)
    implements VersionedKeyValueStore<Bytes, byte[]> {
  @Override
  public @Nullable VersionedRecord<byte[]> get(Bytes key) {
    return store.get(key, /* inside= */ false);
  }

  @Override
  public @Nullable VersionedRecord<byte[]> get(Bytes key, long asOfTimestamp) {
    return store.get(key, asOfTimestamp, /* inside= */ false);
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
  public Position getPosition() {
    return store.getPosition();
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    throw readOnly();
  }

  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    throw readOnly();
  }

  @Override
  public void close() {
    throw readOnly();
  }

  @Override
  public long put(Bytes key, byte @Nullable [] value, long timestamp) {
    throw readOnly();
  }

  @Override
  public @Nullable VersionedRecord<byte[]> delete(Bytes key, long timestamp) {
    throw readOnly();
  }

  private UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("a query of store " + name() + " only reads");
  }

  /** Versions that have been read. */
  record Read(Iterator<VersionedRecord<byte[]>> versions)
      implements VersionedRecordIterator<byte[]> {
    Read(List<VersionedRecord<byte[]>> versions) {
      this(versions.iterator());
    }

    @Override
    public boolean hasNext() {
      return versions.hasNext();
    }

    @Override
    public VersionedRecord<byte[]> next() {
      return versions.next();
    }

    @Override
    public void close() {
      // nothing is open
    }
  }
}
