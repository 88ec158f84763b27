package org.revenantdb.kafka.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.StateQueryRequest;
import org.apache.kafka.streams.query.StateQueryResult;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.streams.Brokers;
import org.revenantdb.kafka.streams.RevenantConfig;
import org.revenantdb.testing.Drawn;

/**
 * Interactive queries of an application beside a real broker, exactly once. Who has sent a record
 * asks with its position as a bound, and finds it: the position of a store is that of its rows.
 */
@Tag("slow")
class QueriedApplicationTest {
  private static final String ID = "queried";
  private static final int KEYS = 40;
  private static final int ROUNDS = 5;
  private static final int RECORDS = 100;
  private static final Duration WINDOW = Duration.ofSeconds(10);

  /** So long that no window is over. */
  private static final Duration GRACE = Duration.ofHours(1);

  @TempDir Path home;

  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, Long> windows = new TreeMap<>();

  @Test
  @Drawn(oneIn = 3)
  void a_query_finds_what_was_sent_before_its_bound() throws Exception {
    long seed = Long.getLong("revenant.kafka.seed", new Random().nextLong());
    System.out.println("QueriedApplicationTest: repeat with -Drevenant.kafka.seed=" + seed);
    Random random = new Random(seed);
    try (Broker broker = Brokers.start(home)) {
      broker.createTopics(Counting.PARTITIONS, ID);
      try (KafkaStreams streams = streams(broker)) {
        streams.start();
        for (int round = 0; round < ROUNDS; round++) {
          Position sent = send(broker, random, round * RECORDS);
          StateQueryResult<KeyValueIterator<String, Object>> rows =
              await(streams, "counts", RangeQuery.withNoBounds(), sent);
          assertEquals(counts, all(rows));
          StateQueryResult<KeyValueIterator<Windowed<String>, Object>> byWindow =
              await(
                  streams,
                  "windows",
                  WindowRangeQuery.withWindowStartRange(
                      Instant.EPOCH, Instant.ofEpochMilli(1L << 40)),
                  sent);
          assertEquals(windows, all(byWindow));
          assertEquals(sent, byWindow.getPosition());
          assertReads(streams, sent);
        }
      }
    }
  }

  /** What holds at any time behind the bound. */
  private void assertReads(KafkaStreams streams, Position sent) {
    ReadOnlyKeyValueStore<String, ValueAndTimestamp<Long>> store =
        streams.store(
            StoreQueryParameters.fromNameAndType(
                "counts", QueryableStoreTypes.timestampedKeyValueStore()));
    Map<String, Long> read = new TreeMap<>();
    try (KeyValueIterator<String, ValueAndTimestamp<Long>> rows = store.all()) {
      rows.forEachRemaining(row -> read.put(row.key, row.value.value()));
    }
    assertEquals(counts, read);
    String key = counts.keySet().iterator().next();
    StateQueryResult<Long> one =
        streams.query(
            StateQueryRequest.inStore("counts")
                .withQuery(KeyQuery.<String, Long>withKey(key))
                .withPositionBound(PositionBound.at(sent))
                .enableExecutionInfo()
                .requireActive());
    assertEquals(counts.get(key), one.getOnlyPartitionResult().getResult());
    assertFalse(one.getOnlyPartitionResult().getExecutionInfo().isEmpty());
    Position ahead = sent.copy();
    for (int partition : sent.getPartitionPositions(ID).keySet()) {
      ahead.withComponent(ID, partition, sent.getPartitionPositions(ID).get(partition) + 10);
    }
    failsWith(FailureReason.NOT_UP_TO_BOUND, streams, KeyQuery.withKey(key), ahead);
    failsWith(FailureReason.UNKNOWN_QUERY_TYPE, streams, new OwnQuery(), sent);
  }

  /** A query of a user, which no store knows. */
  private record OwnQuery() implements Query<String> {}

  private static void failsWith(
      FailureReason reason, KafkaStreams streams, Query<?> query, Position bound) {
    StateQueryResult<?> failed = ask(streams, "counts", query, bound);
    assertEquals(Counting.PARTITIONS, failed.getPartitionResults().size());
    for (QueryResult<?> each : failed.getPartitionResults().values()) {
      assertTrue(each.isFailure());
      assertEquals(reason, each.getFailureReason(), each.getFailureMessage());
    }
  }

  private KafkaStreams streams(Broker broker) {
    Properties properties =
        Counting.properties(Stores.REVENANT, broker.servers(), home.resolve("state"), ID, "one");
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(RevenantConfig.POOL_BYTES, 8L << 20);
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, String> input =
        builder.stream(ID, Consumed.with(Serdes.String(), Serdes.String()))
            .groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
    input.count(Materialized.as("counts"));
    input.windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE)).count(Materialized.as("windows"));
    return new KafkaStreams(builder.build(properties), properties);
  }

  /** Sends records and counts them. Returns the position of the last ones. */
  private Position send(Broker broker, Random random, long first) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers()),
            new StringSerializer(),
            new StringSerializer())) {
      for (int i = 0; i < RECORDS; i++) {
        int key = random.nextInt(KEYS);
        long time = (first + i) * 100;
        sent.add(
            producer.send(
                new ProducerRecord<>(ID, key % Counting.PARTITIONS, time, "key " + key, "")));
        counts.merge("key " + key, 1L, Long::sum);
        long start = time - time % WINDOW.toMillis();
        windows.merge("key " + key + " at " + start, 1L, Long::sum);
      }
    }
    Map<Integer, Long> last = new HashMap<>();
    for (Future<RecordMetadata> each : sent) {
      last.merge(each.get().partition(), each.get().offset(), Math::max);
    }
    return Position.fromMap(Map.of(ID, last));
  }

  private static <R> StateQueryResult<R> ask(
      KafkaStreams streams, String store, Query<R> query, Position bound) {
    return streams.query(
        StateQueryRequest.inStore(store)
            .withQuery(query)
            .withPositionBound(PositionBound.at(bound)));
  }

  /** Asks until the stores of all partitions are up to the bound. */
  private static <R> StateQueryResult<R> await(
      KafkaStreams streams, String store, Query<R> query, Position bound)
      throws InterruptedException {
    while (true) {
      if (streams.state() == KafkaStreams.State.RUNNING) {
        StateQueryResult<R> result = ask(streams, store, query, bound);
        Map<Integer, QueryResult<R>> partitions = result.getPartitionResults();
        boolean isComplete =
            partitions.size() == Counting.PARTITIONS
                && partitions.values().stream().allMatch(QueryResult::isSuccess);
        if (isComplete) {
          return result;
        }
        partitions.values().stream()
            .filter(QueryResult::isSuccess)
            .forEach(each -> ((KeyValueIterator<?, ?>) each.getResult()).close());
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Kafka gives counts of windows with their timestamps, and others without. */
  private static <K> Map<String, Long> all(StateQueryResult<KeyValueIterator<K, Object>> result) {
    Map<String, Long> all = new TreeMap<>();
    result
        .getPartitionResults()
        .values()
        .forEach(partition -> {
          try (KeyValueIterator<K, Object> rows = partition.getResult()) {
            while (rows.hasNext()) {
              KeyValue<K, Object> row = rows.next();
              String key =
                  row.key instanceof Windowed<?> windowed
                      ? windowed.key() + " at " + windowed.window().start()
                      : row.key.toString();
              Object count =
                  row.value instanceof ValueAndTimestamp<?> timed ? timed.value() : row.value;
              all.put(key, (Long) count);
            }
          }
        });
    return all;
  }
}
