package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorStateManager;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.internals.Task;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.internals.PositionSerde;
import org.apache.kafka.streams.state.internals.StoreQueryUtils;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * What all stores have in common: their life, their tables, and the offsets that are committed with
 * their rows. The writes belong to the transaction of the task.
 *
 * <p>Threads: writes come from the thread that processes the task. Any thread may read: that thread
 * sees the writes of the task, others see what is committed.
 */
abstract class TaskStore implements StateStore {
  static final System.Logger LOG = System.getLogger("org.revenantdb.kafka");

  /** What Kafka Streams calls an offset that is not known: nothing is restored yet. */
  static final long OFFSET_UNKNOWN = -4;

  /**
   * Where Kafka Streams commits a task between two batches. If it did so elsewhere, no commit would
   * be deferred.
   */
  static final String STATE_UPDATER =
      "org.apache.kafka.streams.processor.internals.DefaultStateUpdater$StateUpdaterThread";

  static final String PERIODIC_COMMITS = "maybeCheckpointTasks";

  private static final StackWalker STACK = StackWalker.getInstance();

  /** What is wrong with the files if their contents are not those that were written. */
  private static final Set<StorageException.Reason> DAMAGES =
      EnumSet.of(
          StorageException.Reason.DAMAGED,
          StorageException.Reason.MISSING_FILE,
          StorageException.Reason.NOT_A_DATABASE);

  /** Client ids of instances whose log has the warning of rare commits. */
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  /**
   * How far behind a standby task may be to be ready, if the property does not say more. A busy
   * changelog always has a few records that were not read yet.
   */
  private static final long READY_LAG = 10_000;

  private final String name;
  private final Set<RowIterator> iterators = ConcurrentHashMap.newKeySet();

  private @Nullable Opened opened;
  private volatile boolean open;

  /** What there is while the store is open. */
  record Opened(
      SharedDatabase shared,
      TaskTransaction task,
      Table table,
      StateStoreContext context,
      Path directory) {}

  private StoreMetrics metrics = StoreMetrics.NONE;

  private long changes;

  /** The changelog of the store; null if it has none, or if that is not known yet. */
  private @Nullable TopicPartition changelog;

  /** The topic that is only a changelog, and that Kafka makes; the changelog may be the input. */
  private String changelogOfItsOwn = "";

  /** Whether Kafka Streams says that it has none. */
  private boolean isWithoutChangelog;

  private boolean exactlyOnce;
  private boolean isGlobal;
  private boolean consistencyEnabled;

  /** Up to where the input is in the rows, and up to where in those that are committed. */
  private Position position = Position.emptyPosition();

  private volatile Position committedPosition = Position.emptyPosition();

  /** As in the database, and as they are after the commit of the open transaction. */
  private volatile Map<TopicPartition, Long> offsets = Map.of();

  private Map<TopicPartition, Long> nextOffsets = Map.of();
  private boolean cleared;
  private boolean nextCleared;

  /** What is restored; null before the first record. Guarded by the lock of the task. */
  private @Nullable Restoration restoration;

  TaskStore(String name) {
    checkName(name);
    this.name = name;
  }

  /**
   * Refuses a name that Kafka refuses for a topic. The DSL does the same, but a processor may have
   * any store. The name is a part of the table's name and of the path of the marker, so with
   * others, such as {@code #}, the rows of the store could be taken for those of another one.
   */
  static void checkName(String name) {
    Objects.requireNonNull(name, "name");
    try {
      Topic.validate(name);
    } catch (InvalidTopicException refused) {
      throw new IllegalArgumentException(
          "a store cannot have the name \""
              + name
              + "\"; choose a name that Kafka allows for a topic: up to 249 ASCII letters, digits,"
              + " '.', '_' and '-', and not \".\" or \"..\"",
          refused);
    }
  }

  // --- life

  @Override
  public void init(StateStoreContext context, StateStore root) {
    open(context, context.stateDir().toPath());
    try {
      context.register(root, (RecordBatchingStateRestoreCallback) this::restore, () -> {});
    } catch (Throwable failed) {
      close(); // Kafka does not close a store that it has not registered
      throw failed;
    }
  }

  /** Opens it; crash tests give the directory of the task by a path of their own. */
  void open(StateStoreContext context, Path taskDirectory) {
    Path home = Objects.requireNonNullElse(taskDirectory.getParent(), taskDirectory);
    String task = Objects.requireNonNull(taskDirectory.getFileName()).toString();
    exactlyOnce =
        StreamsConfig.EXACTLY_ONCE_V2.equals(
            context.appConfigs().get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG));
    isGlobal = context.taskId().partition() < 0;
    consistencyEnabled =
        StreamsConfig.InternalConfig.getBoolean(
            context.appConfigs(),
            StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED,
            false);
    changelog = changelogOf(context);
    changelogOfItsOwn = changelogOfItsOwn(context);
    isWithoutChangelog =
        !isGlobal && changelog == null && context instanceof InternalProcessorContext<?, ?>;
    warnOfRareCommits(context);
    SharedDatabase shared = null;
    Table table = null;
    restoration = null; // of an earlier life of this object: its table may be gone
    Path directory = SharedDatabase.directory(taskDirectory, name);
    RestoredRuns.deleteLeft(directory);
    try {
      shared = SharedDatabase.acquire(home, context);
      table = shared.table(task, taskDirectory, name, format());
      load(shared, table);
      openTables(shared, task, table);
      metrics = StoreMetrics.of(context, scope(), name, gauges(shared));
      opened =
          new Opened(shared, shared.join(task, context.taskId(), this), table, context, directory);
      open = true;
    } catch (RevenantException failure) {
      if (shared != null) {
        shared.doubt();
      }
      throw told("it cannot be opened" + cureOfDamage(home, failure), failure);
    } finally {
      if (!open && shared != null) {
        if (table != null) {
          shared.isNotOpened(table.name());
        }
        shared.release();
      }
    }
  }

  /** What a user of Kafka can do about a file that is damaged, which is not to restore a copy. */
  private static String cureOfDamage(Path home, RevenantException failure) {
    boolean isDamage =
        failure instanceof StorageException storage && DAMAGES.contains(storage.reason());
    return isDamage
        ? " (stop the instance and delete "
            + home.resolve(SharedDatabase.DIRECTORY)
            + ": all stores of the instance are then restored from their changelogs)"
        : "";
  }

  /** The kind of the store in the names of its metrics. */
  abstract String scope();

  /** Numbers of now that are metrics of the store. */
  Map<String, Supplier<Long>> gauges(SharedDatabase shared) {
    Map<String, Supplier<Long>> gauges = new HashMap<>();
    long pool = shared.database().options().poolBytes();
    gauges.put("block-cache-capacity", () -> pool);
    return gauges;
  }

  /** What the rows are. Rows of another format are dropped, and the changelog is read instead. */
  abstract String format();

  /** Reads what the store has beside its table; it is not open yet. */
  void openTables(SharedDatabase shared, String task, Table table) {}

  /** Numbers of its segments, as they are committed. */
  Set<Long> segmentNumbers() {
    return Set.of();
  }

  private @Nullable TopicPartition changelogOf(StateStoreContext context) {
    if (!isGlobal && context instanceof InternalProcessorContext<?, ?> internal) {
      String topic = internal.changelogFor(name);
      return topic == null ? null : new TopicPartition(topic, context.taskId().partition());
    }
    return null;
  }

  @SuppressWarnings("deprecation") // of the prefix, which Kafka still puts before these topics
  private String changelogOfItsOwn(StateStoreContext context) {
    Object prefix = context.appConfigs().get(StreamsConfig.InternalConfig.TOPIC_PREFIX_ALTERNATIVE);
    return ProcessorStateManager.storeChangelogTopic(
        prefix == null ? context.applicationId() : prefix.toString(),
        name,
        context.taskId().topologyName());
  }

  private void warnOfRareCommits(StateStoreContext context) {
    if (!exactlyOnce
        || isGlobal
        || !(context instanceof InternalProcessorContext<?, ?> internal)
        || !RunningInstance.of(internal.metrics()).isRunning()) { // the test driver has its own
      return;
    }
    String instance = internal.metrics().clientLevelTagMap().get(StreamsMetricsImpl.CLIENT_ID_TAG);
    if (instance != null && !CommittingProducer.isInUseBy(instance) && WARNED.add(instance)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "exactly-once without RevenantClientSupplier in "
              + instance
              + ": stores commit only when their task is closed, so a killed process reads more of"
              + " the changelog; set "
              + StreamsConfig.DEFAULT_CLIENT_SUPPLIER_CONFIG
              + " to "
              + RevenantClientSupplier.class.getName());
    }
  }

  private void load(SharedDatabase shared, Table table) {
    Map<TopicPartition, Long> loaded = new HashMap<>();
    try (Transaction tx = shared.read();
        Cursor rows = tx.scan(table, StoreKeys.OFFSETS_FROM, StoreKeys.OFFSETS_TO)) {
      while (rows.next()) {
        loaded.put(StoreKeys.partition(rows.key()), ByteBuffer.wrap(rows.value()).getLong());
      }
      byte[] at = tx.get(table, StoreKeys.POSITION);
      position =
          at == null ? Position.emptyPosition() : PositionSerde.deserialize(ByteBuffer.wrap(at));
      cleared = tx.exists(table, StoreKeys.CLEARED);
    }
    committedPosition = position.copy();
    offsets = Map.copyOf(loaded);
    nextOffsets = offsets;
    nextCleared = cleared;
  }

  @Override
  public void close() {
    Opened was = opened;
    if (!open || was == null) {
      return;
    }
    open = false;
    try {
      try {
        List.copyOf(iterators).forEach(RowIterator::close);
      } finally {
        was.shared.leave(was.task, this);
      }
    } catch (RevenantException failure) {
      throw told("it cannot be closed", failure);
    } finally {
      was.shared.isClosed(was.table.name(), segmentNumbers()); // else no look would ever drop it
      was.shared.release();
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean persistent() {
    return true;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  /** Of the open store; who is inside when it is closed finds the database closed at most. */
  final Opened opened() {
    Opened now = opened;
    if (!open || now == null) {
      throw new InvalidStateStoreException("store " + name + " is not open");
    }
    return now;
  }

  final boolean isInside() {
    return opened().task.isInside();
  }

  Table table() {
    return opened().table;
  }

  Transaction read() {
    return opened().shared.read();
  }

  /**
   * Whether iterators of the task are as those of Kafka's windows: they show rows that the task
   * inserts meanwhile, and a closed one has no more rows. Those of keys and values do not show
   * inserted rows, and a closed one throws.
   */
  boolean iteratesAsWindows() {
    return false;
  }

  void iteratorCloses(RowIterator iterator, SharedDatabase shared) {
    if (iterators.remove(iterator)) {
      shared.iteratorCloses();
    }
  }

  /**
   * Refuses what was read of a life of the store that is over: its table may have been dropped, so
   * the rows may have been found or not. The database is healthy.
   */
  private void demandSame(Opened life) {
    if (!isIn(life)) {
      throw new InvalidStateStoreException("store " + name + " was closed while it was read");
    }
  }

  private boolean isIn(Opened life) {
    return open && life.equals(opened);
  }

  /** The exception of Kafka Streams for one of the engine. */
  RuntimeException told(String what, RevenantException failure) {
    Opened now = opened;
    if (now != null) {
      now.shared.doubt();
    }
    String message = "store " + name + ": " + what + ": " + failure.getMessage();
    if (now != null && failure instanceof DatabaseClosedException && now.task.isInside()) {
      RuntimeException refusal = now.task.refusal();
      if (refusal != null) { // opened anew by another task
        return refusal;
      }
    }
    return failure instanceof DatabaseClosedException
        ? new InvalidStateStoreException(message, failure)
        : new ProcessorStateException(message, failure);
  }

  // --- reads

  private RuntimeException notRead(Opened life, boolean inside, RevenantException failure) {
    demandSame(life);
    if (inside) {
      life.task.readHasFailed(failure);
    }
    return told("it cannot be read", failure);
  }

  final <T extends @Nullable Object> T read(boolean inside, Function<Transaction, T> statement) {
    Opened now = opened();
    try {
      if (inside) {
        synchronized (now.task) {
          now.task.demandCurrent();
          now.task.writeRestored(this);
          Transaction tx = now.task.open();
          if (tx != null) {
            return statement.apply(tx);
          }
        }
      }
      T read;
      try (Transaction tx = now.shared.read()) {
        read = statement.apply(tx);
      }
      demandSame(now);
      return read;
    } catch (RevenantException failure) {
      throw notRead(now, inside, failure);
    }
  }

  /**
   * Answers a query from what is committed. If the store is closed, the answer is a failure and not
   * an exception: a query goes to all partitions, and the others have answers.
   */
  <R> QueryResult<R> query(
      Query<R> query, PositionBound positionBound, QueryConfig config, StateStore committed) {
    Opened last = opened;
    return StoreQueryUtils.handleBasicQueries(
        query,
        positionBound,
        config,
        committed,
        committedPosition, // first: the rows are at least as new
        last == null ? null : last.context);
  }

  /** Answers a query that Kafka's own code cannot answer from a store of others. */
  <R> QueryResult<R> ask(
      Query<R> query, PositionBound positionBound, QueryConfig config, Supplier<R> answer) {
    long start = System.nanoTime();
    Position at = committedPosition; // first: the rows are at least as new
    Opened last = opened;
    Integer partition = last == null ? null : last.context.taskId().partition();
    QueryResult<R> result;
    if (partition != null && StoreQueryUtils.isPermitted(at, positionBound, partition)) {
      try {
        result = QueryResult.forResult(answer.get());
      } catch (RuntimeException failure) {
        result =
            QueryResult.forFailure(
                FailureReason.STORE_EXCEPTION,
                "store " + name + " cannot answer " + query + ": " + failure.getMessage());
      }
    } else {
      result = QueryResult.notUpToBound(at, positionBound, partition);
    }
    if (config.isCollectExecutionInfo()) {
      result.addExecutionInfo(
          "Handled in " + getClass() + " in " + (System.nanoTime() - start) + "ns");
    }
    result.setPosition(at.copy());
    return result;
  }

  RowIterator iterator(
      List<Table> tables,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean descending,
      boolean inside,
      Predicate<byte[]> accepted) {
    Opened now = opened();
    try {
      if (inside) {
        now.task.writeRestored(this);
      }
      RowIterator rows =
          new RowIterator(this, now.task, tables, from, to, descending, inside, accepted);
      now.shared.iteratorOpens();
      iterators.add(rows);
      if (!isIn(now)) { // the close may have come before it was added
        rows.close();
      }
      demandSame(now);
      return rows;
    } catch (RevenantException failure) {
      throw notRead(now, inside, failure);
    }
  }

  @Override
  public Position getPosition() {
    Opened now = opened;
    return now != null && now.task.isInside() ? position : committedPosition;
  }

  // --- writes

  final void write(Consumer<Transaction> statement) {
    Opened now = opened();
    try {
      now.task.write(this, statement);
    } catch (RevenantException failure) {
      throw told("it cannot be written", failure);
    }
    now.context
        .recordMetadata()
        .ifPresent(input -> {
          if (input.topic() != null) {
            position.withComponent(input.topic(), input.partition(), input.offset());
          }
        });
  }

  final void put(Transaction tx, Table table, byte[] row, byte @Nullable [] value) {
    Insertions insertions = iteratesAsWindows() ? null : opened().task.insertionsIfRead();
    boolean wasThere = insertions != null && tx.exists(table, row);
    if (value == null) {
      tx.delete(table, row);
      metrics.written(row.length);
    } else {
      tx.put(table, row, value);
      metrics.written(row.length + value.length);
    }
    if (insertions != null) {
      insertions.writes(table, row, wasThere, /* isThere= */ value != null);
    }
    changes++;
  }

  /** How many rows were written, whether committed or not. */
  final long changes() {
    return changes;
  }

  /** A value that is given to the caller. */
  final byte @Nullable [] counted(byte @Nullable [] value) {
    metrics.read(value);
    return value;
  }

  final byte[] row(Bytes key) {
    demandFits(key.get());
    return StoreKeys.row(key.get());
  }

  private void demandFits(byte[] key) {
    if (StoreKeys.rowLength(key) > Database.MAX_KEY_BYTES) {
      throw new ProcessorStateException(
          "store "
              + name
              + ": a key has "
              + key.length
              + " bytes, and at most "
              + (Database.MAX_KEY_BYTES - 1)
              + " are possible; use shorter keys, or the default store here");
    }
  }

  /** Records of the changelog. */
  final void restore(Collection<ConsumerRecord<byte[], byte[]>> changes) {
    Opened now = opened();
    try {
      if (consistencyEnabled) { // before the rows: whoever writes them writes the position as well
        for (ConsumerRecord<byte[], byte[]> change : changes) {
          ChangelogRecordDeserializationHelper.applyChecksAndUpdatePosition(
              change, consistencyEnabled, position);
        }
      }
      now.task.restore(this, changes);
    } catch (RevenantException failure) {
      throw told("it cannot be restored", failure);
    }
  }

  /** Whether restored rows are gathered; if so they are put as they are, and never read. */
  boolean gathers() {
    return false;
  }

  /** Gathers these changes, if the store does that. Hold the lock of the task. */
  final boolean gather(Collection<ConsumerRecord<byte[], byte[]>> changes) {
    if (isGlobal || !gathers() || changes.isEmpty()) {
      return false;
    }
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      demandFits(change.key());
    }
    Restoration now = restoration;
    if (now == null) {
      Opened of = opened();
      now = new Restoration(this, of.shared, of.table, of.directory);
      restoration = now;
    }
    now.gather(changes);
    return true;
  }

  /** Whether the current commit is one of those between the batches of a restoration. */
  boolean isPeriodicCommit() {
    return STACK.walk(frames ->
        frames.anyMatch(frame ->
            frame.getMethodName().equals(PERIODIC_COMMITS)
                && frame.getClassName().equals(STATE_UPDATER)));
  }

  /** Whether a task that is not active is too far behind to be ready. Ask in its thread. */
  boolean isFarBehind(Set<TopicPartition> changelogs) {
    Object ready = opened().context.appConfigs().get(StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG);
    long lag =
        ready == null ? READY_LAG : Math.max(READY_LAG, Long.parseLong(ready.toString().trim()));
    return changelogs.stream().anyMatch(changelog -> RestoreLag.of(changelog).orElse(0) > lag);
  }

  /** Whether a standby task waits for an active one to be restored. Ask in its thread. */
  boolean isPaused(Set<TopicPartition> changelogs) {
    return changelogs.stream().anyMatch(RestoreLag::isPaused);
  }

  /** Whether the task of the store is active, and not a standby. */
  boolean isActive() {
    return !(opened().context instanceof InternalProcessorContext<?, ?> internal)
        || internal.taskType() == Task.TaskType.ACTIVE;
  }

  /** Whether a commit waits until more is gathered. Hold the lock of the task. */
  final boolean defers(Map<TopicPartition, @Nullable Long> changelogOffsets) {
    return restoration != null && restoration.defers(changelogOffsets);
  }

  /** Whether restored rows are not in the table yet. Hold the lock of the task. */
  final boolean hasGathered() {
    return restoration != null && !restoration.isEmpty();
  }

  /** Writes what was gathered. Hold the lock of the task. */
  final void writeRestored() {
    if (restoration != null) {
      restoration.write();
    }
  }

  /** Forgets what was gathered. Hold the lock of the task. */
  final void forgetRestored() {
    if (restoration != null) {
      restoration.forget();
    }
  }

  /** The rows that describe the store with these offsets. */
  final SortedMap<byte[], byte[]> describing(Map<TopicPartition, Long> offsets) {
    SortedMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
    offsets.forEach((partition, offset) -> rows.put(StoreKeys.offset(partition), bytes(offset)));
    if (!position.isEmpty() && !position.equals(committedPosition)) {
      rows.put(StoreKeys.POSITION, bytes(PositionSerde.serialize(position)));
    }
    return rows;
  }

  final boolean isCleared() {
    return nextCleared;
  }

  /** Restored rows are committed, with these offsets. */
  final void restored(Map<TopicPartition, Long> changes) {
    Map<TopicPartition, Long> all = new HashMap<>(nextOffsets);
    all.putAll(changes);
    nextOffsets = Map.copyOf(all);
    nextCleared = false;
    committed();
  }

  final void counts(long written) {
    metrics.written(written);
  }

  /** Writes these changes; of each key only the last one counts. */
  abstract void restore(Transaction tx, Collection<ConsumerRecord<byte[], byte[]>> changes);

  /** Rows by key in the order of the table, which makes neighbours of them. */
  static Map<byte[], byte @Nullable []> sorted() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  // --- commits

  @Override
  @SuppressWarnings("deprecation") // Kafka asks until it takes it for granted
  public boolean managesOffsets() {
    return true;
  }

  @Override
  public @Nullable Long committedOffset(TopicPartition partition) {
    Long offset = offsets.get(partition);
    // A new store is empty, which is known, and no reason to take it for corrupted.
    return offset != null || !exactlyOnce || isGlobal || cleared
        ? offset
        : Long.valueOf(OFFSET_UNKNOWN);
  }

  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    Opened now = opened;
    if (!open || now == null) {
      return;
    }
    try {
      if (changelogOffsets.isEmpty() && isWithoutChangelog) { // perhaps it had one
        Map<TopicPartition, @Nullable Long> none = new HashMap<>();
        nextOffsets.keySet().forEach(partition -> none.put(partition, null));
        now.task.commit(this, none);
      } else if (changelogOffsets.isEmpty() && (changelog != null || !nextOffsets.isEmpty())) {
        now.task.clear(this);
      } else {
        if (changelog == null && !isGlobal && changelogOffsets.size() == 1) {
          changelog = changelogOffsets.keySet().iterator().next();
        }
        now.task.commit(this, new HashMap<TopicPartition, @Nullable Long>(changelogOffsets));
      }
      now.shared.lookNowAndThen();
    } catch (RevenantException failure) {
      throw told("it cannot be committed", failure);
    }
  }

  /** Whether these offsets are others than those that are stored. */
  boolean changes(Map<TopicPartition, @Nullable Long> changes) {
    for (Map.Entry<TopicPartition, @Nullable Long> change : changes.entrySet()) {
      if (!Objects.equals(change.getValue(), nextOffsets.get(change.getKey()))) {
        return true;
      }
    }
    return false;
  }

  /** The offsets of this store after a commit of the producer. */
  Map<TopicPartition, @Nullable Long> offsets(TaskTransaction.LastOffsets ofProducer) {
    TopicPartition partition = changelog;
    Long offset =
        partition == null
            ? null
            : ofProducer.of(partition, !partition.topic().equals(changelogOfItsOwn));
    return partition == null || offset == null ? Map.of() : Map.of(partition, offset);
  }

  /** Writes offsets and position beside the rows. */
  void stage(Transaction tx, Map<TopicPartition, @Nullable Long> changes) {
    Table table = opened().table;
    if (changes(changes)) {
      Map<TopicPartition, Long> changed = new HashMap<>(nextOffsets);
      for (Map.Entry<TopicPartition, @Nullable Long> change : changes.entrySet()) {
        byte[] row = StoreKeys.offset(change.getKey());
        Long offset = change.getValue();
        if (offset == null) {
          tx.delete(table, row);
          changed.remove(change.getKey());
        } else {
          tx.put(table, row, bytes(offset));
          changed.put(change.getKey(), offset);
        }
      }
      nextOffsets = Map.copyOf(changed);
      if (nextCleared) {
        tx.delete(table, StoreKeys.CLEARED);
        nextCleared = false;
      }
    }
    if (!position.isEmpty() && !position.equals(committedPosition)) {
      tx.put(table, StoreKeys.POSITION, bytes(PositionSerde.serialize(position)));
    }
  }

  private static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  /**
   * Removes all offsets, and the changelog is read from its beginning. The rows stay until the
   * store is opened again, which drops them.
   */
  void clear(Transaction tx) {
    Table table = opened().table;
    for (TopicPartition partition : nextOffsets.keySet()) {
      tx.delete(table, StoreKeys.offset(partition));
    }
    tx.put(table, StoreKeys.CLEARED, new byte[0]);
    position = committedPosition.copy(); // that of gathered records is forgotten with them
    nextOffsets = Map.of();
    nextCleared = true;
  }

  /** The transaction of the task is committed. */
  void committed() {
    offsets = nextOffsets;
    cleared = nextCleared;
    committedPosition = position.copy();
    metrics.committed();
  }

  /** The transaction of the task is rolled back. */
  void rolledBack() {
    metrics.rolledBack();
    nextOffsets = offsets;
    nextCleared = cleared;
    position = committedPosition.copy();
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + "[" + name + (open ? "]" : ", closed]");
  }
}
