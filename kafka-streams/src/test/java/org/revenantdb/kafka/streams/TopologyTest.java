package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.Database;

/** Whole topologies in Kafka's test driver, which commits after each record. */
class TopologyTest {
  @TempDir Path home;

  private Properties properties(String guarantee) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(RevenantConfig.POOL_BYTES, 8 << 20);
    return properties;
  }

  private static Topology wordCount() {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream("lines", Consumed.with(Serdes.String(), Serdes.String()))
        .flatMapValues(line -> List.of(line.split(" ")))
        .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
        .count(
            Materialized.<String, Long>as(RevenantStores.timestampedKeyValueStore("counts"))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long()))
        .toStream()
        .mapValues(count -> Long.toString(count))
        .to("counted", Produced.with(Serdes.String(), Serdes.String()));
    return builder.build();
  }

  @ParameterizedTest
  @ValueSource(strings = {StreamsConfig.AT_LEAST_ONCE, StreamsConfig.EXACTLY_ONCE_V2})
  void words_are_counted(String guarantee) {
    try (TopologyTestDriver driver = new TopologyTestDriver(wordCount(), properties(guarantee))) {
      TestInputTopic<String, String> lines = lines(driver);
      lines.pipeInput("a b a");
      lines.pipeInput("b c b");
      Map<String, String> last = new HashMap<>();
      for (KeyValue<String, String> count : counted(driver).readKeyValuesToList()) {
        last.put(count.key, count.value);
      }
      assertEquals(Map.of("a", "2", "b", "3", "c", "1"), last);
      KeyValueStore<String, ValueAndTimestamp<Long>> counts =
          driver.getTimestampedKeyValueStore("counts");
      assertEquals(3, counts.get("b").value());
      assertNull(counts.get("d"));
      assertEquals(3, counts.approximateNumEntries());
      List<String> words = new ArrayList<>();
      try (KeyValueIterator<String, ValueAndTimestamp<Long>> rows = counts.reverseAll()) {
        rows.forEachRemaining(row -> words.add(row.key));
      }
      assertEquals(List.of("c", "b", "a"), words);
    }
  }

  private static TestInputTopic<String, String> lines(TopologyTestDriver driver) {
    return driver.createInputTopic("lines", new StringSerializer(), new StringSerializer());
  }

  private static TestOutputTopic<String, String> counted(TopologyTestDriver driver) {
    return driver.createOutputTopic("counted", new StringDeserializer(), new StringDeserializer());
  }

  @Test
  void tables_are_joined() {
    StreamsBuilder builder = new StreamsBuilder();
    KTable<String, String> left = table(builder, "left");
    KTable<String, String> right = table(builder, "right");
    left.join(
            right,
            (one, other) -> one + "+" + other,
            Materialized.<String, String>as(RevenantStores.timestampedKeyValueStore("joined"))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String()))
        .toStream()
        .to("out", Produced.with(Serdes.String(), Serdes.String()));
    try (TopologyTestDriver driver =
        new TopologyTestDriver(builder.build(), properties(StreamsConfig.AT_LEAST_ONCE))) {
      TestInputTopic<String, String> lefts =
          driver.createInputTopic("left", new StringSerializer(), new StringSerializer());
      TestInputTopic<String, String> rights =
          driver.createInputTopic("right", new StringSerializer(), new StringSerializer());
      lefts.pipeInput("k", "l1");
      rights.pipeInput("k", "r1");
      lefts.pipeInput("k", "l2");
      rights.pipeInput("k", (String) null);
      lefts.pipeInput("", "empty"); // the empty key
      rights.pipeInput("", "too");
      TestOutputTopic<String, String> out =
          driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
      assertEquals(
          Arrays.asList(
              KeyValue.pair("k", "l1+r1"),
              KeyValue.pair("k", "l2+r1"),
              KeyValue.pair("k", null),
              KeyValue.pair("", "empty+too")),
          out.readKeyValuesToList());
      KeyValueStore<String, ValueAndTimestamp<String>> joined =
          driver.getTimestampedKeyValueStore("joined");
      assertNull(joined.get("k"));
      assertEquals("empty+too", joined.get("").value());
    }
  }

  private static KTable<String, String> table(StreamsBuilder builder, String topic) {
    return builder.table(
        topic,
        Consumed.with(Serdes.String(), Serdes.String()),
        Materialized.<String, String>as(RevenantStores.timestampedKeyValueStore(topic + "-table"))
            .withKeySerde(Serdes.String())
            .withValueSerde(Serdes.String()));
  }

  @Test
  void a_global_table_is_joined() {
    StreamsBuilder builder = new StreamsBuilder();
    GlobalKTable<String, String> names =
        builder.globalTable(
            "names",
            Consumed.with(Serdes.String(), Serdes.String()),
            Materialized.as(RevenantStores.timestampedKeyValueStore("all-names")));
    builder.stream("lines", Consumed.with(Serdes.String(), Serdes.String()))
        .join(names, (key, line) -> line, (line, name) -> name)
        .to("counted", Produced.with(Serdes.String(), Serdes.String()));
    try (TopologyTestDriver driver =
        new TopologyTestDriver(builder.build(), properties(StreamsConfig.EXACTLY_ONCE_V2))) {
      driver
          .createInputTopic("names", new StringSerializer(), new StringSerializer())
          .pipeInput("a", "Ada");
      lines(driver).pipeInput("a");
      assertEquals("Ada", counted(driver).readValue());
    }
  }

  /** Reads, ranges and deletions in the middle of a record see what the record has written. */
  @Test
  void a_processor_sees_its_own_writes() {
    List<String> seen = new ArrayList<>();
    Topology topology = new Topology();
    topology.addSource("source", new StringDeserializer(), new StringDeserializer(), "in");
    topology.addProcessor(
        "processor",
        () ->
            new ContextualProcessor<String, String, Void, Void>() {
              @Override
              public void process(Record<String, String> input) {
                KeyValueStore<String, String> store = context().getStateStore("plain");
                store.put(input.key(), input.value());
                store.putAll(List.of(KeyValue.pair("x1", "1"), KeyValue.pair("x2", "2")));
                seen.add(store.putIfAbsent("x1", "other"));
                seen.add(store.delete("x2"));
                try (KeyValueIterator<String, String> rows =
                    store.prefixScan("x", new StringSerializer())) {
                  while (rows.hasNext()) {
                    String key = rows.next().key;
                    seen.add(key);
                    store.delete(key); // while the iterator is open
                  }
                }
                seen.add(String.valueOf(store.approximateNumEntries()));
              }
            },
        "source");
    topology.addStateStore(
        Stores.keyValueStoreBuilder(
            RevenantStores.keyValueStore("plain"), Serdes.String(), Serdes.String()),
        "processor");
    try (TopologyTestDriver driver =
        new TopologyTestDriver(topology, properties(StreamsConfig.AT_LEAST_ONCE))) {
      driver
          .createInputTopic("in", new StringSerializer(), new StringSerializer())
          .pipeInput("key", "value");
      assertEquals(List.of("1", "2", "x1", "1"), seen);
      assertEquals("value", driver.<String, String>getKeyValueStore("plain").get("key"));
    }
  }

  /** The test driver deletes the task's directory at its end, as cleanUp does. */
  @Test
  void a_deleted_task_directory_is_a_deleted_store() throws Exception {
    for (int life = 0; life < 2; life++) {
      try (TopologyTestDriver driver =
          new TopologyTestDriver(wordCount(), properties(StreamsConfig.AT_LEAST_ONCE))) {
        lines(driver).pipeInput("a");
        assertEquals("1", counted(driver).readValue());
      }
      Path database = home.resolve("app").resolve(SharedDatabase.DIRECTORY);
      assertTrue(Files.exists(database));
      try (Database left = Database.open(database)) {
        assertEquals(1, left.tableNames().size(), "dropped by the next one that opens it");
      }
    }
    SharedDatabase shared = SharedDatabase.acquire(home.resolve("app"), Map.of());
    assertEquals(List.of(), shared.database().tableNames());
    shared.release();
    assertFalse(Files.exists(home.resolve("app").resolve("0_0")));
  }

  /** A store with many stores beside it: one database, one pool. */
  @Test
  @Tag("slow")
  void two_hundred_stores_share_one_database() {
    StreamsBuilder builder = new StreamsBuilder();
    for (int i = 0; i < 200; i++) {
      table(builder, "topic" + i);
    }
    Map<String, String> expected = new TreeMap<>();
    try (TopologyTestDriver driver =
        new TopologyTestDriver(builder.build(), properties(StreamsConfig.EXACTLY_ONCE_V2))) {
      for (int i = 0; i < 200; i++) {
        driver
            .createInputTopic("topic" + i, new StringSerializer(), new StringSerializer())
            .pipeInput("key", "value " + i);
        expected.put("topic" + i, "value " + i);
      }
      Map<String, String> found = new TreeMap<>();
      for (int i = 0; i < 200; i++) {
        KeyValueStore<String, ValueAndTimestamp<String>> store =
            driver.getTimestampedKeyValueStore("topic" + i + "-table");
        found.put("topic" + i, store.get("key").value());
      }
      assertEquals(expected, found);
    }
  }
}
