package org.revenantdb.jmh.commit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.baseline.PageGranularStore;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;

/**
 * A JVM in which the queue is processed lazily at twenty entries a second, while accounts are read
 * durably at several rates. It is the experiment of the paper's Figure 3, for our rule and for the
 * paper's side by side, with the same entries and the same reads at the same times.
 *
 * <p>Forces are counted at the system call in Java by the recorder of the JVM, with the file name,
 * so forces of the log are distinguished from those of pages and of the control file.
 *
 * <p>Arguments: directory, seconds, milliseconds of the longest delay of a lazy commit, seed, rates
 * of reads a second.
 */
public final class ForcesFork {
  /** Entries a second. */
  private static final int UPDATES = 20;

  /** This many rows of the queue's size fit on a page of 8 KiB that is two thirds full. */
  private static final int ROWS_PER_PAGE = 50;

  private static final long SECOND = 1_000_000_000;

  /** The event of a force. */
  static final String FORCE = "jdk.FileForce";

  private ForcesFork() {}

  /** One of the two, at one rate. */
  private interface Store {
    void processLazily(Random random);

    void readDurably(int account);
  }

  /**
   * Prints {@code = forces,WHO,reads=N}, for {@code rows} (ours) and {@code pages} (the paper's),
   * and {@code = commits,WHO,reads=N}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[0])).toRealPath();
    long seconds = Long.parseLong(arguments[1]);
    Duration delay = Duration.ofMillis(Long.parseLong(arguments[2]));
    long seed = Long.parseLong(arguments[3]);
    List<AutoCloseable> open = new ArrayList<>();
    Map<String, Run> runs = new TreeMap<>();
    for (String rate : List.of(arguments).subList(4, arguments.length)) {
      QueueDatabase queue =
          new QueueDatabase(
              directory.resolve("rows-" + rate),
              DatabaseOptions.defaults().withMaxLazyDelay(delay));
      open.add(queue);
      runs.put("rows," + rate, new Run(ours(queue), Integer.parseInt(rate), seed, seconds));
      Log log = log(directory.resolve("pages-" + rate).resolve("log"));
      open.add(log);
      runs.put(
          "pages," + rate,
          new Run(theirs(log, delay.toNanos()), Integer.parseInt(rate), seed, seconds));
    }
    Path events = directory.resolve("forces.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(FORCE).withThreshold(Duration.ZERO).withoutStackTrace();
      recording.start();
      long start = System.nanoTime() + SECOND / 10;
      runs.values().forEach(run -> run.start(start));
      for (Run run : runs.values()) {
        run.join();
      }
      recording.stop();
      recording.dump(events);
    }
    for (AutoCloseable each : open) {
      each.close();
    }
    Map<String, Long> forces = count(events, directory);
    runs.forEach((name, run) -> {
      String who = name.substring(0, name.indexOf(','));
      String rate = name.substring(name.indexOf(',') + 1);
      Told.tell("forces," + who + ",reads=" + rate, forces.getOrDefault(who + "-" + rate, 0L));
      Told.tell("commits," + who + ",reads=" + rate, (double) run.commits);
    });
  }

  private static Log log(Path directory) throws IOException {
    Files.createDirectories(directory);
    return LogFork.start(
        directory,
        new LogOptions(
            LogOptions.DEFAULT_SEGMENT_SIZE,
            LogOptions.DEFAULT_BUFFER_CAPACITY,
            LogOptions.DEFAULT_MAX_LOG_SIZE,
            "pages",
            new IoStatistics()));
  }

  private static Store ours(QueueDatabase queue) {
    return new Store() {
      @Override
      public void processLazily(Random random) {
        queue.processOne(TransactionOptions.lazy(), random);
      }

      @Override
      public void readDurably(int account) {
        queue.balance(TransactionOptions.durable(), account);
      }
    };
  }

  /** Accounts on separate pages; the queue, which has no durable readers, on others. */
  private static Store theirs(Log log, long lazyNanos) {
    int accounts = (Queue.ACCOUNTS + ROWS_PER_PAGE - 1) / ROWS_PER_PAGE * ROWS_PER_PAGE;
    PageGranularStore store =
        new PageGranularStore(
            log, accounts + Queue.LENGTH, Queue.ACCOUNT, ROWS_PER_PAGE, lazyNanos);
    return new Store() {
      private int head;

      @Override
      public void processLazily(Random random) {
        PageGranularStore.Change change = store.begin(/* lazy= */ true);
        change.add(Queue.updated(random), random.nextInt(100) - 50);
        change.add(accounts + head++ % Queue.LENGTH, 1);
        change.commit();
      }

      @Override
      public void readDurably(int account) {
        store.readDurably(account);
      }
    };
  }

  /** Forces of files in each log directory. */
  static Map<String, Long> count(Path events, Path directory) throws IOException {
    Map<String, Long> forces = new TreeMap<>();
    try (RecordingFile file = new RecordingFile(events)) {
      while (file.hasMoreEvents()) {
        RecordedEvent event = file.readEvent();
        // A recording also has the events of the engine, which are enabled by default.
        boolean isForce = event.getEventType().getName().equals(FORCE);
        String path = isForce ? event.getString("path") : null;
        if (path == null || !Path.of(path).startsWith(directory)) {
          continue;
        }
        Path relative = directory.relativize(Path.of(path));
        if (relative.getNameCount() > 1 && relative.getName(1).toString().equals("log")) {
          forces.merge(relative.getName(0).toString(), 1L, Long::sum);
        }
      }
    }
    return forces;
  }

  /** One store under its load: a thread that processes entries, one that reads. */
  private static final class Run {
    private final Store store;
    private final int reads;
    private final long seed;
    private final long seconds;
    private final List<Thread> threads = new ArrayList<>();
    private long commits;

    private Run(Store store, int reads, long seed, long seconds) {
      this.store = store;
      this.reads = reads;
      this.seed = seed;
      this.seconds = seconds;
    }

    private void start(long start) {
      threads.add(Thread.ofPlatform().start(() -> update(start)));
      if (reads > 0) {
        threads.add(Thread.ofPlatform().start(() -> read(start)));
      }
    }

    private void update(long start) {
      Random random = new Random(seed);
      for (long n = 0; n < seconds * UPDATES; n++) {
        awaitTime(start + n * SECOND / UPDATES);
        store.processLazily(random);
        commits++;
      }
    }

    /** At random times, or they would always meet the same moment between two updates. */
    private void read(long start) {
      Random random = new Random(seed + 1);
      double at = 0;
      while (true) {
        at += -Math.log(1 - random.nextDouble()) / reads;
        if (at >= seconds) {
          return;
        }
        awaitTime(start + (long) (at * SECOND));
        store.readDurably(Queue.read(random));
      }
    }

    private static void awaitTime(long time) {
      long left = time - System.nanoTime();
      while (left > 0) {
        LockSupport.parkNanos(left);
        left = time - System.nanoTime();
      }
    }

    private void join() throws InterruptedException {
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }
}
