package org.revenantdb.kafka.trials;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;

/**
 * How many records a second an application counts that has a whole topic before it. Before the
 * clock starts the stores are filled, and the compiler does its work.
 */
public final class ThroughputMain {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final long first;
  private final long last;
  private final CountDownLatch done = new CountDownLatch(1);

  /** Only the one stream thread comes here. */
  private long seen;

  private long start;
  private long end;
  private long busy;

  private ThroughputMain(long first, long last) {
    this.first = first;
    this.last = last;
  }

  /**
   * Prints {@code = records_per_second} and {@code = record_cpu_us}, the processor time of the
   * application for a record, which means more on a machine that does other things as well.
   *
   * @param arguments stores, servers, directory, topic, {@code count} or {@code window}, records
   *     before the clock starts, records until it ends
   * @throws InterruptedException if the thread is interrupted
   */
  public static void main(String[] arguments) throws InterruptedException {
    Path directory = Path.of(arguments[2]);
    String application = arguments[4] + "-" + arguments[0] + "-" + directory.getFileName();
    Properties properties =
        Counting.properties(Stores.of(arguments[0]), arguments[1], directory, application, "one");
    ThroughputMain trial =
        new ThroughputMain(Long.parseLong(arguments[5]), Long.parseLong(arguments[6]));
    boolean isWindowed = arguments[4].equals("window");
    try (KafkaStreams streams =
        new KafkaStreams(
            Counting.topology(properties, arguments[3], isWindowed, trial::see), properties)) {
      streams.setUncaughtExceptionHandler(failure -> {
        failure.printStackTrace();
        Runtime.getRuntime().halt(4);
        throw new AssertionError(failure);
      });
      streams.start();
      trial.done.await();
    }
    long records = trial.last - trial.first;
    Told.tell("records_per_second", records / ((trial.end - trial.start) / 1e9));
    Told.tell("record_cpu_us", trial.busy / 1e3 / records);
  }

  private void see() {
    seen++;
    if (seen == first) {
      start = System.nanoTime();
      busy = SYSTEM.getProcessCpuTime();
    } else if (seen == last) {
      end = System.nanoTime();
      busy = SYSTEM.getProcessCpuTime() - busy;
      done.countDown();
    }
  }
}
