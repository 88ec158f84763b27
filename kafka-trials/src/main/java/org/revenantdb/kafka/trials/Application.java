package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.StateQueryRequest;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;

/**
 * The application in a JVM of its own, which may be killed. Its standard output and input:
 *
 * <pre>
 * RUNNING nanoseconds records restoring    first time: since it was made, restored, since that began
 * check                                    asked: the checksum of its rows
 * CHECKSUM text
 * close                                    asked: to end in order
 * CLOSED
 * </pre>
 */
public final class Application {
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final AtomicLong restored = new AtomicLong();
  private final AtomicLong restoringSince = new AtomicLong();
  private boolean wasRunning;

  private Application() {}

  /**
   * Runs it until its standard input ends.
   *
   * @param arguments stores, servers, directory, name of the application, topic
   */
  public static void main(String[] arguments) {
    try {
      new Application().run(arguments);
    } catch (IOException | RuntimeException failure) {
      failure.printStackTrace();
      Runtime.getRuntime().halt(4);
    }
  }

  /** Nanoseconds since the first restoration began; 0 without one. */
  private long restoring(long now) {
    long since = restoringSince.get();
    return since == 0 ? 0 : now - since;
  }

  private void run(String[] arguments) throws IOException {
    System.setOut(System.err);
    Properties properties =
        Counting.properties(
            Stores.of(arguments[0]), arguments[1], Path.of(arguments[2]), arguments[3], "one");
    long start = System.nanoTime();
    KafkaStreams streams =
        new KafkaStreams(
            Counting.topology(properties, arguments[4], /* isWindowed= */ false, () -> {}),
            properties);
    streams.setGlobalStateRestoreListener(new Restores());
    streams.setStateListener((now, before) -> {
      if (now == KafkaStreams.State.RUNNING && !wasRunning) {
        wasRunning = true;
        long running = System.nanoTime();
        // Not until the last onRestoreEnd: the commit that makes restored rows visible comes later.
        out.println(
            "RUNNING %d %d %d".formatted(running - start, restored.get(), restoring(running)));
      }
    });
    streams.setUncaughtExceptionHandler(failure -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(4);
      throw new AssertionError(failure);
    });
    streams.start();
    for (String asked = line(); asked != null; asked = line()) {
      if (asked.equals("check")) {
        out.println("CHECKSUM " + checksum(streams));
      } else {
        streams.close();
        out.println("CLOSED");
        return;
      }
    }
    Runtime.getRuntime().halt(3); // the one that asks has ended
  }

  private static @Nullable String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
      if (c < 0) {
        return null;
      }
      line.append((char) c);
    }
    return line.toString();
  }

  /**
   * Of what the stores have. A range query does not look into the record cache before them, which
   * has the rows of this life whether the stores have committed them or not.
   */
  private static Checksum checksum(KafkaStreams streams) {
    Map<Integer, QueryResult<KeyValueIterator<Long, Long>>> partitions =
        streams
            .query(
                StateQueryRequest.inStore(Counting.STORE)
                    .withQuery(RangeQuery.<Long, Long>withNoBounds()))
            .getPartitionResults();
    if (partitions.size() != Counting.PARTITIONS) {
      throw new IllegalStateException("not all partitions are there: " + partitions.keySet());
    }
    Checksum checksum = new Checksum();
    for (QueryResult<KeyValueIterator<Long, Long>> of : partitions.values()) {
      try (KeyValueIterator<Long, Long> rows = of.getResult()) {
        rows.forEachRemaining(row -> checksum.add(row.key, row.value));
      }
    }
    return checksum;
  }

  private final class Restores implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long first, long end) {
      restoringSince.compareAndSet(0, System.nanoTime());
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long end, long records) {
      // the end tells the sum
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long records) {
      restored.addAndGet(records);
    }
  }
}
