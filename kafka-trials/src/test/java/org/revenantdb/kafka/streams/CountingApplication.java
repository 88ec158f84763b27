package org.revenantdb.kafka.streams;

import java.io.IOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts and sums records by key, and counts them by another key, which needs a second sub-topology
 * behind a topic of its own.
 */
final class CountingApplication {
  static final String ID = "counting";
  static final String COUNTS = "counts";
  static final String SUMS = "sums";
  static final String GROUPS = "groups";

  /** The topic between the sub-topologies. */
  static final String BETWEEN = ID + "-by-group-repartition";

  private CountingApplication() {}

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    Serde<String> strings = Serdes.String();
    Serde<Long> longs = Serdes.Long();
    KStream<String, Long> all = builder.stream("in", Consumed.with(strings, longs));
    KGroupedStream<String, Long> input = all.groupByKey(Grouped.with(strings, longs));
    input
        .count(CountingApplication.<Long>as(COUNTS).withValueSerde(longs))
        .toStream()
        .to("out", Produced.with(strings, longs));
    input.reduce(Long::sum, CountingApplication.<Long>as(SUMS).withValueSerde(longs));
    all.groupBy((_, value) -> group(value), Grouped.with("by-group", strings, longs))
        .count(CountingApplication.<Long>as(GROUPS).withValueSerde(longs))
        .toStream()
        .to("grouped", Produced.with(strings, longs));
    return builder.build();
  }

  /** The other key of a record. */
  static String group(long value) {
    return "group " + value % 20;
  }

  private static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> as(String store) {
    return Materialized.<String, V>as(RevenantStores.timestampedKeyValueStore(store))
        .withKeySerde(Serdes.String());
  }

  /** See {@link TellingApplication}. */
  public static void main(String[] arguments) throws IOException {
    TellingApplication.run(ID, topology(), arguments, streams -> {});
  }
}
