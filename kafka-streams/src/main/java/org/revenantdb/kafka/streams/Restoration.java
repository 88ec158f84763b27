package org.revenantdb.kafka.streams;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.Task;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * Restores a store: gathers records of its changelog, and writes them in the order of their keys,
 * with the offset of the last one, in a transaction of its own (README.md, "Restoration").
 *
 * <p>Threads: hold the lock of the task.
 */
final class Restoration {
  /** If less than that is gathered, a commit writes it at once. */
  private static final long SMALL = 64 << 10;

  private final TaskStore store;
  private final SharedDatabase shared;
  private final Table table;
  private final TransactionOptions options;
  private final StateStoreContext context;

  private final RestoredRows rows = new RestoredRows();

  /** What is known of the changelog when the rows are written. */
  private Map<TopicPartition, Long> offsets = Map.of();

  Restoration(TaskStore store, SharedDatabase shared, Table table, StateStoreContext context) {
    this.store = store;
    this.shared = shared;
    this.table = table;
    this.options =
        (shared.isDurable() ? TransactionOptions.durable() : TransactionOptions.lazy())
            .withName("kafka-streams restore " + table.name());
    this.context = context;
  }

  /**
   * Gathers records, and writes all that are gathered if they need too much memory.
   *
   * @param changes in the order of the changelog, not empty, with keys that fit
   */
  void gather(Collection<ConsumerRecord<byte[], byte[]>> changes) {
    if (rows.isEmpty()) {
      shared.beginsRestoring();
    }
    long before = rows.bytes();
    ConsumerRecord<byte[], byte[]> last = null;
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      rows.add(change.key(), change.value());
      last = change;
    }
    if (last != null) {
      offsets = Map.of(new TopicPartition(last.topic(), last.partition()), last.offset());
    }
    if (shared.gathers(rows.bytes() - before, rows.bytes())) {
      write();
    }
  }

  /**
   * Whether a commit is deferred: one of those that Kafka Streams makes from time to time during a
   * restoration, when much is gathered. Behind any other one readers expect the rows.
   */
  boolean defers(Map<TopicPartition, @Nullable Long> committed) {
    if (rows.isEmpty()) {
      return false;
    }
    Map<TopicPartition, Long> all = new HashMap<>();
    committed.forEach((partition, offset) -> {
      if (offset != null) {
        // After a write that has failed, more may be gathered than is said to be restored.
        all.put(partition, Math.max(offset, offsets.getOrDefault(partition, offset)));
      }
    });
    if (!all.isEmpty()) {
      offsets = Map.copyOf(all);
    }
    return rows.contentBytes() >= SMALL && isActive() && store.isPeriodicCommit();
  }

  /** A standby task is read from outside, so its commits are not deferred. */
  private boolean isActive() {
    return !(context instanceof InternalProcessorContext<?, ?> internal)
        || internal.taskType() == Task.TaskType.ACTIVE;
  }

  /** Writes what was gathered. After a failure it is still there. */
  void write() {
    if (rows.isEmpty()) {
      return;
    }
    SortedMap<byte[], byte[]> own = store.describing(offsets);
    if (store.isCleared() || (rows.hasDeletions() && !hasNoRows())) {
      put(own);
    } else {
      load(own);
    }
    Map<TopicPartition, Long> written = offsets;
    forget();
    store.restored(written);
  }

  /** In an empty table nothing has to be deleted, and whole pages are appended. */
  private void load(SortedMap<byte[], byte[]> own) {
    try (BulkLoad load = shared.database().bulkLoad(table, options)) {
      own.forEach(load::add); // what describes a store comes before its rows
      rows.forEach((key, value) -> {
        if (value != null) {
          byte[] row = StoreKeys.row(key);
          load.add(row, value);
          store.counts(row, value);
        }
      });
      load.finish();
    }
  }

  private void put(SortedMap<byte[], byte[]> own) {
    try (Transaction tx = shared.database().begin(options)) {
      tx.delete(table, StoreKeys.CLEARED);
      own.forEach((row, value) -> tx.put(table, row, value));
      rows.forEach((key, value) -> store.put(tx, table, StoreKeys.row(key), value));
      tx.commit();
    }
  }

  private boolean hasNoRows() {
    try (Transaction tx = shared.read();
        Cursor found = tx.scan(table, StoreKeys.OWN_TO, null)) {
      return !found.next();
    }
  }

  /** Forgets what was gathered: the changelog has it. */
  void forget() {
    if (!rows.isEmpty()) {
      long bytes = rows.bytes();
      rows.clear();
      shared.endsRestoring(bytes);
    }
    offsets = Map.of();
  }
}
