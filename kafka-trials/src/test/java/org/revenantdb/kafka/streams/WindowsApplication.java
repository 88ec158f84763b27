package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** Counts in windows and sessions, tells closed windows once, and joins two tables. */
final class WindowsApplication {
  static final String ID = "windows";
  static final String WINDOWS = "windows";
  static final String SESSIONS = "sessions";
  static final String EXPIRING = "expiring";
  static final Duration SIZE = Duration.ofSeconds(10);
  static final Duration GAP = Duration.ofSeconds(3);

  /** Longer than a test sends records for: nothing expires there. */
  private static final Duration ALWAYS = Duration.ofDays(30);

  private WindowsApplication() {}

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    Serde<String> strings = Serdes.String();
    Serde<Long> longs = Serdes.Long();
    KGroupedStream<String, Long> input =
        builder.stream("in", Consumed.with(strings, longs))
            .groupByKey(Grouped.with(strings, longs));
    told(
        input
            .windowedBy(TimeWindows.ofSizeWithNoGrace(SIZE))
            .count(
                Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(WINDOWS)
                    .withRetention(ALWAYS)),
        "windowed");
    told(
        input
            .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(GAP))
            .count(
                Materialized.<String, Long, SessionStore<Bytes, byte[]>>as(SESSIONS)
                    .withRetention(ALWAYS)),
        "sessions-out");
    // Its windows expire while it runs: they are kept as long as one is open.
    told(
        input
            .windowedBy(TimeWindows.ofSizeWithNoGrace(SIZE))
            .count(Materialized.as(EXPIRING))
            .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())),
        "final");
    builder
        .table("left", Consumed.with(strings, longs), Materialized.as("left-rows"))
        .join(
            builder.table("right", Consumed.with(strings, longs), Materialized.as("right-rows")),
            Long::sum,
            Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("joined-rows")
                .withKeySerde(strings)
                .withValueSerde(longs))
        .toStream()
        .to("joined", Produced.with(strings, longs));
    return builder.build();
  }

  private static void told(KTable<Windowed<String>, Long> counts, String topic) {
    counts
        .toStream()
        .map((window, count) -> KeyValue.pair(name(window), count))
        .to(topic, Produced.with(Serdes.String(), Serdes.Long()));
  }

  private static String name(Windowed<String> window) {
    return window.key() + "@" + window.window().start() + "-" + window.window().end();
  }

  /** What the rows of a store are. */
  static StoredRows.Rows rows(String store) {
    return switch (store) {
      case WINDOWS ->
          new StoredRows.Rows(/* isTimestamped= */ true, TimedKeys.WINDOW, StoredRows.ALWAYS);
      case SESSIONS ->
          new StoredRows.Rows(/* isTimestamped= */ false, TimedKeys.SESSION, StoredRows.ALWAYS);
      case EXPIRING ->
          new StoredRows.Rows(/* isTimestamped= */ true, TimedKeys.WINDOW, SIZE.toMillis());
      default -> StoredRows.Rows.PLAIN;
    };
  }

  /** See {@link TellingApplication}. */
  public static void main(String[] arguments) throws IOException {
    TellingApplication.run(ID, topology(), arguments, WindowsApplication::sayRows);
  }

  /** Asked when it is running. */
  private static void sayRows(KafkaStreams streams) {
    try (KeyValueIterator<Windowed<String>, Long> rows =
        streams
            .store(
                StoreQueryParameters.fromNameAndType(
                    WINDOWS, QueryableStoreTypes.<String, Long>windowStore()))
            .all()) {
      rows.forEachRemaining(row -> say(WINDOWS, row));
    }
    try (KeyValueIterator<Windowed<String>, Long> rows =
        streams
            .store(
                StoreQueryParameters.fromNameAndType(
                    SESSIONS, QueryableStoreTypes.<String, Long>sessionStore()))
            .fetch(null, null)) {
      rows.forEachRemaining(row -> say(SESSIONS, row));
    }
    TellingApplication.say("END");
  }

  private static void say(String store, KeyValue<Windowed<String>, Long> row) {
    TellingApplication.say("ROW " + store + " " + name(row.key) + " " + row.value);
  }
}
