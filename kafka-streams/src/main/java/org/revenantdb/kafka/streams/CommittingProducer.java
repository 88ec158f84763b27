package org.revenantdb.kafka.streams;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.jspecify.annotations.Nullable;

/**
 * The producer of a stream thread. When it has committed a transaction, the stores of the tasks
 * that the thread has processed commit as well.
 *
 * <p>Threads: as the producer; a transaction belongs to one thread.
 */
final class CommittingProducer implements Producer<byte[], byte[]> {
  /** How the names of all changelog topics end that Kafka Streams writes to. */
  private static final String CHANGELOG = "-changelog";

  /** Between the name of an instance and the rest of the names of its threads. */
  private static final String THREAD = "-StreamThread-";

  /**
   * How many of each client id are not closed: a thread makes a new one before it closes the old.
   */
  private static final ConcurrentMap<String, Integer> OPEN = new ConcurrentHashMap<>();

  private final Producer<byte[], byte[]> producer;
  private final String clientId;
  private volatile boolean closed;

  /** Offsets of the last records of this transaction, filled in by the producer's thread. */
  private final ConcurrentMap<TopicPartition, Long> written = new ConcurrentHashMap<>();

  /**
   * Offsets of the last input records of this transaction. A source topic can be the changelog of
   * its store. Another task of the thread may write to that topic, so its offsets are not among
   * those that are written: the store has only what its own task has read.
   */
  private final Map<TopicPartition, Long> consumed = new HashMap<>();

  private CommittingProducer(Producer<byte[], byte[]> producer, String clientId) {
    this.producer = producer;
    this.clientId = clientId;
  }

  /** A producer that commits the stores of its thread. */
  static CommittingProducer of(Producer<byte[], byte[]> producer, String clientId) {
    OPEN.merge(clientId, 1, Integer::sum);
    return new CommittingProducer(producer, clientId);
  }

  /**
   * Whether an instance has such producers. They are there before its first store.
   *
   * @param instance its client id
   */
  static boolean isInUseBy(String instance) {
    return OPEN.keySet().stream().anyMatch(client -> client.startsWith(instance + THREAD));
  }

  @Override
  public void beginTransaction() {
    forget();
    producer.beginTransaction();
  }

  @Override
  public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> message) {
    return send(message, null);
  }

  @Override
  public Future<RecordMetadata> send(
      ProducerRecord<byte[], byte[]> message, @Nullable Callback callback) {
    if (!message.topic().endsWith(CHANGELOG)) {
      return producer.send(message, callback);
    }
    return producer.send(
        message,
        (metadata, failure) -> {
          if (failure == null && metadata != null && metadata.hasOffset()) {
            written.merge(
                new TopicPartition(metadata.topic(), metadata.partition()),
                metadata.offset(),
                Math::max);
          }
          if (callback != null) {
            callback.onCompletion(metadata, failure);
          }
        });
  }

  @Override
  public void sendOffsetsToTransaction(
      Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
    producer.sendOffsetsToTransaction(offsets, group);
    offsets.forEach((partition, next) -> consumed.put(partition, next.offset() - 1));
  }

  @Override
  public void commitTransaction() {
    TaskTransaction.demandCommittable();
    producer.commitTransaction();
    TaskTransaction.producerHasCommitted(
        (changelog, isInput) -> isInput ? consumed.get(changelog) : written.get(changelog));
    forget();
  }

  @Override
  public void abortTransaction() {
    forget();
    TaskTransaction.producerHasAborted(); // first: the abort may fail, and is one nevertheless
    producer.abortTransaction();
  }

  private void forget() {
    written.clear();
    consumed.clear();
  }

  @Override
  public void initTransactions() {
    producer.initTransactions();
  }

  @Override
  public void registerMetricForSubscription(KafkaMetric metric) {
    producer.registerMetricForSubscription(metric);
  }

  @Override
  public void unregisterMetricFromSubscription(KafkaMetric metric) {
    producer.unregisterMetricFromSubscription(metric);
  }

  @Override
  public void flush() {
    producer.flush();
  }

  @Override
  public List<PartitionInfo> partitionsFor(String topic) {
    return producer.partitionsFor(topic);
  }

  @Override
  public Map<MetricName, ? extends Metric> metrics() {
    return producer.metrics();
  }

  @Override
  public Uuid clientInstanceId(Duration timeout) {
    return producer.clientInstanceId(timeout);
  }

  @Override
  public void close() {
    closes();
    producer.close();
  }

  @Override
  public void close(Duration timeout) {
    closes();
    producer.close(timeout);
  }

  private void closes() {
    if (!closed) {
      closed = true;
      OPEN.computeIfPresent(clientId, (_, open) -> open == 1 ? null : open - 1);
      TaskTransaction.producerHasAborted(); // the broker aborts what is open
    }
  }
}
