package org.revenantdb.jmh.tree;

import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine whose rows are five times larger than its cache: they are loaded and read.
 * Data outside the engine's cache is mostly in the cache of the system.
 *
 * <p>Arguments: class of the engine, directory, rows, milliseconds to warm up, milliseconds to
 * measure, seed.
 */
public final class SpillFork {
  private static final int TIMES_LARGER = 5;
  private static final int PAGE = 8192;
  private static final int THREADS = 2;

  /** Reads that are counted: one for this many rows. */
  private static final int STEPS_PART = 10;

  /** Our pool must be full of pages that are read, not of pages that were loaded last. */
  private static final int WARM_STEPS = 3000;

  private SpillFork() {}

  /** The cache for a number of rows. */
  static long cacheBytes(int rows) {
    return (long) rows * (TreeRows.KEY + TreeRows.VALUE) / TIMES_LARGER;
  }

  /**
   * Prints {@code = spilled_load} rows a second and {@code = spilled_reads} a second; for our
   * engine also {@code = pages_per_read} and {@code = theoretical_pages_per_read}: the share of the
   * tree's pages without a frame, if random pages are in the pool.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[2]);
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[3]), Long.parseLong(arguments[4]), WARM_STEPS);
    long seed = Long.parseLong(arguments[5]);
    long cache = cacheBytes(rows);
    try (TreeStore store = TreeFork.open(arguments[0], arguments[1], Long.toString(cache))) {
      long start = System.nanoTime();
      TreeWork.load(store.session(), rows);
      Told.tell("spilled_load", rows * 1e9 / (System.nanoTime() - start));
      store.settle();
      Sessions.Result result =
          Sessions.run(
              THREADS,
              times,
              number ->
                  TreeWork.reads(
                      store.session(), RowChoice.uniform(rows, seed + number), TreeWork.STEP));
      Told.tell("spilled_reads", TreeWork.STEP * result.perSecond());
      if (store instanceof RevenantTree ours) {
        countPages(ours, rows, cache, seed - 1);
      }
    }
  }

  /** The pool is as the reads before have left it. */
  private static void countPages(RevenantTree ours, int rows, long cache, long seed)
      throws Exception {
    Sessions.Session step =
        TreeWork.reads(ours.session(), RowChoice.uniform(rows, seed), TreeWork.STEP);
    int steps = rows / STEPS_PART / TreeWork.STEP;
    long before = ours.statistics().files().pagesRead();
    for (int i = 0; i < steps; i++) {
      step.step();
    }
    long pages = ours.statistics().files().pagesRead() - before;
    Told.tell("pages_per_read", (double) pages / steps / TreeWork.STEP);
    long frames = cache / PAGE;
    Told.tell("theoretical_pages_per_read", 1 - (double) frames / ours.check().treePages());
  }
}
