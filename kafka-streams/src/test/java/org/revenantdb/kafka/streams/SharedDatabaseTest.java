package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KafkaStreams.State;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.internals.metrics.ClientMetrics;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;

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

  @Test
  void stores_share_what_their_files_may_have() {
    SharedDatabase shared = acquire();
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES - 10));
    assertFalse(shared.takesFile(11));
    assertTrue(shared.takesFile(10));
    shared.givesFile(10);
    assertTrue(shared.takesFile(10));
    shared.release();
  }
}
