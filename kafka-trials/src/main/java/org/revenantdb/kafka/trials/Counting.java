package org.revenantdb.kafka.trials;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;

/** The application: it counts records by key, exactly once, as a whole or by window. */
final class Counting {
  static final String STORE = "counts";
  static final int PARTITIONS = 2;

  private static final int COMMIT_MILLIS = 100;
  private static final Duration WINDOW = Duration.ofMinutes(1);

  private Counting() {}

  /**
   * The properties: the defaults of Kafka Streams, but exactly-once, which commits each 100 ms.
   *
   * @param instance stays the same over the lives of an application, so that the next life has the
   *     place of the one that was killed at once
   */
  static Properties properties(
      Stores stores, String servers, Path directory, String application, String instance) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, application);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MILLIS);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1); // as the broker has it
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, instance);
    stores.configure(properties);
    return properties;
  }

  /**
   * The topology.
   *
   * @param seen is run for each record, before it is counted
   */
  static Topology topology(Properties properties, String topic, boolean isWindowed, Runnable seen) {
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<Long, byte[]> input =
        builder.stream(topic, Consumed.with(Serdes.Long(), Serdes.ByteArray()))
            .peek((key, value) -> seen.run())
            .groupByKey(Grouped.with(Serdes.Long(), Serdes.ByteArray()));
    if (isWindowed) {
      input.windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW)).count(Materialized.as(STORE));
    } else {
      input.count(Materialized.as(STORE));
    }
    return builder.build(properties);
  }
}
