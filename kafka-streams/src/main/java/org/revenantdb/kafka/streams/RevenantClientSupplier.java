package org.revenantdb.kafka.streams;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * Clients of Kafka Streams whose producers tell the stores of each committed transaction. Set it
 * where records are processed exactly once:
 *
 * {@snippet :
 * properties.put(
 *     StreamsConfig.DEFAULT_CLIENT_SUPPLIER_CONFIG, RevenantClientSupplier.class.getName());
 * }
 *
 * <p>Kafka 4.3 commits a store under exactly-once only when its task is restored, suspended or
 * closed. Without this class all is correct, but after a kill the changelog is read from there on.
 * With it the stores commit with each transaction of the producer. Under at-least-once Kafka
 * commits the stores itself.
 *
 * <p>The restore consumer waits at most 100 ms for records of a changelog, where Kafka's default is
 * 500 ms. The stores of a start have little or nothing to restore. With Kafka's default such a
 * start mostly waits: a request for a changelog that has come to its end delays those for the
 * others. {@code restore.consumer.fetch.max.wait.ms}, if it is set, comes first. Each stream thread
 * has a restore consumer. While its standby tasks are idle, it makes up to ten requests a second to
 * each broker.
 */
public final class RevenantClientSupplier implements KafkaClientSupplier {
  private static final int RESTORE_WAIT_MILLIS = 100;

  private final KafkaClientSupplier clients;

  /** The clients that Kafka Streams uses by default. */
  public RevenantClientSupplier() {
    this(new DefaultKafkaClientSupplier());
  }

  /**
   * Clients of another supplier, for the constructor of {@code KafkaStreams}.
   *
   * @param clients makes the clients
   */
  public RevenantClientSupplier(KafkaClientSupplier clients) {
    this.clients = Objects.requireNonNull(clients, "clients");
  }

  @Override
  public Admin getAdmin(Map<String, Object> config) {
    RevenantConfig.check(config); // in the constructor of KafkaStreams, before a thread is there
    return clients.getAdmin(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    Producer<byte[], byte[]> producer = clients.getProducer(config);
    if (!config.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
      return producer; // at least once: Kafka commits the stores
    }
    return CommittingProducer.of(
        producer, String.valueOf(config.get(CommonClientConfigs.CLIENT_ID_CONFIG)));
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    return clients.getConsumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
    Map<String, Object> all = new HashMap<>(config);
    all.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, RESTORE_WAIT_MILLIS);
    return RestoreLag.observed(clients.getRestoreConsumer(all));
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
    return clients.getGlobalConsumer(config);
  }
}
