package org.revenantdb.kafka.streams;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.errors.TaskMigratedException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * A failure in the engine, and an aborted transaction, do not end the process: Kafka replaces the
 * thread, or opens tasks again. The application goes on, counts each record exactly once, and its
 * stores are what their changelogs hold.
 */
@Tag("slow")
class RefusedTaskTest {
  private static final String ID = "replaced";
  private static final String STORE = "counts";
  private static final String CHANGELOG = ID + "-" + STORE + "-changelog";
  private static final int PARTITIONS = 2;
  private static final int RECORDS = 10;

  /** The inputs of two tasks. */
  private static final TopicPartition FIRST = new TopicPartition("in", 0);

  private static final TopicPartition SECOND = new TopicPartition("in", 1);

  /** Each task has a thread. */
  private static final Map<String, Object> COUNTING =
      Map.of(
          StreamsConfig.NUM_STREAM_THREADS_CONFIG,
          PARTITIONS,
          StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
          50,
          // The shortest time that a broker allows: a thread that has failed does not leave.
          StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG),
          6_000,
          StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG),
          1_000);

  /** The longest time that a broker allows. */
  private static final int LONG_MILLIS = 900_000;

  /** Both tasks have one thread. It commits when a record asks for it. */
  private static final Map<String, Object> STEPPING =
      Map.of(
          StreamsConfig.NUM_STREAM_THREADS_CONFIG,
          1,
          StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
          LONG_MILLIS,
          StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG),
          LONG_MILLIS,
          StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG,
          LogAndContinueProcessingExceptionHandler.class.getName());

  /** A thread that cannot be replaced fails again and again. */
  private static final int MOST_FAILURES = 4;

  /** What is done with a record. A failure and an abort come when it is met first. */
  private enum Step {
    COUNT,

    /** It is counted, and all is committed. */
    COMMIT,

    /** A statement fails in the engine. */
    FAIL,

    /** The producer aborts, and the record is counted. */
    ABORT,

    /** The producer aborts, and all is committed. */
    ABORT_AND_COMMIT
  }

  @TempDir Path home;

  private final WatchedClients clients = new WatchedClients();
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

  /** What the processor has thrown. */
  private final List<Class<?>> thrown = Collections.synchronizedList(new ArrayList<>());

  /** Changelogs whose restoration begins. */
  private final List<TopicPartition> restored = Collections.synchronizedList(new ArrayList<>());

  /** The next offset of each input. */
  private final Map<TopicPartition, Long> ends = new HashMap<>();

  /** How often each key is to be counted. */
  private final Map<String, Long> counts = new TreeMap<>();

  @Test
  @Drawn(oneIn = 3)
  void threads_have_their_stores_again_after_the_database_was_closed_under_them() throws Exception {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
        .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()))
        .count(Materialized.as(STORE))
        .toStream()
        .to("out", Produced.with(Serdes.String(), Serdes.Long()));
    try (Broker broker = Brokers.start(home)) {
      broker.createTopics(PARTITIONS, "in", "out");
      try (KafkaStreams streams = streams(broker, builder, COUNTING)) {
        streams.start();
        count(broker, FIRST);
        count(broker, SECOND);
        clients.awaitCommitted(FIRST, ends.get(FIRST));
        clients.awaitCommitted(SECOND, ends.get(SECOND));
        SharedDatabase stopped = database();
        stopped.database().close();
        count(broker, FIRST); // the store of the other task is still one of the stopped database
        clients.awaitCommitted(FIRST, ends.get(FIRST));
        assertNotSame(stopped, database());
        count(broker, SECOND);
        clients.awaitCommitted(SECOND, ends.get(SECOND));
      }
      assertEquals(List.of(), failures, "Kafka opens the tasks again, and ends no thread");
      compare(broker);
    }
  }

  private SharedDatabase database() {
    SharedDatabase shared = SharedDatabase.ifOpen(home.resolve("state").resolve(ID));
    assertNotNull(shared);
    return shared;
  }

  @Test
  @Drawn(oneIn = 3)
  void a_task_whose_statement_failed_is_opened_again_though_the_topology_passes_over_exceptions()
      throws Exception {
    try (Broker broker = Brokers.start(home)) {
      broker.createTopics(PARTITIONS, "in", "out");
      try (KafkaStreams streams = streams(broker, processing(), STEPPING)) {
        streams.start();
        send(broker, SECOND, Step.COUNT);
        clients.awaitProcessed(SECOND, ends.get(SECOND));
        // Refused before a commit: the transaction has the first one, and what the other task did.
        send(broker, FIRST, Step.COUNT, Step.FAIL, Step.COUNT);
        commit(broker);
        assertEquals(List.of(ProcessorStateException.class, TaskMigratedException.class), thrown);
        // No statement follows: the commit of the other task is refused, and aborted.
        send(broker, FIRST, Step.FAIL);
        clients.awaitProcessed(FIRST, ends.get(FIRST));
        send(broker, SECOND, Step.COMMIT);
        clients.awaitCommitted(SECOND, ends.get(SECOND));
        commit(broker);
        assertEquals(
            List.of(
                ProcessorStateException.class,
                TaskMigratedException.class,
                ProcessorStateException.class),
            thrown);
      }
      assertEquals(List.of(), failures);
      TopicPartition changelog = new TopicPartition(CHANGELOG, FIRST.partition());
      assertTrue(Collections.frequency(restored, changelog) >= 3, restored::toString);
      compare(broker);
    }
  }

  @Test
  @Drawn(oneIn = 3)
  void rows_of_a_task_that_survives_an_abort_of_its_thread_are_rolled_back() throws Exception {
    try (Broker broker = Brokers.start(home)) {
      broker.createTopics(PARTITIONS, "in", "out");
      try (KafkaStreams streams = streams(broker, processing(), STEPPING)) {
        streams.start();
        send(broker, SECOND, Step.COUNT);
        clients.awaitProcessed(SECOND, ends.get(SECOND));
        send(broker, FIRST, Step.COUNT, Step.ABORT, Step.COUNT);
        commit(broker);
        assertEquals(List.of(TaskMigratedException.class), thrown);
        // A commit comes before the next statement.
        send(broker, SECOND, Step.COUNT);
        clients.awaitProcessed(SECOND, ends.get(SECOND));
        send(broker, FIRST, Step.COUNT, Step.ABORT_AND_COMMIT);
        commit(broker);
        assertEquals(List.of(TaskMigratedException.class), thrown);
      }
      assertEquals(List.of(), failures);
      compare(broker);
    }
  }

  // --- the application

  private KafkaStreams streams(Broker broker, StreamsBuilder builder, Map<String, Object> more) {
    Properties properties = new Properties();
    properties.putAll(more);
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, ID);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers());
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.resolve("state").toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0); // each count is an output
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(
        StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
    properties.put(RevenantConfig.POOL_BYTES, 8L << 20);
    KafkaStreams streams = new KafkaStreams(builder.build(properties), properties, clients);
    clients.watch(streams);
    streams.setGlobalStateRestoreListener(new Restorations());
    streams.setUncaughtExceptionHandler(failure -> {
      failures.add(failure);
      return failures.size() < MOST_FAILURES
          ? StreamThreadExceptionResponse.REPLACE_THREAD
          : StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    });
    return streams;
  }

  private StreamsBuilder processing() {
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(
        Stores.timestampedKeyValueStoreBuilder(
            RevenantStores.timestampedKeyValueStore(STORE), Serdes.String(), Serdes.Long()));
    Set<String> met = Collections.synchronizedSet(new HashSet<>());
    builder.stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
        .process(() -> new Stepping(met), STORE)
        .to("out", Produced.with(Serdes.String(), Serdes.Long()));
    return builder;
  }

  /** Counts records by key, and does what they say. */
  private final class Stepping implements Processor<String, Long, String, Long> {
    /** Partitions and offsets of records that were met, by all processors. */
    private final Set<String> met;

    private ProcessorContext<String, Long> context;
    private TimestampedKeyValueStore<String, Long> store;

    Stepping(Set<String> met) {
      this.met = met;
    }

    @Override
    public void init(ProcessorContext<String, Long> opened) {
      context = opened;
      store = opened.getStateStore(STORE);
    }

    @Override
    public void process(Record<String, Long> record) {
      RecordMetadata place = context.recordMetadata().orElseThrow();
      boolean isFirst = met.add(place.partition() + " " + place.offset());
      try {
        step(record, Step.values()[record.value().intValue()], isFirst);
      } catch (RuntimeException failed) {
        thrown.add(failed.getClass());
        throw failed;
      } finally {
        clients.processed(place);
      }
    }

    private void step(Record<String, Long> record, Step step, boolean isFirst) {
      switch (isFirst || step == Step.COMMIT ? step : Step.COUNT) {
        case COUNT -> count(record);
        case COMMIT -> {
          count(record);
          context.commit();
        }
        case FAIL -> failHalfWay();
        case ABORT -> {
          clients.abort();
          count(record);
        }
        case ABORT_AND_COMMIT -> {
          clients.abort();
          context.commit();
        }
      }
    }

    private void count(Record<String, Long> record) {
      ValueAndTimestamp<Long> old = store.get(record.key());
      long count = 1 + (old == null ? 0 : old.value());
      store.put(record.key(), ValueAndTimestamp.make(count, record.timestamp()));
      context.forward(record.withValue(count));
    }

    /** A statement that fails in the engine when it has written a row. */
    private void failHalfWay() {
      StateStore inner = store;
      while (inner instanceof WrappedStateStore<?, ?, ?> wrapped) {
        inner = wrapped.wrapped();
      }
      RevenantStore rows = (RevenantStore) inner;
      Database database = rows.opened().shared().database();
      Table dropped = database.createTable("dropped");
      database.dropTable("dropped");
      byte[] row = rows.row(Bytes.wrap("half".getBytes(UTF_8)));
      rows.write(tx -> {
        rows.put(tx, rows.table(), row, new byte[Long.BYTES]);
        rows.put(tx, dropped, row, new byte[Long.BYTES]);
      });
    }
  }

  private final class Restorations implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition changelog, String store, long first, long end) {
      restored.add(changelog);
    }

    @Override
    public void onBatchRestored(TopicPartition changelog, String store, long at, long records) {}

    @Override
    public void onRestoreEnd(TopicPartition changelog, String store, long records) {}
  }

  // --- input and output

  private static String key(TopicPartition input) {
    return "key " + input.partition();
  }

  private void count(Broker broker, TopicPartition input) {
    send(broker, input, Collections.nCopies(RECORDS, Step.COUNT).toArray(Step[]::new));
  }

  private void send(Broker broker, TopicPartition input, Step... steps) {
    try (Sending sending = new Sending(broker)) {
      for (Step step : steps) {
        sending.send(
            new ProducerRecord<>(
                input.topic(), input.partition(), key(input), (long) step.ordinal()));
      }
    }
    ends.merge(input, (long) steps.length, Long::sum);
    counts.merge(key(input), (long) steps.length, Long::sum);
  }

  /** Both tasks count one more, and commit. */
  private void commit(Broker broker) throws InterruptedException {
    for (TopicPartition input : List.of(FIRST, SECOND)) {
      send(broker, input, Step.COMMIT);
    }
    for (TopicPartition input : List.of(FIRST, SECOND)) {
      clients.awaitCommitted(input, ends.get(input));
    }
  }

  /** Each record is counted once, and the stores have what their changelogs have. */
  private void compare(Broker broker) throws Exception {
    KilledLives none = new KilledLives(RefusedTaskTest.class, broker, home, _ -> true);
    Map<String, Long> last = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> count : none.committed("out", PARTITIONS)) {
      String key = KilledLives.text(count);
      assertEquals(
          last.merge(key, 1L, Long::sum),
          KilledLives.number(count),
          () -> "twice, or lost: " + key + " behind " + last);
    }
    assertEquals(counts, last);
    StoredRows rows = new StoredRows(none, none.state().resolve(ID), _ -> StoredRows.Rows.PLAIN);
    Map<TopicPartition, Long> stored = rows.compareWithChangelogs(home);
    assertEquals(PARTITIONS, stored.size());
    assertEquals(counts, rows.counts(STORE));
    rows.demandNothingBehind(stored);
  }
}
