package org.revenantdb.jmh.tree;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntSupplier;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine whose rows all fit into its memory: they are loaded, then read, scanned,
 * updated, and both.
 *
 * <p>Arguments: class of the engine, directory, rows, bytes of its cache, milliseconds to warm up,
 * milliseconds to measure, seed.
 */
public final class TreeFork {
  private static final int[] THREADS = {1, 2};
  private static final int[] READS_IN_TRANSACTION = {1, TreeWork.STEP};
  private static final int[] READ_PERCENT = {95, 50};
  private static final double SKEW = 0.99;

  /** Compiled long before: the loops come again for each number of threads. */
  static final int WARM_STEPS = 3000;

  private static final int COUNTED_STEPS = 2000;

  /** Rows that are loaded to have the code compiled; they take 35 MB. */
  static final int WARM_ROWS = 300_000;

  /** The rate is steady when two loads in succession differ by at most this part. */
  private static final double STEADY = 0.05;

  /** No further load begins after this time: an engine on a busy machine is never steady. */
  private static final long LONGEST_WARM_UP_NANOS = 3_000_000_000L;

  static final String WARM_CACHE = Integer.toString(64 << 20);

  private final TreeStore store;
  private final int rows;
  private final Sessions.Times times;
  private final long seed;

  private TreeFork(TreeStore store, int rows, Sessions.Times times, long seed) {
    this.store = store;
    this.rows = rows;
    this.times = times;
    this.seed = seed;
  }

  /**
   * Prints {@code = load} rows a second; {@code = reads}, {@code = scans}, {@code = updates},
   * {@code = mix} a second, {@code = bytes_per_read}, {@code = load_sorted} and {@code =
   * load_unsorted} rows a second if the engine has anything for that.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[2]);
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[4]), Long.parseLong(arguments[5]), WARM_STEPS);
    warmUp(arguments[0], Path.of(arguments[1]).resolve("warm"), Math.min(rows, WARM_ROWS));
    Path directory = Files.createDirectory(Path.of(arguments[1]).resolve("measured"));
    try (TreeStore store = open(arguments[0], directory.toString(), arguments[3])) {
      load(store, rows);
      new TreeFork(store, rows, times, Long.parseLong(arguments[6])).measure();
      loadSorted(store, rows);
      loadUnsorted(store, rows);
    }
  }

  /**
   * Loads rows into other stores before, until the rate is steady: loading is over before its code
   * is compiled.
   */
  private static void warmUp(String name, Path directory, int rows) throws Exception {
    Files.createDirectory(directory);
    long start = System.nanoTime();
    long before = warmLoad(name, directory.resolve("0"), rows);
    long now = warmLoad(name, directory.resolve("1"), rows);
    for (int round = 2;
        Math.abs(now - before) > STEADY * before
            && System.nanoTime() - start < LONGEST_WARM_UP_NANOS;
        round++) {
      before = now;
      now = warmLoad(name, directory.resolve(Integer.toString(round)), rows);
    }
  }

  /** Nanoseconds of one load by puts. Nothing is left of it. */
  private static long warmLoad(String name, Path directory, int rows) throws Exception {
    Files.createDirectory(directory);
    long nanos = warmLoadIn(name, directory, rows);
    FileTrees.delete(directory);
    return nanos;
  }

  private static long warmLoadIn(String name, Path directory, int rows) throws Exception {
    try (TreeStore store = open(name, directory.toString(), WARM_CACHE)) {
      long start = System.nanoTime();
      TreeWork.load(store.session(), rows);
      long nanos = System.nanoTime() - start;
      store.loadSorted(rows);
      store.loadUnsorted(rows);
      return nanos;
    }
  }

  /** Makes an engine. */
  static TreeStore open(String name, String directory, String cacheBytes)
      throws ReflectiveOperationException {
    return Class.forName(name)
        .asSubclass(TreeStore.class)
        .getDeclaredConstructor(Path.class, long.class)
        .newInstance(Path.of(directory), Long.parseLong(cacheBytes));
  }

  /** Loads the rows, reports the rate, and waits until the engine has done its own part. */
  static void load(TreeStore store, int rows) throws Exception {
    TreeStore.Session session = store.session();
    long start = System.nanoTime();
    TreeWork.load(session, rows);
    long loaded = System.nanoTime();
    store.settle();
    Told.tell("load", rows * 1e9 / (loaded - start));
    Told.tell("settle_ms", (System.nanoTime() - loaded) / 1e6);
  }

  /**
   * Into another table, after everything else, so that earlier measurements have the memory for
   * themselves.
   */
  private static void loadSorted(TreeStore store, int rows) throws Exception {
    long start = System.nanoTime();
    if (store.loadSorted(rows)) {
      Told.tell("load_sorted", rows * 1e9 / (System.nanoTime() - start));
    }
  }

  private static void loadUnsorted(TreeStore store, int rows) throws Exception {
    long start = System.nanoTime();
    if (store.loadUnsorted(rows)) {
      Told.tell("load_unsorted", rows * 1e9 / (System.nanoTime() - start));
    }
  }

  private void measure() throws Exception {
    for (int threads : THREADS) {
      for (int reads : READS_IN_TRANSACTION) {
        tell(
            "reads,threads=" + threads + ",per_tx=" + reads,
            TreeWork.STEP,
            threads,
            number -> TreeWork.reads(store.session(), any(number, rows), reads));
      }
    }
    countBytes();
    if (!(store instanceof MapLimit)) { // it has no order
      for (int threads : THREADS) {
        tell(
            "scans,threads=" + threads,
            TreeWork.SCANS_A_STEP,
            threads,
            number ->
                TreeWork.scans(store.session(), any(number, rows - TreeWork.ROWS_A_SCAN + 1)));
      }
    }
    for (int threads : THREADS) {
      tell(
          "updates,threads=" + threads,
          TreeWork.STEP,
          threads,
          number -> TreeWork.mix(store.session(), any(number, rows), 0, seed + number));
    }
    RowChoice zipfian = RowChoice.zipfian(rows, SKEW);
    for (int percent : READ_PERCENT) {
      tell(
          "mix,reads=" + percent,
          TreeWork.STEP,
          2,
          number ->
              TreeWork.mix(
                  store.session(), zipfian.choices(seed + number), percent, seed + number));
    }
  }

  private IntSupplier any(int number, int among) {
    return RowChoice.uniform(among, seed + number);
  }

  private void tell(String name, int operationsAStep, int threads, Sessions.Factory factory)
      throws Exception {
    Told.tell(name, operationsAStep * Sessions.run(threads, times, factory).perSecond());
  }

  /**
   * The allocation of a read, by the JVM's own count for the thread: in transactions of one read,
   * and in one that stays open, which is the cost of the read itself.
   */
  private void countBytes() throws Exception {
    TreeStore.Session session = store.session();
    Told.tell(
        "bytes_per_read,per_tx=1", bytes(TreeWork.reads(session, any(0, rows), 1)) / TreeWork.STEP);
    session.begin();
    Told.tell(
        "bytes_per_read,open", bytes(TreeWork.readsInside(session, any(0, rows))) / TreeWork.STEP);
    session.end();
  }

  private static double bytes(Sessions.Session step) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = 0;
    for (int i = -COUNTED_STEPS; i < COUNTED_STEPS; i++) {
      if (i == 0) {
        before = threads.getCurrentThreadAllocatedBytes();
      }
      step.step();
    }
    return (threads.getCurrentThreadAllocatedBytes() - before) / (double) COUNTED_STEPS;
  }
}
