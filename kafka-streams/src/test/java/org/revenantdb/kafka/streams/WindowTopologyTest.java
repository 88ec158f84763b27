package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Topologies of the DSL whose stores are chosen by one property, beside the same with Kafka's
 * default stores: the output is the same.
 */
@Tag("slow")
class WindowTopologyTest {
  @TempDir Path home;

  /** The output of a topology for random input, whose times go forwards and a little back. */
  private List<KeyValue<String, String>> output(
      BiConsumer<KStream<String, String>, KStream<String, String>> shape,
      String format,
      boolean ours)
      throws Exception {
    Properties properties = new Properties();
    String id = (ours ? "ours-" : "theirs-") + format;
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DSL_STORE_FORMAT_CONFIG, format);
    properties.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0L);
    properties.put(RevenantConfig.POOL_BYTES, 8 << 20);
    if (ours) {
      properties.put(
          StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
          RevenantDslStoreSuppliers.class.getName());
    }
    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> left = builder.stream("left");
    shape.accept(left, builder.stream("right"));
    try (TopologyTestDriver driver =
        new TopologyTestDriver(builder.build(properties), properties)) {
      TestInputTopic<String, String> lefts = input(driver, "left");
      TestInputTopic<String, String> rights = input(driver, "right");
      Random random = new Random(62);
      long time = 1_000_000;
      for (int i = 0; i < 400; i++) {
        time += random.nextInt(2_000);
        (random.nextInt(3) > 0 ? lefts : rights)
            .pipeInput("k" + random.nextInt(4), "v" + i, time - random.nextInt(4_000));
      }
      assertEquals(ours, Files.exists(home.resolve(id).resolve(SharedDatabase.DIRECTORY)));
      TestOutputTopic<String, String> out =
          driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
      return out.readKeyValuesToList();
    }
  }

  private static TestInputTopic<String, String> input(TopologyTestDriver driver, String topic) {
    return driver.createInputTopic(topic, new StringSerializer(), new StringSerializer());
  }

  private void compare(BiConsumer<KStream<String, String>, KStream<String, String>> shape)
      throws Exception {
    for (String format : List.of("default", "headers")) {
      List<KeyValue<String, String>> expected = output(shape, format, /* ours= */ false);
      assertTrue(expected.size() > 20, () -> "little is tested: " + expected);
      assertEquals(expected, output(shape, format, /* ours= */ true));
    }
  }

  private static void send(KTable<Windowed<String>, ?> table) {
    table
        .toStream()
        .map((window, value) ->
            KeyValue.pair(
                window.key() + "@" + window.window().start() + "-" + window.window().end(),
                String.valueOf(value)))
        .to("out");
  }

  @Test
  void windows_are_counted() throws Exception {
    compare((left, right) ->
        send(
            left.groupByKey()
                .windowedBy(
                    TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofSeconds(20)))
                .count()));
  }

  @Test
  void windows_are_emitted_when_they_close() throws Exception {
    compare((left, right) ->
        send(
            left.groupByKey()
                .windowedBy(
                    TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofSeconds(1)))
                .emitStrategy(EmitStrategy.onWindowClose())
                .count()));
  }

  @Test
  void windows_are_suppressed_until_they_close() throws Exception {
    compare((left, right) ->
        send(
            left.groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .windowedBy(
                    TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofSeconds(1)))
                .count()
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))));
  }

  @Test
  void sessions_are_merged() throws Exception {
    compare((left, right) ->
        send(
            left.groupByKey()
                .windowedBy(
                    SessionWindows.ofInactivityGapAndGrace(
                        Duration.ofSeconds(5), Duration.ofSeconds(5)))
                .reduce((one, other) -> one + other)));
  }

  /** Which of two sessions that close together comes first is left open, but not for one key. */
  @Test
  void sessions_are_emitted_when_they_close() throws Exception {
    BiConsumer<KStream<String, String>, KStream<String, String>> shape =
        (left, right) ->
            send(
                left.groupByKey()
                    .windowedBy(
                        SessionWindows.ofInactivityGapAndGrace(
                            Duration.ofSeconds(5), Duration.ofSeconds(5)))
                    .emitStrategy(EmitStrategy.onWindowClose())
                    .count());
    for (String format : List.of("default", "headers")) {
      Map<String, List<String>> expected = byKey(output(shape, format, /* ours= */ false));
      assertTrue(
          expected.values().stream().allMatch(sessions -> sessions.size() > 2),
          () -> "little is tested: " + expected);
      assertEquals(expected, byKey(output(shape, format, /* ours= */ true)));
    }
  }

  private static Map<String, List<String>> byKey(List<KeyValue<String, String>> output) {
    Map<String, List<String>> byKey = new TreeMap<>();
    output.forEach(row ->
        byKey
            .computeIfAbsent(row.key.substring(0, row.key.indexOf('@')), key -> new ArrayList<>())
            .add(row.key + "=" + row.value));
    return byKey;
  }

  @Test
  void streams_are_joined() throws Exception {
    compare((left, right) ->
        left.leftJoin(
                right,
                (one, other) -> one + "+" + other,
                JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(4), Duration.ofSeconds(2)))
            .to("out"));
  }

  @Test
  void tables_are_joined_by_foreign_keys() throws Exception {
    compare((left, right) ->
        left.mapValues(value -> "k" + value.length() % 4 + value)
            .toTable()
            .join(
                right.toTable(), value -> value.substring(0, 2), (one, other) -> one + "+" + other)
            .toStream()
            .to("out"));
  }

  /** Rows expire with their segments, which are dropped; nobody deletes them one by one. */
  @Test
  void segments_that_are_over_are_dropped_with_their_tables() {
    TaskContext context = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE);
    SegmentedStore rows = new SegmentedStore("windows", TimedKeys.WINDOW, "plain", 1_000, 500);
    RevenantWindowStore store = new RevenantWindowStore(rows, 100, false);
    store.init(context, store);
    TopicPartition changelog = new TopicPartition("c", 0);
    for (int time = 0; time < 100_000; time += 10) {
      store.put(Bytes.wrap(new byte[] {(byte) (time / 10)}), new byte[] {1}, time);
      if (time % 1_000 == 0) {
        store.commit(Map.of(changelog, (long) time));
      }
    }
    assertEquals(3, rows.segmentCount());
    store.commit(Map.of(changelog, 100_000L));
    assertEquals(100, count(store));
    SharedDatabase shared = SharedDatabase.acquire(home, Map.of());
    assertEquals(4, shared.database().tableNames().size());
    store.put(Bytes.wrap(new byte[] {1}), new byte[] {1}, 200_000);
    assertEquals(1, rows.segmentCount());
    store.close(); // without a commit
    store.init(context, store);
    assertEquals(100, count(store));
    store.put(Bytes.wrap(new byte[] {1}), new byte[] {1}, 50_000);
    assertEquals(100, count(store), "that time is over, also after a restart");
    store.close();
    shared.release();
  }

  private static int count(RevenantWindowStore store) {
    int count = 0;
    try (var all = store.all()) {
      while (all.hasNext()) {
        all.next();
        count++;
      }
    }
    return count;
  }

  @Test
  void a_segment_that_was_rolled_back_is_created_again() {
    TaskContext context = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE);
    SegmentedStore rows = new SegmentedStore("windows", TimedKeys.WINDOW, "plain", 1_000, 500);
    RevenantWindowStore store = new RevenantWindowStore(rows, 100, false);
    store.init(context, store);
    Bytes key = Bytes.wrap(new byte[] {1});
    TopicPartition changelog = new TopicPartition("c", 0);
    store.put(key, new byte[] {1}, 0);
    store.commit(Map.of(changelog, 1L));
    store.put(key, new byte[] {2}, 10_000);
    store.commit(Map.of()); // its state is corrupted
    assertEquals(1, count(store));
    store.put(key, new byte[] {3}, 10_000);
    store.commit(Map.of(changelog, 2L));
    assertEquals(1, count(store), "the first one is over");
    assertEquals(3, store.fetch(key, 10_000)[0]);
    store.close();
  }

  /** Ranges of keys of different lengths, where rows of one key can lie among those of another. */
  @Test
  void ranges_of_keys_and_times_have_the_rows_of_a_model() {
    Random random = new Random(62);
    TaskContext context = new TaskContext(home, StreamsConfig.AT_LEAST_ONCE);
    RevenantWindowStore store =
        new RevenantWindowStore(
            new SegmentedStore("windows", TimedKeys.WINDOW, "plain", 1L << 40, 1L << 34),
            100,
            false);
    store.init(context, store);
    List<byte[]> keys = new ArrayList<>();
    TreeMap<String, Byte> model = new TreeMap<>();
    for (int i = 0; i < 300; i++) {
      byte[] key = new byte[random.nextInt(8)]; // zeros, as times begin with
      for (int j = 0; j < key.length; j++) {
        key[j] = new byte[] {0, 0, 0, 0, 1, -1}[random.nextInt(6)];
      }
      keys.add(key);
      long time = random.nextInt(4) * (1L << 32) + random.nextInt(1_000);
      store.put(Bytes.wrap(key), new byte[] {(byte) i}, time);
      model.put(HexFormat.of().formatHex(key) + "@" + time, (byte) i);
    }
    for (int i = 0; i < 300; i++) {
      byte[] from = keys.get(random.nextInt(keys.size()));
      byte[] to = keys.get(random.nextInt(keys.size()));
      long timeFrom = random.nextInt(3) * (1L << 32);
      long timeTo = timeFrom + random.nextInt(3) * (1L << 32);
      TreeMap<String, Byte> expected = new TreeMap<>();
      model.forEach((at, value) -> {
        byte[] key = HexFormat.of().parseHex(at.substring(0, at.indexOf('@')));
        long time = Long.parseLong(at.substring(at.indexOf('@') + 1));
        if (Arrays.compareUnsigned(key, from) >= 0
            && Arrays.compareUnsigned(key, to) <= 0
            && time >= timeFrom
            && time <= timeTo) {
          expected.put(at, value);
        }
      });
      TreeMap<String, Byte> found = new TreeMap<>();
      TreeMap<String, Byte> backwards = new TreeMap<>();
      collect(store.fetch(Bytes.wrap(from), Bytes.wrap(to), timeFrom, timeTo), found);
      collect(store.backwardFetch(Bytes.wrap(from), Bytes.wrap(to), timeFrom, timeTo), backwards);
      assertEquals(expected, found);
      assertEquals(expected, backwards);
    }
    store.close();
  }

  private static void collect(
      KeyValueIterator<Windowed<org.apache.kafka.common.utils.Bytes>, byte[]> rows,
      TreeMap<String, Byte> into) {
    try (rows) {
      rows.forEachRemaining(row ->
          into.put(
              HexFormat.of().formatHex(row.key.key().get()) + "@" + row.key.window().start(),
              row.value[0]));
    }
  }

  @Test
  void a_retention_that_is_shorter_than_a_window_is_refused() {
    assertThrows(
        IllegalArgumentException.class,
        () ->
            RevenantStores.windowStore(
                "short", Duration.ofSeconds(1), Duration.ofSeconds(2), false));
  }
}
