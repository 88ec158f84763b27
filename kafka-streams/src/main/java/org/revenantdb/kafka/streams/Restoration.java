package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.ProcessorStateException;
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
 * Restores a store: gathers records of its changelog, in memory and in sorted runs in a file, and
 * writes them in the order of their keys, with the offset of the last one, in a transaction of its
 * own (README.md, "Restoration" and §60).
 *
 * <p>Threads: hold the lock of the task.
 */
final class Restoration {
  /** If there are so many runs, no other one is added. A merge reads 64 KiB of each at a time. */
  private static final int MOST_RUNS = 64;

  private static final byte[] NOTHING = {};

  private final TaskStore store;
  private final SharedDatabase shared;
  private final Table table;
  private final TransactionOptions options;
  private final StateStoreContext context;

  private final RestoredRows rows = new RestoredRows();

  /** Earlier changes than those in {@link #rows}. */
  private final RestoredRuns runs;

  /** Whether there is one in {@link #rows} or {@link #runs}. */
  private boolean hasDeletions;

  /** Whether the database counts this store as one that gathers. */
  private boolean isGathering;

  /** What is known of the changelog when the rows are written. */
  private Map<TopicPartition, Long> offsets = Map.of();

  /**
   * Makes a restoration without records.
   *
   * @param directory of the store
   */
  Restoration(
      TaskStore store,
      SharedDatabase shared,
      Table table,
      StateStoreContext context,
      Path directory) {
    this.store = store;
    this.runs = new RestoredRuns(directory);
    this.shared = shared;
    this.table = table;
    this.options =
        (shared.isDurable() ? TransactionOptions.durable() : TransactionOptions.lazy())
            .withName("kafka-streams restore " + table.name());
    this.context = context;
  }

  /**
   * Gathers records. If all that are gathered need too much memory, they become a run, or are
   * written.
   *
   * @param changes in the order of the changelog, not empty, with keys that fit
   */
  void gather(Collection<ConsumerRecord<byte[], byte[]>> changes) {
    if (!isGathering) {
      isGathering = true;
      shared.beginsRestoring();
    }
    long before = rows.bytes();
    ConsumerRecord<byte[], byte[]> last = null;
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      rows.add(change.key(), change.value());
      last = change;
    }
    hasDeletions |= rows.hasDeletions();
    if (last != null) {
      offsets = Map.of(new TopicPartition(last.topic(), last.partition()), last.offset());
    }
    if (shared.gathers(rows.bytes() - before, rows.bytes())) {
      if (runs.count() < MOST_RUNS && isLoad()) {
        addRun();
      } else {
        write();
      }
    }
  }

  private void addRun() {
    try {
      runs.add(rows.sorted());
    } catch (IOException failure) {
      throw unusable(failure);
    }
    forgetRows();
  }

  private ProcessorStateException unusable(IOException failure) {
    return new ProcessorStateException(
        "store "
            + store.name()
            + ": the file "
            + runs
            + " for records that are restored cannot be used: "
            + failure.getMessage()
            + "; check the disk, its free space and the permissions of the state directory",
        failure);
  }

  /**
   * Whether a commit is deferred: one of those that Kafka Streams makes from time to time during a
   * restoration. Behind any other one readers expect the rows. Few rows are deferred as well: in an
   * empty table they would be in the way of all that follow, which could not be appended.
   */
  boolean defers(Map<TopicPartition, @Nullable Long> committed) {
    if (isEmpty()) {
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
    return isActive() && store.isPeriodicCommit();
  }

  /** A standby task is read from outside, so its commits are not deferred. */
  private boolean isActive() {
    return !(context instanceof InternalProcessorContext<?, ?> internal)
        || internal.taskType() == Task.TaskType.ACTIVE;
  }

  private boolean isEmpty() {
    return rows.isEmpty() && runs.isEmpty();
  }

  /** Writes what was gathered. After a failure it is still there. */
  void write() {
    if (isEmpty()) {
      return;
    }
    SortedMap<byte[], byte[]> own = store.describing(offsets);
    try {
      if (isLoad()) {
        load(own, changes());
      } else {
        put(own, changes());
      }
    } catch (IOException failure) {
      throw unusable(failure);
    }
    Map<TopicPartition, Long> written = offsets;
    forget();
    store.restored(written);
  }

  private SortedChanges changes() throws IOException {
    List<SortedChanges> all = runs.read();
    all.add(rows.sorted());
    return SortedChanges.merged(all);
  }

  /** In an empty table nothing has to be deleted, and whole pages are appended. */
  private boolean isLoad() {
    return !store.isCleared() && (!hasDeletions || hasNoRows());
  }

  private void load(SortedMap<byte[], byte[]> own, SortedChanges changes) throws IOException {
    long written = 0;
    try (BulkLoad load = shared.database().bulkLoad(table, options)) {
      own.forEach(load::add); // what describes a store comes before its rows
      byte[] row = NOTHING;
      byte[] value = NOTHING;
      while (changes.next()) {
        if (!changes.isDeletion()) {
          row = StoreKeys.row(changes.bytes, changes.keyStart(), changes.keyLength, row);
          value = changes.value(value);
          load.add(row, value);
          written += row.length + value.length;
        }
      }
      load.finish();
    }
    store.counts(written);
  }

  private void put(SortedMap<byte[], byte[]> own, SortedChanges changes) throws IOException {
    try (Transaction tx = shared.database().begin(options)) {
      tx.delete(table, StoreKeys.CLEARED);
      own.forEach((row, value) -> tx.put(table, row, value));
      while (changes.next()) {
        byte[] row = StoreKeys.row(changes.bytes, changes.keyStart(), changes.keyLength, NOTHING);
        store.put(tx, table, row, changes.isDeletion() ? null : changes.value(NOTHING));
      }
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
    forgetRows();
    runs.clear();
    hasDeletions = false;
    offsets = Map.of();
    if (isGathering) {
      isGathering = false;
      shared.endsRestoring();
    }
  }

  private void forgetRows() {
    long bytes = rows.bytes();
    rows.clear();
    shared.forgets(bytes);
  }
}
