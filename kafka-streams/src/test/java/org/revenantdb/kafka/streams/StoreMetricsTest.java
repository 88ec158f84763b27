package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stores count in the registry of Kafka Streams. */
@Tag("slow")
class StoreMetricsTest {
  @TempDir Path directory;

  private Properties properties(String application) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, application);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    properties.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
    return properties;
  }

  private TopologyTestDriver driver(String application) {
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, String> words =
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).groupByKey();
    words.count(Materialized.as(RevenantStores.timestampedKeyValueStore("counts")));
    words
        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(5)))
        .count(
            Materialized.as(
                RevenantStores.timestampedWindowStore(
                    "windows", Duration.ofMinutes(5), Duration.ofMinutes(5), false)));
    return new TopologyTestDriver(builder.build(), properties(application));
  }

  private static TestInputTopic<String, String> input(TopologyTestDriver driver) {
    return driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
  }

  @Test
  void stores_count_in_the_registry() {
    try (TopologyTestDriver driver = driver("metrics")) {
      TestInputTopic<String, String> in = input(driver);
      in.pipeInput("a", "", Instant.ofEpochMilli(1));
      in.pipeInput("a", "", Instant.ofEpochMilli(600_000));
      Map<String, Double> counts = told(driver, "revenant-state-id");
      assertEquals(2 * (1 + 16.0), counts.get("bytes-written-total")); // key; time and count
      assertEquals(16.0, counts.get("bytes-read-total"));
      assertEquals((double) (4 << 20), counts.get("block-cache-capacity"));
      assertEquals(0.0, counts.get("rollbacks-total"));
      Map<String, Double> windows = told(driver, "revenant-window-state-id");
      assertEquals(2 * (13 + 16.0), windows.get("bytes-written-total"));
      assertEquals(1.0, windows.get("number-open-segments"));
      assertEquals(counts.get("commits-total"), windows.get("commits-total"));
    }
  }

  /**
   * Kafka counts for each store those that the store was asked for, but not those of a query. The
   * database counts all.
   */
  @Test
  void iterators_count_until_they_are_closed() {
    TopologyTestDriver driver = driver("iterators");
    try {
      input(driver).pipeInput("a", "", Instant.ofEpochMilli(1));
      assertOpenIterators(driver, 0, 0, 0);
      KeyValueStore<String, ValueAndTimestamp<Long>> counts =
          driver.getTimestampedKeyValueStore("counts");
      KeyValueIterator<String, ?> all = counts.all();
      assertOpenIterators(driver, 1, 0, 1);
      KeyValueIterator<String, Long> asked =
          counts
              .query(
                  RangeQuery.<String, Long>withNoBounds(),
                  PositionBound.unbounded(),
                  new QueryConfig(false))
              .getResult();
      assertOpenIterators(driver, 1, 0, 2);
      KeyValueIterator<?, ?> windows = driver.getTimestampedWindowStore("windows").all();
      assertOpenIterators(driver, 1, 1, 3);
      asked.close();
      asked.close();
      all.close();
      assertOpenIterators(driver, 0, 1, 1);
      Map<String, Double> times = told(driver, "revenant-state-id");
      assertTrue(times.get("iterator-duration-max") >= times.get("iterator-duration-avg"));
      windows.close();
      assertOpenIterators(driver, 0, 0, 0);
      counts.all(); // the close of its store closes it
      assertEquals(1.0, ofDatabase(driver).get("revenant-num-open-iterators"));
    } finally {
      SharedDatabase shared = SharedDatabase.acquire(directory.resolve("iterators"), Map.of());
      driver.close();
      assertEquals(0, shared.openIterators());
      shared.release();
    }
  }

  private static void assertOpenIterators(
      TopologyTestDriver driver, int counts, int windows, int all) {
    assertEquals(counts, told(driver, "revenant-state-id").get("num-open-iterators"));
    assertEquals(windows, told(driver, "revenant-window-state-id").get("num-open-iterators"));
    assertEquals(all, ofDatabase(driver).get("revenant-num-open-iterators"));
  }

  @Test
  void the_database_of_an_instance_tells_its_numbers_once_and_not_those_of_another_instance() {
    TopologyTestDriver driver = driver("first");
    try (TopologyTestDriver other = driver("second")) {
      AtomicLong now = clock("first");
      AtomicLong nowOfOther = clock("second");
      Map<String, Double> before = ofDatabase(driver);
      Map<String, Double> beforeOfOther = ofDatabase(other);
      assertEquals(18, before.size(), before::toString);
      TestInputTopic<String, String> in = input(driver);
      for (int i = 0; i < 300; i++) {
        in.pipeInput("key " + i, "", Instant.ofEpochMilli(i));
      }
      SharedDatabase shared = SharedDatabase.ifOpen(directory.resolve("first"));
      shared.database().checkpoint();
      assertEquals(before, ofDatabase(driver), "all numbers of one scrape are of one moment");
      now.addAndGet(DatabaseMetrics.FRESH);
      Map<String, Double> after = ofDatabase(driver);
      assertEquals((double) (4 << 20), after.get("revenant-block-cache-capacity"));
      assertTrue(after.get("revenant-block-cache-usage") > 2 * 8_192, after::toString);
      assertTrue(
          after.get("revenant-block-cache-usage") <= after.get("revenant-block-cache-capacity"));
      assertTrue(
          after.get("revenant-block-cache-dirty") <= after.get("revenant-block-cache-usage"));
      for (String ratio : List.of("data", "index")) {
        double hits = after.get("revenant-block-cache-" + ratio + "-hit-ratio");
        assertTrue(hits > 0.5 && hits <= 1, after::toString);
      }
      assertTrue(after.get("revenant-total-files-size") > 100_000, after::toString);
      for (String grows : List.of("file-bytes-written-total", "forces-total")) {
        assertTrue(
            after.get("revenant-" + grows) > before.get("revenant-" + grows), after::toString);
      }
      assertEquals(0.0, after.get("revenant-background-errors"));
      assertEquals(0.0, after.get("revenant-restoring-memory"));
      shared.gathers(0, 77);
      shared.takesFile(78, /* isActive= */ true);
      shared.doubt();
      assertEquals(77.0, ofDatabase(driver).get("revenant-restoring-memory"));
      assertEquals(78.0, ofDatabase(driver).get("revenant-restoring-files-size"));
      assertEquals(1.0, ofDatabase(driver).get("revenant-background-errors"));
      nowOfOther.addAndGet(DatabaseMetrics.FRESH);
      for (String own : List.of("block-cache-usage", "restoring-memory", "background-errors")) {
        assertEquals(
            beforeOfOther.get("revenant-" + own), ofDatabase(other).get("revenant-" + own));
      }
      driver
          .metrics()
          .forEach((name, metric) -> {
            if (name.name().startsWith("revenant-")) {
              assertEquals("stream-metrics", name.group());
              assertTrue(name.tags().containsKey("client-id"), name::toString);
              assertTrue(name.description().startsWith("The "), name.description());
            }
          });
    } finally {
      driver.close();
    }
    ofDatabase(driver)
        .forEach((name, value) -> assertEquals(0.0, value, name + " of a closed database"));
  }

  /** A clock that the test moves. */
  private AtomicLong clock(String application) {
    AtomicLong now = new AtomicLong(System.nanoTime());
    SharedDatabase.ifOpen(directory.resolve(application)).clock = now::get;
    return now;
  }

  private static Map<String, Double> ofDatabase(TopologyTestDriver driver) {
    Map<String, Double> told = told(driver, "client-id");
    told.keySet().removeIf(name -> !name.startsWith("revenant-"));
    return told;
  }

  private static Map<String, Double> told(TopologyTestDriver driver, String tag) {
    Map<String, Double> told = new TreeMap<>();
    driver
        .metrics()
        .forEach((name, metric) -> {
          if (name.tags().containsKey(tag) && metric.metricValue() instanceof Number number) {
            told.put(name.name(), number.doubleValue());
          }
        });
    return told;
  }
}
