package org.revenantdb.jmh.tree;

import java.util.List;
import java.util.function.IntSupplier;
import org.revenantdb.jmh.contend.WaitHistogram;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.recovery.FileCache;

/**
 * A JVM whose memory is limited as a whole, for rows that do not fit into it. {@link LoadFork} has
 * stored them.
 *
 * <p>A step is one operation here, so its time is the time that a caller waits.
 *
 * <p>Arguments: class of the engine, directory, rows, bytes of its cache, milliseconds to warm up,
 * milliseconds to measure, seed, what to measure: {@code reads}, {@code scans}, {@code updates},
 * {@code mix}, joined by commas.
 */
public final class LimitedFork {
  private static final int MIXED_READS = 95;
  private static final double SKEW = 0.99;

  /** The first loop warms up for so many times as long: memory is empty. */
  private static final int FIRST = 4;

  private static final double MICROS = 1000;

  private final TreeStore store;
  private final int rows;
  private final long warmMillis;
  private final long windowMillis;
  private final long seed;
  private long loops;
  private boolean isWarm;

  private LimitedFork(TreeStore store, int rows, long warmMillis, long windowMillis, long seed) {
    this.store = store;
    this.rows = rows;
    this.warmMillis = warmMillis;
    this.windowMillis = windowMillis;
    this.seed = seed;
  }

  /**
   * Prints {@code = reads}, {@code = scans}, {@code = updates}, {@code = mix} a second, and {@code
   * = p50}, {@code = p99} of each in microseconds; {@code = processor}, microseconds of all
   * processors, and {@code = fetched}, bytes from the disk, an operation.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    try (TreeStore store = TreeFork.open(arguments[0], arguments[1], arguments[3])) {
      LimitedFork fork =
          new LimitedFork(
              store,
              Integer.parseInt(arguments[2]),
              Long.parseLong(arguments[4]),
              Long.parseLong(arguments[5]),
              Long.parseLong(arguments[6]));
      for (String what : arguments[7].split(",", -1)) {
        fork.measure(what);
      }
    }
  }

  private void measure(String what) throws Exception {
    switch (what) {
      case "reads" -> {
        for (int threads : List.of(1, 2)) {
          tell("reads,threads=" + threads, threads, number -> operations(any(rows), 100));
        }
      }
      case "scans" -> {
        int last = rows - TreeWork.ROWS_A_SCAN + 1;
        tell("scans", 1, number -> TreeWork.singleScan(store.session(), any(last)));
      }
      case "updates" -> tell("updates", 1, number -> operations(any(rows), 0));
      case "mix" -> {
        RowChoice zipfian = RowChoice.zipfian(rows, SKEW);
        tell("mix", 1, number -> operations(zipfian.choices(seed + number), MIXED_READS));
      }
      default -> throw new IllegalArgumentException(what);
    }
  }

  private Sessions.Session operations(IntSupplier choice, int readPercent) throws Exception {
    return TreeWork.single(store.session(), choice, readPercent, seed);
  }

  /** Other rows for each loop: rows of the loop before are in memory. */
  private IntSupplier any(int among) {
    return RowChoice.uniform(among, seed + loops++);
  }

  private void tell(String name, int threads, Sessions.Factory factory) throws Exception {
    long warm = isWarm ? warmMillis : FIRST * warmMillis;
    isWarm = true;
    long[] fetched = {0, 0};
    Sessions.Result result =
        Sessions.run(
            threads,
            /* virtual= */ false,
            new Sessions.Times(warm, windowMillis, 0),
            factory,
            () -> fetched[0] = FileCache.fetchedBytes(),
            () -> fetched[1] = FileCache.fetchedBytes());
    WaitHistogram waits = result.waits();
    Told.tell(name, result.perSecond());
    Told.tell("p50," + name, waits.percentile(0.5) / MICROS);
    Told.tell("p99," + name, waits.percentile(0.99) / MICROS);
    Told.tell("processor," + name, result.processorMicros());
    Told.tell("fetched," + name, (fetched[1] - fetched[0]) / (double) Math.max(1, result.steps()));
  }
}
