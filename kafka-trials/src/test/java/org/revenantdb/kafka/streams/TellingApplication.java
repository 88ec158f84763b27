package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StandbyUpdateListener;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An application in a JVM of its own that is killed. It has our stores, and processes exactly once
 * unless a property has another guarantee. It writes lines to the standard output:
 *
 * <pre>
 * STATE name
 * PRODUCER transactionalId
 * RESTORE topic partition firstOffset            when a store begins to read its changelog
 * RESTORED topic partition records
 * STANDBY topic partition firstOffset            when a standby begins to read its changelog
 * SUSPENDED topic partition lastOffset           when it is no standby any longer
 * COMMIT thread topic partition offset, ...      when the broker has committed, before the stores do
 * CLOSED
 * </pre>
 *
 * A byte {@link #ASK} at its standard input makes it write its rows, another one end in order. A
 * life may stop behind a commit of the broker, before the stores commit, and wait to be killed.
 */
final class TellingApplication {
  static final int ASK = 'r';

  /** The longest that a broker allows, in milliseconds. */
  private static final int LONGEST = 900_000;

  private TellingApplication() {}

  /**
   * Runs it until its standard input ends.
   *
   * @param arguments servers, state directory, number of the commit behind which it stops or 0,
   *     then properties, as {@code name=value}
   * @param rows writes the rows by {@link #say}
   */
  static void run(
      String id,
      Topology topology,
      String[] arguments,
      java.util.function.Consumer<KafkaStreams> rows)
      throws IOException {
    KafkaStreams streams =
        new KafkaStreams(
            topology,
            properties(id, arguments),
            new RevenantClientSupplier(new Telling(Integer.parseInt(arguments[2]))));
    streams.setStateListener((now, before) -> say("STATE " + now));
    streams.setGlobalStateRestoreListener(new Restores());
    streams.setStandbyUpdateListener(new Standbys());
    streams.setUncaughtExceptionHandler(failure -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(4);
      throw new AssertionError();
    });
    streams.start();
    int asked = System.in.read();
    try {
      for (; asked == ASK; asked = System.in.read()) {
        rows.accept(streams);
      }
    } catch (RuntimeException failure) { // the threads of Kafka would go on
      failure.printStackTrace();
      Runtime.getRuntime().halt(5);
    }
    if (asked < 0) {
      Runtime.getRuntime().halt(3);
    }
    streams.close();
    say("CLOSED");
  }

  private static Properties properties(String id, String[] arguments) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments[1]);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 50);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1); // as the broker has it
    properties.put(
        StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 50);
    // A busy machine is not a failure.
    properties.put(
        StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), LONGEST);
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), LONGEST);
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), LONGEST);
    properties.put(StreamsConfig.consumerPrefix("default.api.timeout.ms"), LONGEST);
    properties.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_BLOCK_MS_CONFIG), LONGEST);
    properties.put(StreamsConfig.TASK_TIMEOUT_MS_CONFIG, (long) LONGEST);
    // The next life has the place of the one that was killed at once.
    properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "one");
    properties.put(RevenantConfig.POOL_BYTES, 16 << 20);
    // The records between two sub-topologies are compared with a model as long as a test runs.
    properties.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, Long.MAX_VALUE);
    for (String property : List.of(arguments).subList(3, arguments.length)) {
      int end = property.indexOf('=');
      properties.put(property.substring(0, end), property.substring(end + 1));
    }
    return properties;
  }

  /** Writes a line. */
  static synchronized void say(String line) {
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

  private static final class Standbys implements StandbyUpdateListener {
    @Override
    public void onUpdateStart(TopicPartition partition, String store, long first) {
      say("STANDBY %s %d %d".formatted(partition.topic(), partition.partition(), first));
    }

    @Override
    public void onBatchLoaded(
        TopicPartition partition, String store, TaskId task, long at, long records, long end) {
      // the end tells how far it came
    }

    @Override
    public void onUpdateSuspended(
        TopicPartition partition, String store, long at, long end, SuspendReason reason) {
      say("SUSPENDED %s %d %d".formatted(partition.topic(), partition.partition(), at));
    }
  }

  /** Producers, or consumers without transactions, that say what they have committed. */
  private static final class Telling extends DefaultKafkaClientSupplier {
    private final int stop;
    private final AtomicInteger commits = new AtomicInteger();

    /** The last record that the broker has taken, of each changelog, by the thread that sent it. */
    private final Map<Thread, Map<TopicPartition, Long>> taken = new ConcurrentHashMap<>();

    private Telling(int stop) {
      this.stop = stop;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
      Producer<byte[], byte[]> producer = super.getProducer(config);
      Object transactions = config.get(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
      if (transactions != null) {
        say("PRODUCER " + transactions);
      }
      return (Producer<byte[], byte[]>)
          proxy(
              Producer.class,
              (method, arguments) -> {
                if (method.getName().equals("send") && arguments.length == 2) {
                  return producer.send(
                      (ProducerRecord<byte[], byte[]>) arguments[0],
                      remembering(takenHere(), (Callback) arguments[1]));
                }
                Object result = method.invoke(producer, arguments);
                if (method.getName().equals("commitTransaction")) {
                  committed();
                }
                return result;
              });
    }

    /** Without transactions the commit of the input is that of the consumer. */
    @Override
    @SuppressWarnings("unchecked")
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
      Consumer<byte[], byte[]> consumer = super.getConsumer(config);
      return (Consumer<byte[], byte[]>)
          proxy(
              Consumer.class,
              (method, arguments) -> {
                Object result = method.invoke(consumer, arguments);
                if (method.getName().equals("commitSync")) {
                  committed();
                }
                return result;
              });
    }

    /** What is done for a method. */
    @FunctionalInterface
    private interface Call {
      @Nullable Object run(Method method, Object[] arguments) throws Throwable;
    }

    private static Object proxy(Class<?> client, Call call) {
      return Proxy.newProxyInstance(
          client.getClassLoader(),
          new Class<?>[] {client},
          (proxy, method, arguments) -> {
            try {
              return call.run(method, arguments);
            } catch (InvocationTargetException thrown) {
              throw thrown.getCause();
            }
          });
    }

    private Map<TopicPartition, Long> takenHere() {
      return taken.computeIfAbsent(Thread.currentThread(), _ -> new ConcurrentHashMap<>());
    }

    private void committed() throws InterruptedException {
      StringBuilder line = new StringBuilder("COMMIT ").append(Thread.currentThread().getName());
      new TreeMap<>(names(takenHere())).forEach((name, at) -> line.append(name).append(at));
      say(line.toString());
      if (commits.incrementAndGet() == stop) {
        new CountDownLatch(1).await();
      }
    }

    private static Callback remembering(Map<TopicPartition, Long> taken, Callback callback) {
      return (metadata, failure) -> {
        if (failure == null && metadata.topic().endsWith("-changelog")) {
          taken.merge(
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
