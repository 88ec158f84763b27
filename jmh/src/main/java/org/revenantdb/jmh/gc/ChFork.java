package org.revenantdb.jmh.gc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.tpcc.ChReader;
import org.revenantdb.jmh.tpcc.TpccChecker;
import org.revenantdb.jmh.tpcc.TpccDriver;
import org.revenantdb.jmh.tpcc.TpccFork;
import org.revenantdb.jmh.tpcc.TpccLoader;
import org.revenantdb.jmh.tpcc.TpccScale;
import org.revenantdb.jmh.tpcc.TpccTables;

/**
 * A JVM that runs TPC-C, lazily, beside sessions that analyse the same tables, and checks the
 * conditions of the specification in the end.
 *
 * <p>Arguments: directory, warehouses, scale (a part of the specification's cardinalities),
 * sessions that write, sessions that read, {@code held} or {@code each} (each reader has one
 * snapshot for all its queries, or one for each), milliseconds to warm up, milliseconds to measure,
 * in how many parts, seed.
 */
public final class ChFork {
  private final Database database;
  private final TpccDriver driver;
  private final List<ChReader> readers;
  private final List<Moment> moments = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean isOver;

  /** What had been done, and what was there. */
  private record Moment(
      long nanoTime, long transactions, long rows, DatabaseStatistics statistics) {}

  private ChFork(Database database, TpccDriver driver, List<ChReader> readers) {
    this.database = database;
    this.driver = driver;
    this.readers = readers;
  }

  /**
   * Prints {@code = transactions} and {@code = rows_read} a second, {@code = cpu_us_per_tx}; {@code
   * = transactions,part=1} and so on, {@code = rows_read,part=1}, {@code =
   * version_memory_bytes,part=1} at its end; and what {@link GarbageCounts} tell.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured, or a condition does not hold in the end
   */
  public static void main(String[] arguments) throws Exception {
    double fraction = Double.parseDouble(arguments[2]);
    TpccScale scale = TpccScale.of(Integer.parseInt(arguments[1]), fraction);
    int writers = Integer.parseInt(arguments[3]);
    int readers = Integer.parseInt(arguments[4]);
    boolean holds = arguments[5].equals("held");
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[6]), Long.parseLong(arguments[7]), /* warmSteps= */ 0);
    int parts = Integer.parseInt(arguments[8]);
    long seed = Long.parseLong(arguments[9]);
    try (Database database =
        Database.open(
            Path.of(arguments[0]).resolve("ch"), TpccFork.options(scale.warehouses() * fraction))) {
      TpccTables tables = TpccTables.of(database);
      TpccLoader.load(database, tables, scale, seed);
      database.checkpoint();
      TpccDriver.compile(database, tables, scale, seed);
      List<ChReader> analysing = new ArrayList<>();
      for (int reader = 0; reader < readers; reader++) {
        analysing.add(new ChReader(database, tables, holds, reader));
      }
      TpccDriver driver =
          new TpccDriver(database, tables, scale, TransactionOptions.lazy(), writers, seed);
      new ChFork(database, driver, analysing).run(times, parts);
      GarbageCounts.tell(database);
      TpccChecker.demand(database, tables);
    }
  }

  private void run(Sessions.Times times, int parts) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (ChReader reader : readers) {
      threads.add(Thread.ofPlatform().start(() -> read(reader)));
    }
    Thread sampler =
        Thread.ofPlatform().unstarted(() -> sample(times.windowMillis() / parts, parts));
    TpccDriver.Window window;
    try {
      window =
          driver.runFor(
              times,
              () -> {
                moments.add(now());
                sampler.start();
              },
              () -> join(sampler));
    } finally {
      isOver = true;
      threads.forEach(ChFork::join);
      readers.forEach(ChReader::close);
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a reader failed", thrown);
    }
    tell(window);
  }

  private void read(ChReader reader) {
    try {
      while (!isOver) {
        reader.step();
      }
    } catch (Throwable thrown) {
      failure.compareAndSet(null, thrown);
    }
  }

  /** Looks at the end of each part; by a thread of its own that ends before anybody else looks. */
  private void sample(long millis, int parts) {
    long start = System.nanoTime();
    try {
      for (int part = 1; part <= parts; part++) {
        long left = start + part * millis * 1_000_000 - System.nanoTime();
        Thread.sleep(Math.max(0, left / 1_000_000));
        moments.add(now());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + thread + " was awaited", e);
    }
  }

  private Moment now() {
    return new Moment(
        System.nanoTime(),
        driver.counts().total(),
        readers.stream().mapToLong(ChReader::rows).sum(),
        database.statistics());
  }

  private void tell(TpccDriver.Window window) {
    Told.tell("transactions", window.transactionsPerSecond());
    Told.tell("cpu_us_per_tx", window.processorMicros());
    Moment first = moments.getFirst();
    Moment last = moments.getLast();
    if (!readers.isEmpty()) {
      double seconds = (last.nanoTime() - first.nanoTime()) / 1e9;
      Told.tell("rows_read", (last.rows() - first.rows()) / seconds);
    }
    if (moments.size() <= 2) {
      return;
    }
    for (int part = 1; part < moments.size(); part++) {
      Moment from = moments.get(part - 1);
      Moment to = moments.get(part);
      double seconds = (to.nanoTime() - from.nanoTime()) / 1e9;
      String suffix = ",part=" + part;
      Told.tell("transactions" + suffix, (to.transactions() - from.transactions()) / seconds);
      Told.tell("rows_read" + suffix, (to.rows() - from.rows()) / seconds);
      GarbageCounts.tell(to.statistics(), suffix);
    }
  }
}
