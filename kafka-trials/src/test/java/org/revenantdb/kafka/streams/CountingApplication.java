package org.revenantdb.kafka.streams;

import java.io.IOException;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/** Counts and sums records. */
final class CountingApplication {
  static final String ID = "counting";
  static final String COUNTS = "counts";
  static final String SUMS = "sums";

  private CountingApplication() {}

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, Long> input =
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
            .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()));
    input
        .count(CountingApplication.<Long>as(COUNTS).withValueSerde(Serdes.Long()))
        .toStream()
        .to("out", Produced.with(Serdes.String(), Serdes.Long()));
    input.reduce(Long::sum, CountingApplication.<Long>as(SUMS).withValueSerde(Serdes.Long()));
    return builder.build();
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
