package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.ProcessorStateException;
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
  private static final byte[] NOTHING = {};

  /** Characters of the name of a transaction. */
  private static final int MOST_OF_NAME = 100;

  private final TaskStore store;
  private final SharedDatabase shared;
  private final Table table;
  private final TransactionOptions options;

  private final RestoredRows rows = new RestoredRows();

  /** Bytes of memory of the rows that the database knows of. */
  private long counted;

  /** Earlier changes than those in {@link #rows}. */
  private final RestoredRuns runs;

  /** Whether there is one in {@link #rows} or {@link #runs}. */
  private boolean hasDeletions;

  /** Whether the task was a standby that was ready: from then on each of its commits writes. */
  private boolean wasReady;

  /** What is known of the changelog when the rows are written. */
  private Map<TopicPartition, Long> offsets = Map.of();

  /**
   * Makes a restoration without records.
   *
   * @param directory of the store
   */
  Restoration(TaskStore store, SharedDatabase shared, Table table, Path directory) {
    this.store = store;
    this.runs = new RestoredRuns(directory);
    this.shared = shared;
    this.table = table;
    this.options =
        (shared.isDurable() ? TransactionOptions.durable() : TransactionOptions.lazy())
            .withName(transactionName(table.name()));
  }

  /** What shows the transaction to people; the engine refuses longer names than this. */
  private static String transactionName(String table) {
    String whole = "kafka-streams restore " + table;
    return whole.substring(0, Math.min(whole.length(), MOST_OF_NAME));
  }

  /**
   * Gathers records. If all that are gathered need too much memory, they become a run, or are
   * written.
   *
   * @param changes in the order of the changelog, not empty, with keys that fit
   */
  void gather(Collection<ConsumerRecord<byte[], byte[]>> changes) {
    ConsumerRecord<byte[], byte[]> last = null;
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      rows.add(change.key(), change.value());
      last = change;
    }
    hasDeletions |= rows.hasDeletions();
    if (last != null) {
      offsets = Map.of(new TopicPartition(last.topic(), last.partition()), last.offset());
    }
    long before = counted;
    counted = rows.bytes();
    if (shared.gathers(before, counted) && !addRun()) {
      write();
    }
  }

  /**
   * Makes a run of the rows in memory. They are still there if none is possible, or if the file
   * cannot be written: the disk may be full, but the table may have room for them.
   */
  private boolean addRun() {
    long most = rows.length();
    if (!runs.hasRoomFor(rows.largest())
        || !isEmptyTable()
        || !shared.takesFile(most, store.isActive())) {
      return false;
    }
    long before = runs.bytes();
    try {
      runs.add(rows.sorted());
    } catch (IOException failure) {
      TaskStore.LOG.log(
          System.Logger.Level.WARNING,
          unusable(failure) + "; the table takes the records",
          failure);
      return false;
    } finally {
      shared.givesFile(before + most - runs.bytes());
    }
    forgetRows();
    return true;
  }

  private String unusable(IOException failure) {
    return "store "
        + store.name()
        + ": the file "
        + runs
        + " for records that are restored cannot be used: "
        + failure
        + "; check the disk, its free space and the permissions of the state directory";
  }

  /**
   * Whether a commit is deferred: one of those that Kafka Streams makes from time to time during a
   * restoration. Behind any other one readers expect the rows, and behind each commit of a standby
   * task from the first one on that finds it ready. Few rows are deferred as well: in an empty
   * table they would be in the way of all that follow, which could not be appended.
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
    return store.isPeriodicCommit() && (store.isActive() || waits(committed.keySet()));
  }

  /** Whether the rows of a standby task wait: it was never ready, and gives its memory away. */
  private boolean waits(Set<TopicPartition> changelogs) {
    wasReady |= !store.isFarBehind(changelogs);
    return !wasReady && (rows.isEmpty() || !store.isPaused(changelogs) || addRun());
  }

  /** Whether nothing is gathered. */
  boolean isEmpty() {
    return rows.isEmpty() && runs.isEmpty();
  }

  /** Writes what was gathered. After a failure it is still there. */
  void write() {
    if (isEmpty()) {
      return;
    }
    SortedMap<byte[], byte[]> own = store.describing(offsets);
    try {
      if (runs.isEmpty()) {
        write(own, rows.sorted());
      } else {
        try (FileChannel file = runs.open()) {
          List<SortedChanges> all = runs.read(file);
          all.add(rows.sorted());
          write(own, SortedChanges.merged(all));
        }
      }
    } catch (IOException failure) {
      throw new ProcessorStateException(unusable(failure), failure);
    }
    store.restored(offsets);
    forget();
  }

  private void write(SortedMap<byte[], byte[]> own, SortedChanges changes) throws IOException {
    // In an empty table nothing has to be deleted, and whole pages are appended.
    if (hasDeletions ? isEmptyTable() : !store.isCleared()) {
      load(own, changes);
    } else {
      put(own, changes);
    }
  }

  /** Whether the table has no rows, and not because they are to be written over. */
  private boolean isEmptyTable() {
    return !store.isCleared() && hasNoRows();
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
    shared.givesFile(runs.bytes());
    runs.clear();
    hasDeletions = false;
    offsets = Map.of();
  }

  private void forgetRows() {
    rows.clear();
    shared.forgets(counted);
    counted = 0;
  }
}
