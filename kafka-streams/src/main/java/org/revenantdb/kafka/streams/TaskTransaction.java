package org.revenantdb.kafka.streams;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * The transaction that the open stores of a task share between two commits. It begins with the
 * first write of one of them. It is committed when each store that has written has also written the
 * offset that its rows correspond to.
 *
 * <p>Threads: the task is processed by one thread at a time; other threads that are inside by
 * mistake wait. Readers from outside do not come here.
 */
final class TaskTransaction {
  /*
   * States of a store in the open transaction
   *   absent    has not written
   *   pending   has written rows since its last offset
   *   staged    its last write is its offset
   *
   * The transaction is committed when none is pending. So on disk rows and offset of a store always agree, and all
   * stores of a task are at the same commit. (README.md, "When the transaction is committed")
   */
  private static final String STREAMS_THREADS = "org.apache.kafka.streams.processor.internals";

  /** Tasks with an open transaction, by the thread that was the last to write in it. */
  private static final ConcurrentMap<Thread, Set<TaskTransaction>> WRITING =
      new ConcurrentHashMap<>();

  private final SharedDatabase shared;
  private final String name;
  private final TransactionOptions options;
  private final Set<TaskStore> members = new LinkedHashSet<>();
  private final Set<TaskStore> pending = new LinkedHashSet<>();
  private final Set<TaskStore> staged = new LinkedHashSet<>();

  private volatile @Nullable Thread owner;
  private @Nullable Transaction open;

  /** How many transactions have ended: a cursor of an earlier one is over. */
  private long ended;

  /**
   * Stores whose rows were rolled back by another one: none of their offsets fits until they are
   * opened again.
   */
  private final Set<TaskStore> undone = new LinkedHashSet<>();

  /** Whether writes were rolled back, so that what comes after them must not be committed. */
  private boolean abandoned;

  private @Nullable RuntimeException failure;

  TaskTransaction(SharedDatabase shared, String name) {
    this.shared = shared;
    this.name = name;
    this.options = TransactionOptions.lazy().withName("kafka-streams task " + name);
  }

  String name() {
    return name;
  }

  SharedDatabase shared() {
    return shared;
  }

  synchronized void join(TaskStore store) {
    members.add(store);
    owner = Thread.currentThread();
  }

  /** A store is closed. What is not committed by then belongs to a task that failed. */
  synchronized boolean leave(TaskStore store) {
    store.forgetRestored();
    if (pending.contains(store) || staged.contains(store)) {
      rollBack();
      abandoned = true;
    }
    members.remove(store);
    undone.remove(store);
    return members.isEmpty();
  }

  /**
   * Whether the current thread processes tasks, and so sees what is not committed. All others see
   * what is.
   */
  boolean isInside() {
    Thread current = Thread.currentThread();
    return current.equals(owner) || STREAMS_THREADS.equals(current.getClass().getPackageName());
  }

  /** The open transaction; null if nothing was written since the last commit. Hold the lock. */
  @Nullable Transaction open() {
    return open;
  }

  long ended() {
    return ended;
  }

  /** Writes rows of a store. */
  synchronized void write(TaskStore store, Consumer<Transaction> statement) {
    writeRestored(store); // else it would come behind this write
    Transaction tx = begun();
    if (undone.contains(store)) {
      throw new ProcessorStateException(
          "task "
              + name
              + ": rows of store "
              + store.name()
              + " were rolled back with another store that was declared corrupted; the changelog"
              + " brings them back when the task is opened again");
    }
    pending.add(store);
    statement.accept(tx);
  }

  /**
   * Records of the changelog of a store. It may gather them, and write them later in a transaction
   * of its own (README.md, "Restoration").
   */
  synchronized void restore(TaskStore store, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    demandCurrent();
    boolean hasWritten =
        pending.contains(store) || staged.contains(store) || undone.contains(store);
    if (!hasWritten && !abandoned && store.gather(changes)) {
      return;
    }
    if (open == null && !hasWritten && !abandoned && isGathering()) {
      restoreAlone(store, changes);
    } else {
      write(store, tx -> store.restore(tx, changes));
    }
  }

  private boolean isGathering() {
    return members.stream().anyMatch(TaskStore::hasGathered);
  }

  /**
   * Writes restored rows and their offset in a transaction of their own. That of the task would
   * have to begin behind what the other stores have gathered, so they would be written for it.
   */
  private void restoreAlone(TaskStore store, Collection<ConsumerRecord<byte[], byte[]>> changes) {
    Map<TopicPartition, @Nullable Long> offsets = new HashMap<>();
    changes.forEach(change ->
        offsets.put(new TopicPartition(change.topic(), change.partition()), change.offset()));
    try (Transaction own = shared.database().begin(options)) {
      store.restore(own, changes);
      store.stage(own, offsets);
      own.commit();
    } catch (Throwable failed) {
      store.rolledBack();
      throw failed;
    }
    store.committed();
  }

  /** Writes what a store has gathered, unless it is closed. */
  synchronized void writeRestored(TaskStore store) {
    if (members.contains(store) && !abandoned) {
      store.writeRestored();
    }
  }

  /**
   * Kafka Streams commits a store: its rows correspond to these offsets.
   *
   * @param offsets by changelog partition; empty for a store without a changelog
   */
  synchronized void commit(TaskStore store, Map<TopicPartition, @Nullable Long> offsets) {
    if (abandoned || undone.contains(store) || store.defers(offsets)) {
      return;
    }
    store.writeRestored();
    if (!pending.contains(store) && !store.changes(offsets)) {
      return;
    }
    stage(store, begun(), offsets);
    if (pending.isEmpty()) {
      commitStaged();
    }
  }

  /** Kafka Streams has declared the state of a store corrupted: its offsets are removed. */
  synchronized void clear(TaskStore store) {
    store.forgetRestored();
    undone.addAll(pending);
    undone.addAll(staged);
    undone.remove(store);
    rollBack();
    if (!abandoned) {
      store.clear(begun());
      staged.add(store);
      commitStaged();
    }
  }

  /**
   * The producer of the current thread has committed: so do the tasks that this thread has
   * processed.
   *
   * @param offsets gives the offset of the last record of a changelog partition, or null
   */
  static void producerHasCommitted(Function<TopicPartition, @Nullable Long> offsets) {
    Set<TaskTransaction> tasks = WRITING.get(Thread.currentThread());
    if (tasks == null) {
      return;
    }
    Set<SharedDatabase> databases = new LinkedHashSet<>();
    List<TaskTransaction> all = List.copyOf(tasks); // a commit takes its task out of the set
    for (TaskTransaction task : all) {
      task.commitWithProducer(offsets);
      databases.add(task.shared);
    }
    for (SharedDatabase shared : databases) { // once for all tasks
      try {
        if (shared.isDurable()) {
          shared.database().sync();
        }
      } catch (RuntimeException failed) {
        all.stream().filter(task -> task.shared == shared).forEach(task -> task.failed(failed));
      }
      shared.lookNowAndThen();
    }
  }

  private synchronized void failed(RuntimeException why) {
    failure = why;
    shared.doubt();
  }

  private synchronized void commitWithProducer(Function<TopicPartition, @Nullable Long> offsets) {
    if (open == null || abandoned) {
      return;
    }
    try {
      for (TaskStore store : List.copyOf(pending)) {
        stage(store, open, store.offsets(offsets));
      }
      commitStagedLazily();
    } catch (RuntimeException failed) {
      // The producer's commit has succeeded, so its caller must not hear of this; the next
      // statement of the task does.
      failed(failed);
      try {
        rollBack();
      } catch (RuntimeException second) {
        failed.addSuppressed(second);
      }
    }
  }

  private void stage(TaskStore store, Transaction tx, Map<TopicPartition, @Nullable Long> offsets) {
    store.stage(tx, offsets);
    pending.remove(store);
    staged.add(store);
  }

  private void commitStaged() {
    commitStagedLazily();
    if (shared.isDurable()) {
      shared.database().sync();
    }
  }

  private void commitStagedLazily() {
    Transaction tx = open;
    if (tx != null) {
      tx.commit();
      end();
      staged.forEach(TaskStore::committed);
      staged.clear();
    }
  }

  private void rollBack() {
    Transaction tx = open;
    if (tx != null) {
      end();
      pending.forEach(TaskStore::rolledBack);
      staged.forEach(TaskStore::rolledBack);
      pending.clear();
      staged.clear();
      tx.close();
    }
  }

  /**
   * Refuses a statement of the task behind a commit of the producer that could not be followed:
   * what it would read is older than what the broker has. Hold the lock.
   */
  void demandCurrent() {
    if (failure != null) {
      throw new ProcessorStateException(
          "task "
              + name
              + " could not commit to "
              + shared.database()
              + " after the producer had committed; the changelog brings back what is missing"
              + " when the task is opened again",
          failure);
    }
  }

  private Transaction begun() {
    demandCurrent();
    Thread current = Thread.currentThread();
    Transaction tx = open;
    if (tx == null) {
      members.forEach(this::writeRestored); // its snapshot must have these rows
      tx = shared.database().begin(options);
      open = tx;
    } else if (!current.equals(owner)) {
      stopsWriting();
    }
    if (!current.equals(owner) || !isWriting(current)) {
      owner = current;
      WRITING.computeIfAbsent(current, thread -> ConcurrentHashMap.newKeySet()).add(this);
    }
    return tx;
  }

  private boolean isWriting(Thread thread) {
    Set<TaskTransaction> tasks = WRITING.get(thread);
    return tasks != null && tasks.contains(this);
  }

  private void end() {
    open = null;
    ended++;
    stopsWriting();
  }

  private void stopsWriting() {
    Thread last = owner;
    if (last != null) {
      WRITING.computeIfPresent(
          last,
          (thread, tasks) -> {
            tasks.remove(this);
            return tasks.isEmpty() ? null : tasks;
          });
    }
  }

  @Override
  public String toString() {
    return "TaskTransaction[" + name + "]";
  }
}
