package org.revenantdb.kafka.streams;

import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
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
 * commits the stores itself, and this class has no effect.
 */
public final class RevenantClientSupplier implements KafkaClientSupplier {
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
    return clients.getAdmin(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    return CommittingProducer.of(clients.getProducer(config));
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    return clients.getConsumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
    return clients.getRestoreConsumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
    return clients.getGlobalConsumer(config);
  }
}
