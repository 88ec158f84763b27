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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskMigratedException;
import org.apache.kafka.streams.processor.TaskId;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
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
  /** What a transaction of a producer knows of the topics that are changelogs. */
  @FunctionalInterface
  interface LastOffsets {
    /**
     * The offset of the last record of a partition; null if there is none.
     *
     * @param isInput whether the task reads the partition, which is its own changelog; else it
     *     writes to it
     */
    @Nullable Long of(TopicPartition partition, boolean isInput);
  }

  private static final String STREAMS_THREADS = "org.apache.kafka.streams.processor.internals";

  /** Tasks with an open transaction, by the thread that was the last to write in it. */
  private static final ConcurrentMap<Thread, Set<TaskTransaction>> WRITING =
      new ConcurrentHashMap<>();

  /**
   * Tasks that are refused, with the thread that processes each. What the thread has sent for them
   * must not be committed, since their rows are rolled back and Kafka processes their input again.
   */
  private static final ConcurrentMap<TaskTransaction, Thread> REFUSED = new ConcurrentHashMap<>();

  private final SharedDatabase shared;
  private final String name;
  private final TaskId id;
  private final TransactionOptions options;
  private final Set<TaskStore> members = new LinkedHashSet<>();
  private final Set<TaskStore> pending = new LinkedHashSet<>();
  private final Set<TaskStore> staged = new LinkedHashSet<>();

  private volatile @Nullable Thread owner;
  private @Nullable Transaction open;

  /** What is inserted while an iterator reads the open transaction; null if there was none. */
  private @Nullable Insertions insertions;

  /** How many open iterators have them. */
  private int readers;

  /** How many transactions have ended: a cursor of an earlier one is over. */
  private long ended;

  /**
   * Stores whose rows were rolled back by another one: none of their offsets fits until they are
   * opened again.
   */
  private final Set<TaskStore> undone = new LinkedHashSet<>();

  /** Whether writes were rolled back, so that what comes after them must not be committed. */
  private boolean abandoned;

  /** Why each statement is refused until the task is opened again. */
  private @Nullable Throwable failure;

  TaskTransaction(SharedDatabase shared, String name, TaskId id) {
    this.shared = shared;
    this.name = name;
    this.id = id;
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
  synchronized void leave(TaskStore store) {
    store.forgetRestored();
    try {
      boolean isLast = members.size() == 1 && members.contains(store);
      if (pending.contains(store) || staged.contains(store)) {
        abandoned = true;
        rollBack();
      } else if (isLast) {
        rollBack(); // of what was begun, and not written
      }
    } finally { // also if the roll-back fails: a task that is opened again has a new transaction
      members.remove(store);
      undone.remove(store);
      if (members.isEmpty()) {
        REFUSED.remove(this);
      }
    }
  }

  /** For tests: whether a thread has tasks that are written or refused. */
  static boolean isKeptBy(Thread thread) {
    return WRITING.containsKey(thread) || REFUSED.containsValue(thread);
  }

  /** Whether no store of the task is open. */
  synchronized boolean isEmpty() {
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

  /** For an iterator that reads the open transaction from now on. Hold the lock. */
  Insertions insertions() {
    Insertions now = insertions;
    if (now == null) {
      now = new Insertions();
      insertions = now;
      readers = 0;
    }
    readers++;
    return now;
  }

  /** An iterator that has these is closed. */
  synchronized void readsNoMore(Insertions read) {
    if (read.equals(insertions) && --readers == 0) {
      insertions = null;
    }
  }

  /** Null if no iterator has read the open transaction. Hold the lock. */
  @Nullable Insertions insertionsIfRead() {
    return insertions;
  }

  /** Writes rows of a store. */
  synchronized void write(TaskStore store, Consumer<Transaction> statement) {
    long before = store.changes();
    if (open == null) {
      owner = Thread.currentThread(); // also if it cannot be begun: its producer must not commit
    }
    try {
      writeRestored(store); // else it would come behind this write
      demandNotUndone(store);
      Transaction tx = begun();
      pending.add(store);
      statement.accept(tx);
    } catch (RevenantException | Error failed) {
      // A topology may go on behind an exception, so a part of a statement must not stay.
      if (store.changes() != before || endsTransaction(failed)) {
        giveUp(failed);
      }
      throw failed;
    }
  }

  private void demandNotUndone(TaskStore store) {
    if (undone.contains(store)) {
      throw new ProcessorStateException(
          "task "
              + name
              + ": rows of store "
              + store.name()
              + " were rolled back with another store that was declared corrupted; the changelog"
              + " brings them back when the task is opened again");
    }
  }

  /** Whether the transaction can only be rolled back after this failure of a write. */
  private static boolean endsTransaction(Throwable failed) {
    return failed instanceof StorageException || failed instanceof Error || isOver(failed);
  }

  private static boolean isOver(Throwable failed) {
    return failed instanceof DatabaseStoppedException || failed instanceof DatabaseClosedException;
  }

  /** A read of the task has failed: if the database is over, the task must be opened again. */
  synchronized void readHasFailed(RevenantException failed) {
    boolean isItsOwn = Thread.currentThread().equals(owner); // and not inside by mistake
    if (isItsOwn && isOver(failed) && !members.isEmpty()) {
      giveUp(failed);
    }
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
  void commit(TaskStore store, Map<TopicPartition, @Nullable Long> offsets) {
    if (commitLazily(store, offsets)) {
      shared.syncIfDurable(); // without the lock, which readers of a global store wait for
    }
  }

  /** Returns whether the transaction is committed. */
  private synchronized boolean commitLazily(
      TaskStore store, Map<TopicPartition, @Nullable Long> offsets) {
    if (abandoned || undone.contains(store) || store.defers(offsets)) {
      return false;
    }
    demandCurrent();
    store.writeRestored();
    if (!pending.contains(store) && !store.changes(offsets)) {
      return false;
    }
    stage(store, begun(), offsets);
    if (pending.isEmpty()) {
      commitStaged();
      return true;
    }
    return false;
  }

  /** Kafka Streams has declared the state of a store corrupted: its offsets are removed. */
  void clear(TaskStore store) {
    if (clearLazily(store)) {
      shared.syncIfDurable(); // without the lock, which readers of a global store wait for
    }
  }

  private synchronized boolean clearLazily(TaskStore store) {
    store.forgetRestored();
    undone.addAll(pending);
    undone.addAll(staged);
    undone.remove(store);
    rollBack();
    if (abandoned) {
      return false;
    }
    store.clear(begunAnyway());
    staged.add(store);
    commitStaged();
    return true;
  }

  /**
   * The producer of the current thread has committed: so do the tasks that this thread has
   * processed.
   *
   * @param offsets of the transaction of the producer
   */
  static void producerHasCommitted(LastOffsets offsets) {
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
        shared.syncIfDurable();
      } catch (RuntimeException failed) {
        all.stream().filter(task -> task.shared == shared).forEach(task -> task.failed(failed));
      }
      shared.lookNowAndThen();
    }
  }

  /**
   * The producer of the current thread has aborted: what the tasks of this thread have written is
   * rolled back. Kafka Streams closes a task whose records are aborted, but not each task whose
   * records are: one that goes on is refused, and Kafka opens it again.
   */
  static void producerHasAborted() {
    Set<TaskTransaction> tasks = WRITING.get(Thread.currentThread());
    if (tasks != null) {
      List.copyOf(tasks).forEach(TaskTransaction::abortWithProducer);
    }
  }

  private synchronized void abortWithProducer() {
    if (open != null) {
      giveUp(new ProcessorStateException("the producer has aborted what the task has written"));
    }
  }

  private synchronized void failed(Throwable why) {
    if (why instanceof RevenantException) {
      shared.doubt();
    }
    if (failure == null) {
      failure = why;
      boolean isOurs = why instanceof RevenantException || why instanceof Error; // else of Kafka
      TaskStore.LOG.log(
          isOurs ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
          "task " + name + " has to be opened again, because its writes are rolled back",
          why);
    }
    Thread last = owner;
    if (last != null && !members.isEmpty()) { // else nothing would take it out
      REFUSED.put(this, last);
    }
  }

  /** Rolls back, and refuses all statements from now on. Hold the lock. */
  private void giveUp(Throwable why) {
    failed(why);
    try {
      rollBack();
    } catch (RuntimeException second) {
      why.addSuppressed(second);
    }
  }

  private synchronized void commitWithProducer(LastOffsets offsets) {
    if (open == null || abandoned || failure != null) {
      return;
    }
    try {
      for (TaskStore store : List.copyOf(pending)) {
        stage(store, open, store.offsets(offsets));
      }
      commitStaged();
    } catch (RuntimeException failed) {
      // The producer's commit has succeeded, so its caller must not hear of this; the next
      // statement of the task does.
      giveUp(failed);
    }
  }

  private void stage(TaskStore store, Transaction tx, Map<TopicPartition, @Nullable Long> offsets) {
    store.stage(tx, offsets);
    pending.remove(store);
    staged.add(store);
  }

  private void commitStaged() {
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
      try {
        pending.forEach(TaskStore::rolledBack);
        staged.forEach(TaskStore::rolledBack);
      } finally {
        pending.clear();
        staged.clear();
        tx.close();
      }
    }
  }

  /**
   * Refuses a statement of a task whose writes were rolled back: what it would read is not what it
   * has written, or older than what the broker has. Hold the lock.
   */
  void demandCurrent() {
    RuntimeException refusal = refusal();
    if (refusal != null) {
      throw refusal;
    }
  }

  /**
   * The exception for a task that is refused; null if it is not. It makes Kafka close the tasks of
   * the thread without a commit, and open them again with what the broker has committed. No handler
   * of a topology can pass over it.
   */
  synchronized @Nullable RuntimeException refusal() {
    Throwable why = failure;
    if (why == null) {
      return null;
    }
    String told =
        "task "
            + name
            + ": its writes to "
            + shared.database()
            + " were rolled back; the changelog brings back what is missing when it is opened"
            + " again";
    boolean isOpenedAgain =
        id.partition() >= 0 // no global store
            && !Thread.currentThread().getClass().getName().equals(TaskStore.STATE_UPDATER);
    return !isOpenedAgain
        ? new ProcessorStateException(told, why)
        : new TaskMigratedException(told, why);
  }

  /**
   * Refuses a commit of the producer of the current thread while one of its tasks is refused: the
   * transaction may have records of that task. Kafka takes the exception as that of a producer
   * whose tasks have moved to another one.
   */
  static void demandCommittable() {
    Thread current = Thread.currentThread();
    REFUSED.forEach((task, thread) -> {
      if (thread.equals(current)) {
        throw new ProducerFencedException(
            "the transaction may have records of task "
                + task.name
                + ", whose writes were rolled back; it is aborted, and the tasks of this thread are"
                + " opened again");
      }
    });
  }

  private Transaction begun() {
    demandCurrent();
    return begunAnyway();
  }

  /** The same for what depends on no statement before it. */
  private Transaction begunAnyway() {
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
    insertions = null;
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
