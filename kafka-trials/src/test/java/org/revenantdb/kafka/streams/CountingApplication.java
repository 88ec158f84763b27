package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts and sums records exactly once, in a JVM of its own that is killed. It writes lines to the
 * standard output:
 *
 * <pre>
 * STATE name
 * RESTORE topic partition firstOffset         when a store begins to read its changelog
 * RESTORED topic partition records
 * COMMIT topic partition offset, ...          when the broker has committed, before the stores do
 * </pre>
 */
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

  /** Servers, state directory. It ends when its standard input does, in order after a byte. */
  public static void main(String[] arguments) throws IOException {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, ID);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments[1]);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 50);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 50);
    // The next life has the place of the one that was killed at once.
    properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "one");
    properties.put(RevenantConfig.POOL_BYTES, 16 << 20);
    KafkaStreams streams =
        new KafkaStreams(topology(), properties, new RevenantClientSupplier(new Telling()));
    streams.setStateListener((now, before) -> say("STATE " + now));
    streams.setGlobalStateRestoreListener(new Restores());
    streams.setUncaughtExceptionHandler(failure -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(4);
      throw new AssertionError();
    });
    streams.start();
    if (System.in.read() < 0) {
      Runtime.getRuntime().halt(3);
    }
    streams.close();
    say("CLOSED");
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static final class Restores implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long first, long end) {
      say("RESTORE %s %d %d".formatted(partition.topic(), partition.partition(), first));
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long end, long records) {
      // the end tells the sum
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long records) {
      say("RESTORED %s %d %d".formatted(partition.topic(), partition.partition(), records));
    }
  }

  /** Producers that say what they have committed. */
  private static final class Telling extends DefaultKafkaClientSupplier {
    @Override
    @SuppressWarnings("unchecked")
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
      Producer<byte[], byte[]> producer = super.getProducer(config);
      Map<TopicPartition, Long> last = new ConcurrentHashMap<>();
      return (Producer<byte[], byte[]>)
          Proxy.newProxyInstance(
              Producer.class.getClassLoader(),
              new Class<?>[] {Producer.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("send") && arguments.length == 2) {
                  return producer.send(
                      (ProducerRecord<byte[], byte[]>) arguments[0],
                      remembering(last, (Callback) arguments[1]));
                }
                Object result;
                try {
                  result = method.invoke(producer, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
                if (method.getName().equals("commitTransaction")) {
                  StringBuilder line = new StringBuilder("COMMIT");
                  new TreeMap<>(names(last)).forEach((name, at) -> line.append(name).append(at));
                  say(line.toString());
                }
                return result;
              });
    }

    private static Callback remembering(Map<TopicPartition, Long> last, Callback callback) {
      return (metadata, failure) -> {
        if (failure == null && metadata.topic().endsWith("-changelog")) {
          last.merge(
              new TopicPartition(metadata.topic(), metadata.partition()),
              metadata.offset(),
              Math::max);
        }
        callback.onCompletion(metadata, failure);
      };
    }

    private static Map<String, Long> names(Map<TopicPartition, Long> last) {
      Map<String, Long> names = new TreeMap<>();
      last.forEach(
          (at, offset) -> names.put(" " + at.topic() + " " + at.partition() + " ", offset));
      return names;
    }
  }
}
