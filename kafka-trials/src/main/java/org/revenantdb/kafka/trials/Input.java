package org.revenantdb.kafka.trials;

import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Records with random keys, a millisecond apart, and how often each key was sent.
 *
 * <p>Threads: one.
 */
final class Input implements AutoCloseable {
  /** A broker deletes what is a week old, and refuses what is an hour ahead. */
  private static final long TWO_HOURS = 7_200_000;

  private static final byte[] VALUE = new byte[20];

  private final KafkaProducer<Long, byte[]> producer;
  private final String topic;
  private final int[] counts;
  private final SplittableRandom random;
  private final long beginning = System.currentTimeMillis() - TWO_HOURS;
  private long sent;

  Input(String servers, String topic, int keys, long seed) {
    this.topic = topic;
    this.counts = new int[keys];
    this.random = new SplittableRandom(seed);
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                servers,
                ProducerConfig.LINGER_MS_CONFIG,
                5,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                Broker.PATIENCE_MILLIS,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                Broker.PATIENCE_MILLIS),
            new LongSerializer(),
            new ByteArraySerializer());
  }

  /** Sends records with each key once, in random order, which is the same for the same seed. */
  void sendEachKey() {
    int keys = counts.length;
    int step = coprime(keys);
    long key = random.nextInt(keys);
    for (int i = 0; i < keys; i++) {
      sendOne((int) key);
      key = (key + step) % keys;
    }
    producer.flush();
  }

  /** A step that comes to each key before it comes to one again, far from the last one. */
  private int coprime(int keys) {
    int step = (int) (keys * 0.618) | 1;
    while (gcd(step, keys) != 1) {
      step += 2;
    }
    return step;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** Sends records with random keys. */
  void send(int records) {
    for (int i = 0; i < records; i++) {
      sendOne(random.nextInt(counts.length));
    }
    producer.flush();
  }

  /** Sends a record to each partition that has keys. */
  void sendToEachPartition() {
    for (int key = 0; key < Math.min(Counting.PARTITIONS, counts.length); key++) {
      sendOne(key);
    }
    producer.flush();
  }

  /** Sends a record to each partition that is counted nowhere, because it has no key. */
  void sendUncounted() {
    for (int partition = 0; partition < Counting.PARTITIONS; partition++) {
      sendTo(partition, null);
    }
    producer.flush();
  }

  private void sendOne(int key) {
    sendTo(key % Counting.PARTITIONS, (long) key);
    counts[key]++;
  }

  private void sendTo(int partition, @Nullable Long key) {
    var _ =
        producer.send(
            new ProducerRecord<>(topic, partition, beginning + sent, key, VALUE),
            (metadata, failure) -> {
              if (failure != null) {
                System.err.println("the broker did not take a record of " + topic + ": " + failure);
              }
            });
    sent++;
  }

  long sent() {
    return sent;
  }

  /** What {@link Checksum} must be of the counts. */
  Checksum expected() {
    Checksum expected = new Checksum();
    for (int key = 0; key < counts.length; key++) {
      if (counts[key] > 0) {
        expected.add(key, counts[key]);
      }
    }
    return expected;
  }

  @Override
  public void close() {
    producer.close();
  }
}
