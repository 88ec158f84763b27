package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stores count in the registry of Kafka Streams. */
@Tag("slow")
class StoreMetricsTest {
  @TempDir Path directory;

  @Test
  void stores_count_in_the_registry() {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "metrics");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    properties.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
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
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), properties)) {
      TestInputTopic<String, String> in =
          driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
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
