package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KafkaStreams.State;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.TaskMigratedException;
import org.apache.kafka.streams.internals.metrics.ClientMetrics;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.StateDirectory;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/** From when to when the database of an instance is open (README.md of the package). */
class SharedDatabaseTest {
  @TempDir Path home;

  /** An instance without threads, whose state the test chooses. */
  private static final class Instance {
    final Metrics registry = new Metrics();
    final StreamsMetricsImpl metrics = new StreamsMetricsImpl(registry, "client", Time.SYSTEM);
    volatile State state = State.CREATED;

    Instance() {
      ClientMetrics.addStateMetric(metrics, (config, now) -> state.name());
    }

    void end() {
      metrics.removeAllClientLevelSensorsAndMetrics();
      registry.close();
    }
  }

  private SharedDatabase acquire() {
    return SharedDatabase.acquire(home, Map.of(RevenantConfig.POOL_BYTES, 4L << 20));
  }

  private SharedDatabase acquire(Instance instance) {
    SharedDatabase shared = acquire();
    shared.keepFor(RunningInstance.of(instance.metrics));
    return shared;
  }

  private static void assertOpen(SharedDatabase shared, boolean isOpen) {
    assertEquals(isOpen, !shared.database().isClosed());
  }

  @Test
  void it_stays_open_between_two_stores_of_an_instance_that_runs() {
    Instance instance = new Instance();
    SharedDatabase shared = acquire(instance);
    for (State state : new State[] {State.CREATED, State.REBALANCING, State.RUNNING}) {
      instance.state = state;
      shared.release();
      assertOpen(shared, true);
      assertSame(shared, acquire(instance));
    }
    shared.release();
    instance.end();
    assertOpen(shared, false);
    SharedDatabase next = acquire();
    assertNotSame(shared, next);
    next.release();
    assertOpen(next, false);
  }

  @Test
  void the_last_store_closes_it_if_the_instance_has_begun_to_end() {
    for (State state :
        new State[] {State.PENDING_SHUTDOWN, State.PENDING_ERROR, State.NOT_RUNNING, State.ERROR}) {
      Instance instance = new Instance();
      SharedDatabase shared = acquire(instance);
      assertSame(shared, acquire(instance));
      instance.state = state;
      shared.release();
      assertOpen(shared, true);
      shared.release();
      assertOpen(shared, false);
      instance.end();
    }
  }

  @Test
  void a_store_that_outlives_the_instance_closes_it() {
    Instance instance = new Instance();
    SharedDatabase shared = acquire(instance);
    instance.end();
    assertOpen(shared, true);
    shared.release();
    assertOpen(shared, false);
  }

  @Test
  void an_instance_that_has_ended_does_not_keep_it() {
    Instance ended = new Instance();
    ended.end();
    SharedDatabase shared = acquire(ended);
    shared.release();
    assertOpen(shared, false);
  }

  /** Between the two looks at its state the instance ends: nothing will run the action. */
  @Test
  void an_instance_that_ends_meanwhile_does_not_keep_it() {
    Instance instance = new Instance();
    SharedDatabase shared = acquire();
    RunningInstance ending = RunningInstance.of(instance.metrics);
    boolean[] looked = new boolean[1];
    instance.metrics.removeAllClientLevelSensorsAndMetrics();
    ClientMetrics.addStateMetric(
        instance.metrics,
        (config, now) -> {
          State seen = looked[0] ? State.PENDING_SHUTDOWN : State.RUNNING;
          looked[0] = true;
          return seen.name();
        });
    shared.keepFor(ending);
    shared.release();
    assertOpen(shared, false);
    instance.end();
  }

  /** The test driver has a registry without a state, which is never closed. */
  @Test
  void without_an_instance_the_last_store_closes_it() {
    Metrics registry = new Metrics();
    SharedDatabase shared = acquire();
    shared.keepFor(RunningInstance.of(new StreamsMetricsImpl(registry, "driver", Time.SYSTEM)));
    shared.release();
    assertOpen(shared, false);
    registry.close();
  }

  @Test
  void two_instances_keep_it_until_the_second_one_ends() {
    Instance first = new Instance();
    Instance second = new Instance();
    SharedDatabase shared = acquire(first);
    assertSame(shared, acquire(second));
    shared.release();
    shared.release();
    first.end();
    assertOpen(shared, true);
    second.end();
    assertOpen(shared, false);
  }

  @Test
  void after_a_failed_statement_the_last_store_closes_it() {
    Instance instance = new Instance();
    TaskContext context = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE);
    SharedDatabase shared = acquire(instance);
    RevenantStore store = new RevenantStore("store");
    store.init(context, store);
    for (String table : shared.database().tableNames()) {
      shared.database().dropTable(table);
    }
    Bytes key = Bytes.wrap(new byte[] {1});
    assertThrows(RuntimeException.class, () -> store.put(key, key.get()));
    store.close();
    assertOpen(shared, true);
    shared.release();
    assertOpen(shared, false);
    SharedDatabase anew = acquire(instance);
    assertNotSame(shared, anew);
    anew.release();
    assertOpen(anew, true);
    instance.end();
    assertOpen(anew, false);
  }

  /** Else no thread that replaces a failed one would ever have its stores again. */
  @Test
  void a_database_that_has_stopped_is_opened_anew_while_another_task_has_a_store() {
    TaskContext context = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE);
    RevenantStore idle = new RevenantStore("idle");
    TaskContext other = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE).ofTask("0_1");
    idle.init(other, idle);
    RevenantStore store = new RevenantStore("store");
    store.init(context, store);
    Bytes key = Bytes.wrap(new byte[] {1});
    store.opened().shared().database().close(); // as one whose log has stopped
    assertThrows(RuntimeException.class, () -> store.put(key, key.get()));
    store.close();
    store.init(context, store);
    store.put(key, key.get());
    assertThrows(TaskMigratedException.class, () -> idle.get(key)); // Kafka opens its task again
    idle.close();
    assertArrayEquals(key.get(), store.get(key));
    idle.init(other, idle);
    idle.put(key, key.get());
    idle.close();
    store.close();
  }

  /** A whole instance, without a broker: the look at its tasks does not need one. */
  @Test
  void a_real_instance_keeps_it_from_its_look_at_the_tasks_to_its_end() throws Exception {
    Path application = Files.createDirectories(home.resolve("app"));
    for (int task = 0; task < 3; task++) {
      Files.createDirectories(application.resolve("0_" + task).resolve("counts"));
    }
    KafkaStreams streams = counts();
    Database opened;
    try {
      streams.start();
      SharedDatabase shared =
          SharedDatabase.acquire(
              application,
              () -> {
                throw new AssertionError("it was closed between the look and here");
              });
      opened = shared.database();
      assertEquals(3, opened.tableNames().size());
      shared.release();
      assertFalse(opened.isClosed());
    } finally {
      streams.close();
    }
    assertTrue(opened.isClosed());
    streams.cleanUp();
    try (Database left = Database.open(application.resolve(SharedDatabase.DIRECTORY))) {
      assertEquals(3, left.tableNames().size());
    }
    SharedDatabase.acquire(application, Map.of(RevenantConfig.POOL_BYTES, 4L << 20)).release();
    try (Database left = Database.open(application.resolve(SharedDatabase.DIRECTORY))) {
      assertEquals(0, left.tableNames().size(), "their directories are gone");
    }
  }

  private static final TaskId MOVED = new TaskId(0, 1);

  /** The directories of tasks, as Kafka keeps them and cleans them up. */
  private StateDirectory directories(Time time) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.toString());
    return new StateDirectory(
        new StreamsConfig(properties), time, /* hasPersistentStores= */ true, false);
  }

  private static RevenantStore opened(TaskContext context, StateDirectory of, TaskId task) {
    RevenantStore store = new RevenantStore("store");
    store.open(context, of.getOrCreateDirectoryForTask(task).toPath());
    return store;
  }

  /** A task comes, writes, and leaves in order; then Kafka's cleaner deletes its directory. */
  private static void comesAndGoes(TaskContext context, StateDirectory directories, TaskId task) {
    Path directory = directories.getOrCreateDirectoryForTask(task).toPath();
    RevenantStore store = opened(context, directories, task);
    SegmentedStore windows = new SegmentedStore("windows", TimedKeys.WINDOW, "plain", 1_000, 500);
    windows.open(context, directory);
    Bytes key = Bytes.wrap(new byte[] {1});
    store.put(key, new byte[100]);
    for (long time = 0; time < 1_500; time += 500) {
      windows.put(Bytes.wrap(TimedKeys.window(key, time, 0)), new byte[100]);
    }
    store.commit(Map.of(new TopicPartition("store", task.partition()), 1L));
    windows.commit(Map.of(new TopicPartition("windows", task.partition()), 1L));
    windows.close();
    store.close();
  }

  /** A clock that the test moves; it begins with a look that has just been made. */
  private static AtomicLong clockOf(RevenantStore store) {
    SharedDatabase shared = store.opened().shared();
    AtomicLong now = new AtomicLong(System.nanoTime());
    shared.clock = now::get;
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    shared.lookNowAndThen();
    return now;
  }

  private static List<String> tables(RevenantStore store) {
    return store.opened().shared().database().tableNames();
  }

  @Test
  void tables_of_tasks_that_moved_away_are_dropped_when_another_store_comes() {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    MockTime time = new MockTime(0, System.currentTimeMillis(), 0);
    StateDirectory directories = directories(time);
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    AtomicLong now = clockOf(stays);
    for (int task = 1; task <= 3; task++) {
      comesAndGoes(context, directories, new TaskId(0, task));
    }
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    opened(context, directories, new TaskId(1, 0)).close();
    assertEquals(2 + 3 * 5, tables(stays).size(), "all of them may come back");
    time.sleep(1_000_000_000L);
    directories.cleanRemovedTasks(1_000);
    assertFalse(Files.exists(home.resolve("app/0_1")));
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    RevenantStore comes = opened(context, directories, new TaskId(1, 1));
    assertEquals(List.of("0_0/store", "1_1/store"), tables(stays));
    stays.put(Bytes.wrap(new byte[] {1}), new byte[1]);
    assertArrayEquals(new byte[1], stays.get(Bytes.wrap(new byte[] {1})));
    comes.close();
    stays.close();
  }

  /** Also in an instance to which no task comes for months. */
  @Test
  void tables_of_tasks_that_moved_away_are_dropped_after_a_commit() {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.AT_LEAST_ONCE);
    MockTime time = new MockTime(0, System.currentTimeMillis(), 0);
    StateDirectory directories = directories(time);
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    comesAndGoes(context, directories, MOVED);
    time.sleep(1_000_000_000L);
    directories.cleanRemovedTasks(1_000);
    AtomicLong now = clockOf(stays);
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    commit(stays, 1);
    assertEquals(List.of("0_0/store"), tables(stays));
    comesAndGoes(context, directories, MOVED);
    time.sleep(1_000_000_000L);
    directories.cleanRemovedTasks(1_000);
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS - 1);
    commit(stays, 2);
    assertEquals(6, tables(stays).size(), "a look at the directories takes time");
    now.incrementAndGet();
    commit(stays, 3);
    assertEquals(List.of("0_0/store"), tables(stays));
    stays.close();
  }

  /** At a start all stores are opened, and each look would ask for the markers of all of them. */
  @Test
  void a_store_that_is_opened_looks_only_if_the_last_look_is_long_ago() {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    MockTime time = new MockTime(0, System.currentTimeMillis(), 0);
    StateDirectory directories = directories(time);
    Instance instance = new Instance();
    SharedDatabase shared =
        SharedDatabase.acquire(home.resolve("app"), Map.of(RevenantConfig.POOL_BYTES, 4L << 20));
    shared.keepFor(RunningInstance.of(instance.metrics));
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    AtomicLong now = clockOf(stays);
    comesAndGoes(context, directories, MOVED);
    time.sleep(1_000_000_000L);
    directories.cleanRemovedTasks(1_000);
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS - 1);
    RevenantStore comes = opened(context, directories, new TaskId(0, 2));
    assertEquals(7, tables(stays).size(), "beside open stores");
    comes.close();
    stays.close();
    shared.release();
    stays = opened(context, directories, new TaskId(0, 0));
    assertEquals(7, tables(stays).size(), "in a database that an instance has kept");
    now.incrementAndGet();
    opened(context, directories, new TaskId(0, 2)).close();
    assertEquals(List.of("0_0/store", "0_2/store"), tables(stays));
    stays.close();
    instance.end();
  }

  private static void commit(RevenantStore store, long offset) {
    store.put(Bytes.wrap(new byte[] {1}), new byte[] {(byte) offset});
    store.commit(Map.of(new TopicPartition("store", 0), offset));
  }

  /** Kafka deletes no directory of a task that it has; a person may. */
  @Test
  void the_table_of_an_open_store_stays_without_its_marker() throws Exception {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    StateDirectory directories = directories(Time.SYSTEM);
    RevenantStore store = opened(context, directories, new TaskId(0, 0));
    AtomicLong now = clockOf(store);
    commit(store, 1);
    Files.delete(SharedDatabase.marker(home.resolve("app/0_0"), "store"));
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    RevenantStore other = opened(context, directories, MOVED);
    commit(store, 2);
    assertArrayEquals(new byte[] {2}, store.get(Bytes.wrap(new byte[] {1})));
    store.close();
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    RevenantStore comes = opened(context, directories, new TaskId(0, 2));
    assertEquals(List.of("0_1/store", "0_2/store"), tables(other));
    comes.close();
    other.close();
  }

  @Test
  void the_table_of_a_store_whose_close_has_failed_is_dropped_as_well() throws Exception {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    StateDirectory directories = directories(Time.SYSTEM);
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    AtomicLong now = clockOf(stays);
    Transaction[] ends = new Transaction[1];
    RevenantStore fails =
        new RevenantStore("store") {
          @Override
          void rolledBack() {
            ends[0].close();
            throw new IllegalStateException("a failure");
          }
        };
    fails.open(context, directories.getOrCreateDirectoryForTask(MOVED).toPath());
    fails.put(Bytes.wrap(new byte[] {1}), new byte[1]);
    ends[0] = fails.opened().task().open();
    assertThrows(IllegalStateException.class, fails::close);
    Files.delete(SharedDatabase.marker(home.resolve("app/0_1"), "store"));
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    commit(stays, 1);
    assertEquals(List.of("0_0/store"), tables(stays));
    stays.close();
  }

  /** Callers try again only after this exception. */
  @Test
  void a_reader_of_a_store_that_is_closed_meanwhile_is_told_so() {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    MockTime time = new MockTime(0, System.currentTimeMillis(), 0);
    StateDirectory directories = directories(time);
    Instance instance = new Instance();
    SharedDatabase shared =
        SharedDatabase.acquire(home.resolve("app"), Map.of(RevenantConfig.POOL_BYTES, 4L << 20));
    shared.keepFor(RunningInstance.of(instance.metrics));
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    AtomicLong now = clockOf(stays);
    for (boolean finds : new boolean[] {true, false}) {
      RevenantStore goes = opened(context, directories, MOVED);
      commit(goes, 1);
      Table table = goes.table();
      assertThrows(
          InvalidStateStoreException.class,
          () ->
              goes.read(
                  /* inside= */ false,
                  tx -> {
                    goes.close();
                    time.sleep(1_000_000_000L);
                    directories.cleanRemovedTasks(1_000);
                    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
                    shared.lookNowAndThen();
                    assertEquals(List.of("0_0/store"), tables(stays));
                    return finds ? tx.get(table, new byte[] {1}) : null;
                  }));
    }
    stays.close();
    shared.release();
    assertOpen(shared, true);
    instance.end();
  }

  @Test
  void the_table_of_a_task_that_has_its_directory_waits_for_it() {
    TaskContext context = new TaskContext(home.resolve("app"), StreamsConfig.EXACTLY_ONCE_V2);
    StateDirectory directories = directories(Time.SYSTEM);
    RevenantStore stays = opened(context, directories, new TaskId(0, 0));
    RevenantStore goes = opened(context, directories, MOVED);
    AtomicLong now = clockOf(stays);
    commit(goes, 7);
    goes.close();
    now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
    opened(context, directories, new TaskId(0, 2)).close();
    RevenantStore back = opened(context, directories, MOVED);
    assertEquals(7, back.committedOffset(new TopicPartition("store", 0)));
    assertArrayEquals(new byte[] {7}, back.get(Bytes.wrap(new byte[] {1})));
    back.close();
    stays.close();
  }

  /** The name is a part of the table's name, and of the path of the marker. */
  @Test
  void a_name_that_is_none_of_a_topic_is_refused_for_a_store() {
    for (String name :
        List.of("", ".", "..", "a#1", "a/b", "a\\b", "a b", "\u00e4", "a\n", "a".repeat(250))) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> new RevenantStore(name), name);
      assertTrue(refused.getMessage().contains('"' + name + '"'), refused.getMessage());
      assertThrows(IllegalArgumentException.class, () -> RevenantStores.keyValueStore(name), name);
    }
  }

  @Test
  void a_store_with_the_longest_name_is_restored_and_has_segments() {
    String name = "a".repeat(249);
    TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore store = new RevenantStore(name);
    store.init(context, store);
    byte[] key = {1};
    context.restore.restoreBatch(
        List.of(new ConsumerRecord<>("changelog", 0, 7, key, new byte[] {2})));
    store.commit(Map.of(new TopicPartition("changelog", 0), 7L));
    assertArrayEquals(new byte[] {2}, store.get(Bytes.wrap(key)));
    store.close();
    String other = "b".repeat(249);
    SegmentedStore windows = new SegmentedStore(other, TimedKeys.WINDOW, "plain", 1_000, 500);
    windows.open(context, context.directory());
    Bytes late = Bytes.wrap(TimedKeys.window(Bytes.wrap(key), 1L << 40, 0));
    windows.put(late, key);
    windows.commit(Map.of(new TopicPartition("windows", 0), 1L));
    windows.close();
    windows.open(context, context.directory());
    assertArrayEquals(key, windows.get(late, /* inside= */ true));
    windows.close();
  }

  /** Stores could have such names once. */
  @Test
  void a_table_with_another_name_than_those_of_segments_is_none() {
    Path directory = home.resolve("app");
    Path database = directory.resolve(SharedDatabase.DIRECTORY);
    try (Database old = Database.open(database)) {
      old.createTable("0_0/store#x");
      old.createTable("0_0/store#1#2");
      old.createTable("0_0/store#1#x");
    }
    TaskContext context = new TaskContext(directory, StreamsConfig.EXACTLY_ONCE_V2);
    SharedDatabase shared = SharedDatabase.acquire(directory, () -> Database.open(database));
    assertEquals(List.of(), shared.database().tableNames(), "they have no marker");
    shared.database().createTable("0_0/store#x");
    RevenantStore store = new RevenantStore("store");
    store.open(context, context.directory());
    commit(store, 1);
    assertEquals(List.of("0_0/store", "0_0/store#x"), tables(store));
    store.close();
    shared.release();
  }

  /** Nobody may know then whether the last commit has created a segment. */
  @Test
  void after_a_failed_statement_segments_are_listed_and_not_remembered() {
    SharedDatabase shared = acquire();
    shared.database().createTable(SharedDatabase.segment("0_0/store", 5));
    assertEquals(Map.of(), shared.segments("0_0/store"));
    shared.doubt();
    assertEquals(List.of(5L), List.copyOf(shared.segments("0_0/store").keySet()));
    shared.release();
  }

  /** The disk may have room for what the store writes, but not for the drop, or only later. */
  @Test
  void a_store_is_opened_even_if_old_tables_cannot_be_dropped() {
    Path database = home.resolve(SharedDatabase.DIRECTORY);
    try (Database old = Database.open(database)) {
      old.createTable("0_1/store");
    }
    Instance instance = new Instance();
    SharedDatabase shared = SharedDatabase.acquire(home, () -> readOnly(database));
    shared.keepFor(RunningInstance.of(instance.metrics));
    assertEquals(List.of("0_1/store"), shared.database().tableNames(), "a read-only database");
    shared.release();
    assertOpen(shared, false); // it is in doubt
    SharedDatabase next = acquire(instance);
    assertEquals(List.of(), next.database().tableNames());
    next.release();
    assertOpen(next, true);
    instance.end();
  }

  private static Database readOnly(Path database) {
    return Database.open(database, DatabaseOptions.defaults().withReadOnly(true));
  }

  private KafkaStreams counts() {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.toString());
    properties.put(
        StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
    properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream("words", Consumed.with(Serdes.String(), Serdes.String()))
        .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
        .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts"));
    return new KafkaStreams(builder.build(properties), properties);
  }

  /** Restored rows in memory: the pool is 4 MiB, so a quarter of it is 1 MiB. */
  private static final long KIB = 1 << 10;

  @Test
  void one_store_that_restores_much_has_all_of_the_memory_beside_many_that_restore_little() {
    SharedDatabase shared = acquire();
    for (int little = 0; little < 9; little++) {
      assertFalse(shared.gathers(0, 33 * KIB));
    }
    assertFalse(shared.gathers(0, 700 * KIB));
    assertTrue(shared.gathers(700 * KIB, 800 * KIB));
    shared.release();
  }

  @Test
  void a_store_beside_one_that_keeps_all_of_the_memory_gives_its_rows_away_in_large_parts() {
    SharedDatabase shared = acquire();
    assertFalse(shared.gathers(0, 1_000 * KIB)); // it is complete, and waits for its task
    long before = 0;
    long now = 20 * KIB;
    while (!shared.gathers(before, now)) {
      before = now;
      now += 20 * KIB;
    }
    assertEquals(260 * KIB, now);
    shared.forgets(now);
    assertFalse(shared.gathers(0, 20 * KIB));
    shared.release();
  }

  @Test
  void stores_that_keep_their_share_take_at_most_half_of_the_pool_together() {
    SharedDatabase shared =
        SharedDatabase.acquire(home, Map.of(RevenantConfig.POOL_BYTES, 64L << 20));
    long quarter = 16_384 * KIB;
    assertFalse(shared.gathers(0, quarter));
    long all = quarter;
    for (int stores = 2; all <= 2 * quarter; stores++) {
      long less = quarter / (2 * stores) - 1;
      all += less;
      assertEquals(all > 2 * quarter, shared.gathers(0, less));
    }
    assertFalse(shared.gathers(0, 255 * KIB));
    assertTrue(shared.gathers(255 * KIB, 256 * KIB));
    shared.release();
  }

  /** The pool is off heap, so a large pool says nothing about the heap. */
  @Test
  void the_heap_bounds_what_stores_gather_beside_a_large_pool() {
    long mib = 1 << 20;
    assertEquals(mib, SharedDatabase.mostGathered(4 * mib, 256 * mib));
    assertEquals(16 * mib, SharedDatabase.mostGathered(1_024 * mib, 128 * mib));
    assertEquals(64 * mib, SharedDatabase.mostGathered(16_384 * mib, 16_384 * mib));
    SharedDatabase shared =
        SharedDatabase.acquire(home, Map.of(RevenantConfig.POOL_BYTES, 1_024 * mib));
    long heap = Runtime.getRuntime().maxMemory();
    assertFalse(shared.gathers(0, Math.min(heap / 8, 64 * mib)));
    assertTrue(shared.gathers(Math.min(heap / 8, 64 * mib), Math.min(heap / 8, 64 * mib) + 1));
    shared.release();
  }

  @Test
  void stores_share_what_their_files_may_have() {
    SharedDatabase shared = acquire();
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES - 10, true));
    assertFalse(shared.takesFile(11, true));
    assertTrue(shared.takesFile(10, true));
    shared.givesFile(10);
    assertTrue(shared.takesFile(10, true));
    shared.givesFile(SharedDatabase.MOST_IN_FILES);
    assertFalse(shared.takesFile(SharedDatabase.MOST_IN_FILES / 2 + 1, false));
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES / 2, false));
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES / 2, true));
    shared.release();
  }
}
