package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.revenantdb.kafka.trials.Broker;

/**
 * The input of a {@link CountingApplication}, and a model of what its outputs and stores are then.
 *
 * <p>Threads: one.
 */
final class CountingTrial implements AutoCloseable {
  static final int PARTITIONS = 2;

  /** In all partitions. */
  static final int STORES = 3 * PARTITIONS;

  private static final int KEYS = 500;
  private static final int LARGEST = 1_000;

  private final Broker broker;
  private final Random random;
  private final Admin admin;

  /** What was sent, by partition. An offset is the number of a record. */
  private final List<List<ProducerRecord<String, Long>>> sent =
      IntStream.range(0, PARTITIONS)
          .<List<ProducerRecord<String, Long>>>mapToObj(_ -> new ArrayList<>())
          .toList();

  CountingTrial(Broker broker, Random random) throws InterruptedException {
    this.broker = broker;
    this.random = random;
    this.admin = broker.admin();
    broker.createTopics(PARTITIONS, "in", "out", "grouped");
  }

  /** Lives of the application. */
  KilledLives lives(Path home, String... properties) {
    return new KilledLives(
        CountingApplication.class, broker, home, /* isOurs= */ _ -> true, properties);
  }

  /** Lives of the application whose state is on another disk. */
  KilledLives lives(SmallDisk disk, Path home, String... properties) {
    return new KilledLives(
        disk.command(),
        CountingApplication.class,
        broker,
        home,
        disk.place(),
        /* isOurs= */ _ -> true,
        properties);
  }

  /** The stores of dead lives. */
  static StoredRows stored(KilledLives lives) {
    return new StoredRows(
        lives, lives.state().resolve(CountingApplication.ID), _ -> StoredRows.Rows.PLAIN);
  }

  Admin admin() {
    return admin;
  }

  // --- input

  void send(int records) {
    try (Sending sending = new Sending(broker)) {
      for (int i = 0; i < records; i++) {
        int key = random.nextInt(KEYS);
        ProducerRecord<String, Long> record =
            new ProducerRecord<>(
                "in", key % PARTITIONS, "key " + key, (long) random.nextInt(LARGEST));
        sending.send(record);
        sent.get(key % PARTITIONS).add(record);
      }
    }
  }

  int sent() {
    return sent.stream().mapToInt(List::size).sum();
  }

  /** Waits until all input is processed and committed, in both sub-topologies. */
  void awaitProcessed(KilledLives lives, KilledLives.Life life) throws Exception {
    lives.awaitProcessed(admin, CountingApplication.ID, life, ends());
    Map<TopicPartition, Long> between = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> record :
        lives.committed(CountingApplication.BETWEEN, PARTITIONS)) {
      between.merge(
          new TopicPartition(record.topic(), record.partition()), record.offset() + 1, Math::max);
    }
    lives.awaitProcessed(admin, CountingApplication.ID, life, between);
  }

  // --- the model

  private Map<TopicPartition, Long> ends() {
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (int i = 0; i < PARTITIONS; i++) {
      ends.put(new TopicPartition("in", i), (long) sent.get(i).size());
    }
    return ends;
  }

  Map<String, Long> counts() {
    return counts(ends());
  }

  private Map<String, Long> counts(Map<TopicPartition, Long> processed) {
    return sums(processed, ProducerRecord::key, _ -> 1L);
  }

  Map<String, Long> groups() {
    return groups(ends());
  }

  private Map<String, Long> groups(Map<TopicPartition, Long> processed) {
    return sums(processed, record -> CountingApplication.group(record.value()), _ -> 1L);
  }

  Map<String, Long> sums() {
    return sums(ends(), ProducerRecord::key, ProducerRecord::value);
  }

  private Map<String, Long> sums(
      Map<TopicPartition, Long> processed,
      Function<ProducerRecord<String, Long>, String> key,
      Function<ProducerRecord<String, Long>, Long> value) {
    Map<String, Long> sums = new TreeMap<>();
    for (int i = 0; i < PARTITIONS; i++) {
      sent.get(i).stream()
          .limit(processed.getOrDefault(new TopicPartition("in", i), 0L))
          .forEach(record -> sums.merge(key.apply(record), value.apply(record), Long::sum));
    }
    return sums;
  }

  // --- comparisons

  /**
   * The output is what the model computes for the input that is processed, exactly once. No
   * transaction of a killed life is open.
   */
  void compareOutput(KilledLives lives) throws Exception {
    Map<TopicPartition, Long> processed = lives.processed(admin, CountingApplication.ID);
    assertEquals(counts(processed), steps(lives.committed("out", PARTITIONS)));
    Map<String, Long> between = new TreeMap<>();
    Map<String, Long> grouped = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> record :
        lives.committed(CountingApplication.BETWEEN, PARTITIONS)) {
      between.merge(KilledLives.text(record), 1L, Long::sum);
      TopicPartition partition = new TopicPartition(record.topic(), record.partition());
      if (record.offset() < processed.getOrDefault(partition, 0L)) {
        grouped.merge(KilledLives.text(record), 1L, Long::sum);
      }
    }
    assertEquals(groups(processed), between);
    assertEquals(grouped, steps(lives.committed("grouped", PARTITIONS)));
  }

  /** All is processed, exactly once: also the output is complete. */
  void compareAllOutput(KilledLives lives) throws Exception {
    compareOutput(lives);
    assertEquals(counts(), last(lives, "out"));
    assertEquals(groups(), last(lives, "grouped"));
  }

  /** The last count of each key; each one is one more than the one before. */
  private static Map<String, Long> steps(List<ConsumerRecord<byte[], byte[]>> results) {
    Map<String, Long> last = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> result : results) {
      assertEquals(
          last.getOrDefault(KilledLives.text(result), 0L) + 1,
          KilledLives.number(result),
          () -> "twice, or lost: " + KilledLives.text(result));
      last.put(KilledLives.text(result), KilledLives.number(result));
    }
    return last;
  }

  /** The last count of each key. */
  static Map<String, Long> last(KilledLives lives, String topic) {
    Map<String, Long> last = new TreeMap<>();
    lives
        .committed(topic, PARTITIONS)
        .forEach(result -> last.put(KilledLives.text(result), KilledLives.number(result)));
    return last;
  }

  /**
   * The application was closed in order when all was processed exactly once: output and stores are
   * those of the model, and no changelog has more than its store.
   *
   * @param home for copies
   */
  void compareAll(KilledLives lives, Path home) throws Exception {
    compareAllOutput(lives);
    StoredRows rows = stored(lives);
    Map<TopicPartition, Long> stored = rows.compareWithChangelogs(home);
    assertEquals(STORES, stored.size());
    assertEquals(counts(), rows.counts(CountingApplication.COUNTS));
    assertEquals(sums(), rows.counts(CountingApplication.SUMS));
    assertEquals(groups(), rows.counts(CountingApplication.GROUPS));
    rows.demandNothingBehind(stored);
  }

  @Override
  public void close() {
    admin.close();
  }
}
