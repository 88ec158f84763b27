package org.revenantdb.jmh.gc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Sweep;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.tpcc.ChReader;
import org.revenantdb.jmh.tpcc.TpccChecker;
import org.revenantdb.jmh.tpcc.TpccDriver;
import org.revenantdb.jmh.tpcc.TpccFork;
import org.revenantdb.jmh.tpcc.TpccLoader;
import org.revenantdb.jmh.tpcc.TpccScale;
import org.revenantdb.jmh.tpcc.TpccTables;

/**
 * A JVM that runs TPC-C, lazily, together with sessions that analyse the same tables, and checks
 * the conditions of the specification in the end.
 *
 * <p>Arguments: directory, warehouses, scale (a part of the specification's cardinalities),
 * sessions that write, sessions that read, {@code held} or {@code each} (each reader has one
 * snapshot for all its queries, or one for each), milliseconds to warm up, milliseconds to measure,
 * in how many parts, seed, what varies ({@link Sweep}: {@code frequency} of the strategy, {@code
 * sessions} or {@code readers}; empty: nothing), round.
 *
 * <p>If something varies, each value has its own database. Before them another one warms up the
 * compiler: it takes the milliseconds to warm up, and the others have {@link #AGAIN} of them.
 */
public final class ChFork {
  /** The code is compiled already; this many milliseconds are for the database. */
  private static final long AGAIN = 500;

  private final Database database;
  private final TpccDriver driver;
  private final List<ChReader> readers;
  private final List<Moment> moments = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean isOver;
  private TpccDriver.@Nullable Window window;
  private @Nullable DatabaseStatistics end;

  /** The work done, and the state. */
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
   * version_memory_bytes,part=1} at its end; and the results of {@link GarbageCounts}. After all
   * names is the value of what varies, as in {@code = transactions,readers=2}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured, or a condition does not hold in the end
   */
  public static void main(String[] arguments) throws Exception {
    Sweep sweep = Sweep.of(arguments[10], Integer.parseInt(arguments[11]));
    long warm = Long.parseLong(arguments[6]);
    long window = Long.parseLong(arguments[7]);
    String first = sweep.values().getFirst();
    if (!sweep.isSweep()) {
      turn(arguments, sweep, first, times(warm, window), /* isFirst= */ true).tell("");
      return;
    }
    turn(arguments, sweep, first, times(warm, 1), /* isFirst= */ true);
    for (String value : sweep.values()) {
      turn(arguments, sweep, value, times(AGAIN, window), /* isFirst= */ false)
          .tell(sweep.suffix(value));
    }
  }

  private static Sessions.Times times(long warm, long window) {
    return new Sessions.Times(warm, window, /* warmSteps= */ 0);
  }

  /** Loads a database, runs all sessions over it, checks it, and gives up its directory. */
  private static ChFork turn(
      String[] arguments, Sweep sweep, String value, Sessions.Times times, boolean isFirst)
      throws Exception {
    if (sweep.name().equals("frequency")) {
      System.setProperty(EngineOfOtherGarbage.FREQUENCY, value);
    }
    double fraction = Double.parseDouble(arguments[2]);
    TpccScale scale = TpccScale.of(Integer.parseInt(arguments[1]), fraction);
    int writers = Integer.parseInt(sweep.value("sessions", value, arguments[3]));
    int readers = Integer.parseInt(sweep.value("readers", value, arguments[4]));
    boolean holds = arguments[5].equals("held");
    long seed = Long.parseLong(arguments[9]);
    Path directory = Path.of(arguments[0]).resolve("ch");
    ChFork fork;
    try (Database database =
        Database.open(directory, TpccFork.options(scale.warehouses() * fraction))) {
      TpccTables tables = TpccTables.of(database);
      TpccLoader.load(database, tables, scale, seed);
      database.checkpoint();
      if (isFirst) {
        TpccDriver.compile(database, tables, scale, seed);
      }
      List<ChReader> analysing = new ArrayList<>();
      for (int reader = 0; reader < readers; reader++) {
        analysing.add(new ChReader(database, tables, holds, reader));
      }
      TpccDriver driver =
          new TpccDriver(database, tables, scale, TransactionOptions.lazy(), writers, seed);
      fork = new ChFork(database, driver, analysing);
      fork.run(times, Integer.parseInt(arguments[8]));
      TpccChecker.demand(database, tables);
    }
    FileTrees.delete(directory);
    return fork;
  }

  private void run(Sessions.Times times, int parts) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (ChReader reader : readers) {
      threads.add(Thread.ofPlatform().start(() -> read(reader)));
    }
    Thread sampler =
        Thread.ofPlatform().unstarted(() -> sample(times.windowMillis() / parts, parts));
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
    end = database.statistics();
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

  /**
   * Records the counts at the end of each part, in a separate thread that ends before the final
   * counts.
   */
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

  private void tell(String suffix) {
    TpccDriver.Window counted = Objects.requireNonNull(window, "it has not run");
    Told.tell("transactions" + suffix, counted.transactionsPerSecond());
    Told.tell("cpu_us_per_tx" + suffix, counted.processorMicros());
    if (!readers.isEmpty()) {
      Told.tell(
          "rows_read" + suffix, perSecond(moments.getFirst(), moments.getLast(), Moment::rows));
    }
    if (moments.size() > 2) {
      for (int part = 1; part < moments.size(); part++) {
        tell(moments.get(part - 1), moments.get(part), suffix + ",part=" + part);
      }
    }
    GarbageCounts.tellAll(Objects.requireNonNull(end), suffix);
  }

  private static void tell(Moment from, Moment to, String suffix) {
    Told.tell("transactions" + suffix, perSecond(from, to, Moment::transactions));
    Told.tell("rows_read" + suffix, perSecond(from, to, Moment::rows));
    GarbageCounts.tell(to.statistics(), suffix);
  }

  private static double perSecond(Moment from, Moment to, ToLongFunction<Moment> count) {
    long counted = count.applyAsLong(to) - count.applyAsLong(from);
    return counted * 1e9 / (to.nanoTime() - from.nanoTime());
  }
}
