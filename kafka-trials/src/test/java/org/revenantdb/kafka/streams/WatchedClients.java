package org.revenantdb.kafka.streams;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Our clients of an instance of Kafka Streams in this JVM. A test waits for what the instance has
 * processed and committed, and aborts transactions.
 *
 * <p>Threads: any.
 */
final class WatchedClients implements KafkaClientSupplier {
  private final KafkaClientSupplier clients = new RevenantClientSupplier();

  /** What the current thread has used last. */
  private final ThreadLocal<Producer<?, ?>> used = new ThreadLocal<>();

  /** The next offset of each input that was processed, whether it is committed or not. */
  private final Map<TopicPartition, Long> processed = new HashMap<>();

  /** The next offset of each input that is committed, and the stores as well. */
  private final Map<TopicPartition, Long> committed = new HashMap<>();

  private KafkaStreams.State state = KafkaStreams.State.CREATED;

  /** The instance that has these clients. */
  void watch(KafkaStreams streams) {
    streams.setStateListener((now, _) -> {
      synchronized (this) {
        state = now;
        notifyAll();
      }
    });
  }

  /** A processor has seen a record. */
  synchronized void processed(RecordMetadata record) {
    processed.merge(
        new TopicPartition(record.topic(), record.partition()), record.offset() + 1, Math::max);
    notifyAll();
  }

  /** Waits until a processor has seen all records before an offset. */
  void awaitProcessed(TopicPartition input, long next) throws InterruptedException {
    await(processed, input, next);
  }

  /** Waits until the broker and the stores have committed all records before an offset. */
  void awaitCommitted(TopicPartition input, long next) throws InterruptedException {
    await(committed, input, next);
  }

  private synchronized void await(Map<TopicPartition, Long> reached, TopicPartition in, long next)
      throws InterruptedException {
    while (reached.getOrDefault(in, 0L) < next) {
      switch (state) {
        case PENDING_ERROR, ERROR, PENDING_SHUTDOWN, NOT_RUNNING ->
            throw new AssertionError(state + " before " + next + " of " + in + ": " + reached);
        default -> wait();
      }
    }
  }

  /** Aborts the transaction of the current thread of Kafka Streams, and begins the next one. */
  void abort() {
    Producer<?, ?> producer = used.get();
    producer.abortTransaction();
    producer.beginTransaction();
  }

  @Override
  @SuppressWarnings("unchecked")
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    Producer<byte[], byte[]> producer = clients.getProducer(config);
    Map<TopicPartition, Long> sent = new HashMap<>();
    return (Producer<byte[], byte[]>)
        Proxy.newProxyInstance(
            WatchedClients.class.getClassLoader(),
            new Class<?>[] {Producer.class},
            (_, method, arguments) -> {
              used.set(producer);
              Object result = invoke(producer, method, arguments);
              switch (method.getName()) {
                case "beginTransaction" -> sent.clear();
                case "sendOffsetsToTransaction" ->
                    ((Map<TopicPartition, OffsetAndMetadata>) arguments[0])
                        .forEach((input, next) -> sent.put(input, next.offset()));
                case "commitTransaction" -> committed(sent);
                default -> {}
              }
              return result;
            });
  }

  private static Object invoke(Object producer, Method method, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(producer, arguments);
    } catch (InvocationTargetException failed) {
      throw failed.getCause();
    }
  }

  private synchronized void committed(Map<TopicPartition, Long> offsets) {
    committed.putAll(offsets);
    notifyAll();
  }

  @Override
  public Admin getAdmin(Map<String, Object> config) {
    return clients.getAdmin(config);
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
