package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.revenantdb.kafka.streams.RevenantConfig;
import org.revenantdb.kafka.streams.RevenantStores;

/**
 * The memory that uncommitted rows take: a processor writes rows for each record, and no commit
 * comes before it has written all of them. The store has no changelog, so what is measured is the
 * store and not the producer.
 */
public final class MemoryMain {
  private static final String STORE = "rows";
  private static final int ROW_BYTES = 1_000;
  private static final long POOL_BYTES = 32L << 20;
  private static final int NO_COMMIT_MILLIS = 800_000;
  private static final String STATUS = "/proc/self/status";

  private final long rows;
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile boolean isWriting;
  private long before;
  private long highest;
  private long highestHeap;

  private MemoryMain(long rows) {
    this.rows = rows;
  }

  /**
   * Prints {@code = uncommitted_mb}: the most that the live heap and the memory of the process
   * beyond heap and pool have grown together.
   *
   * @param arguments stores, servers, directory, topic with at least one record, megabytes to write
   * @throws InterruptedException if the thread is interrupted
   */
  public static void main(String[] arguments) throws InterruptedException {
    if (!Files.isReadable(Path.of(STATUS))) {
      throw new IllegalStateException("the memory of a process is measured on Linux alone");
    }
    Stores stores = Stores.of(arguments[0]);
    Path directory = Path.of(arguments[2]);
    Properties properties =
        Counting.properties(
            stores,
            arguments[1],
            directory,
            "memory-" + arguments[0] + "-" + directory.getFileName(),
            "one");
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, NO_COMMIT_MILLIS);
    properties.put(
        StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG),
        NO_COMMIT_MILLIS + 1_000);
    properties.put(RevenantConfig.POOL_BYTES, POOL_BYTES);
    MemoryMain trial = new MemoryMain(Long.parseLong(arguments[4]) * 1_000_000 / ROW_BYTES);
    KeyValueBytesStoreSupplier supplier =
        stores == Stores.REVENANT
            ? RevenantStores.keyValueStore(STORE)
            : org.apache.kafka.streams.state.Stores.persistentKeyValueStore(STORE);
    Topology topology = new Topology();
    topology
        .addSource(
            "in", Serdes.Long().deserializer(), Serdes.ByteArray().deserializer(), arguments[3])
        .addProcessor("write", () -> trial.new Writer(), "in")
        .addStateStore(
            org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                    supplier, Serdes.Bytes(), Serdes.ByteArray())
                .withCachingDisabled()
                .withLoggingDisabled(),
            "write");
    try (KafkaStreams streams = new KafkaStreams(topology, properties)) {
      streams.setUncaughtExceptionHandler(failure -> {
        failure.printStackTrace();
        Runtime.getRuntime().halt(4);
        throw new AssertionError(failure);
      });
      streams.start();
      trial.watch();
    }
    Told.tell("uncommitted_mb", trial.highest / 1e6);
    Told.tell("uncommitted_heap_mb", trial.highestHeap / 1e6);
  }

  /** Looks at the memory again and again until all rows are written. */
  private void watch() throws InterruptedException {
    while (done.getCount() > 0) {
      if (isWriting) {
        look();
      }
      done.await(5, TimeUnit.MILLISECONDS);
    }
    look();
  }

  private void look() {
    long heap = liveHeap();
    long offHeap = Math.max(0, offHeap() - before - POOL_BYTES);
    highestHeap = Math.max(highestHeap, heap);
    highest = Math.max(highest, heap + offHeap);
  }

  /** What the last collection of each part of the heap has left. */
  private static long liveHeap() {
    long live = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      MemoryUsage left = pool.getCollectionUsage();
      live += left == null ? 0 : left.getUsed();
    }
    return live;
  }

  /** Memory of this process; the heap is touched from the beginning, so it does not grow. */
  private static long offHeap() {
    try {
      for (String line : Files.readAllLines(Path.of(STATUS))) {
        if (line.startsWith("RssAnon:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
      throw new IllegalStateException(STATUS + " does not tell the memory of the process");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The first record of a task writes all rows. */
  private final class Writer implements Processor<Long, byte[], Void, Void> {
    private @Nullable KeyValueStore<Bytes, byte[]> store;

    @Override
    public void init(ProcessorContext<Void, Void> context) {
      store = context.getStateStore(STORE);
    }

    @Override
    public void process(Record<Long, byte[]> input) {
      KeyValueStore<Bytes, byte[]> into = store;
      if (into == null || isWriting) {
        return;
      }
      before = offHeap();
      isWriting = true;
      for (long row = 0; row < rows; row++) {
        byte[] key = ByteBuffer.allocate(Long.BYTES).putLong(row * 0x9E37_79B9_7F4A_7C15L).array();
        into.put(Bytes.wrap(key), new byte[ROW_BYTES]);
      }
      done.countDown();
    }
  }
}
