package org.revenantdb.kafka.streams;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.Position;
import org.jspecify.annotations.Nullable;

/**
 * What stores of windows and of sessions have in common: their rows, or what is committed of these.
 */
abstract class TimedStore implements StateStore {
  final SegmentedStore rows;

  /** Whether this is what is committed of the store. */
  private final boolean committed;

  TimedStore(SegmentedStore rows, boolean committed) {
    this.rows = rows;
    this.committed = committed;
  }

  /** Whether the calling thread sees what is not committed. */
  final boolean isInside() {
    return !committed && rows.isInside();
  }

  @Override
  public String name() {
    return rows.name();
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    rows.init(context, root);
  }

  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    rows.commit(changelogOffsets);
  }

  @Override
  public @Nullable Long committedOffset(TopicPartition partition) {
    return rows.committedOffset(partition);
  }

  @Override
  @SuppressWarnings("deprecation") // Kafka asks until it takes it for granted
  public boolean managesOffsets() {
    return true;
  }

  @Override
  public Position getPosition() {
    return rows.getPosition();
  }

  @Override
  public void close() {
    rows.close();
  }

  @Override
  public boolean persistent() {
    return true;
  }

  @Override
  public boolean isOpen() {
    return rows.isOpen();
  }
}
