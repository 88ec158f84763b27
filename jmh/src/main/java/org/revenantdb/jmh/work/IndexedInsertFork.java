package org.revenantdb.jmh.work;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.fork.WarmUp;

/**
 * A JVM in which one thread inserts rows into a table with two indexes, lazily. Keys ascend, names
 * and numbers are random. The table has as many rows as are measured before; all engines have the
 * same rows.
 *
 * <p>Arguments: directory, class of the engine, rows to measure, rows of a transaction, bytes of
 * the cache, seed.
 */
public final class IndexedInsertFork {
  /** Rows of a round of inserts into another table before, which has the code compiled. */
  private static final int WARM_ROWS = 50_000;

  /** Rows of a transaction that loads. */
  private static final int LOADED = 1_000;

  /** Rows that are looked up by both indexes in the end. */
  private static final int CHECKED = 100;

  private IndexedInsertFork() {}

  /**
   * Prints {@code = indexed_inserts}, rows a second, and {@code = indexed_insert_cpu_us}, processor
   * time of the process for a row.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured, or an index is wrong
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    String engine = arguments[1];
    int rows = Integer.parseInt(arguments[2]);
    int each = Integer.parseInt(arguments[3]);
    long cache = Long.parseLong(arguments[4]);
    long seed = Long.parseLong(arguments[5]);
    try (IndexedItems warm = open(engine, directory.resolve("warm"), cache)) {
      Inserts inserts = new Inserts(warm, seed);
      int warmRows = Math.min(rows, WARM_ROWS);
      WarmUp.untilSteady(() -> inserts.run(warmRows, each));
    }
    try (IndexedItems items = open(engine, directory.resolve("measured"), cache)) {
      Inserts inserts = new Inserts(items, seed);
      double _ = inserts.run(rows, LOADED);
      OperatingSystemMXBean system =
          (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      long busy = system.getProcessCpuTime();
      double seconds = inserts.run(rows, each);
      busy = system.getProcessCpuTime() - busy;
      Told.tell("indexed_inserts", rows / seconds);
      Told.tell("indexed_insert_cpu_us", busy / 1e3 / rows);
      inserts.check();
    }
  }

  private static IndexedItems open(String engine, Path directory, long cache) throws Exception {
    return Class.forName(engine)
        .asSubclass(IndexedItems.class)
        .getDeclaredConstructor(Path.class, long.class)
        .newInstance(Files.createDirectories(directory), cache);
  }

  /** The inserts into one table. */
  static final class Inserts {
    private final IndexedItems items;
    private final long seed;
    private final SplittableRandom random;
    private long next;

    Inserts(IndexedItems items, long seed) {
      this.items = items;
      this.seed = seed;
      this.random = new SplittableRandom(seed);
    }

    /** Inserts rows, some in each transaction; how many seconds that took. */
    double run(int rows, int each) throws Exception {
      long end = next + rows;
      long start = System.nanoTime();
      while (next < end) {
        int count = (int) Math.min(each, end - next);
        List<IndexedItem> some = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
          some.add(IndexedItem.random(random));
        }
        items.insert(next, some);
        next += count;
      }
      return (System.nanoTime() - start) / 1e9;
    }

    /** Whether the table and both indexes have what was inserted. */
    void check() throws Exception {
      IndexedItems.Counts counts = items.counts();
      if (!counts.equals(new IndexedItems.Counts(next, next, next))) {
        throw new IllegalStateException(counts + ", but " + next + " rows were inserted");
      }
      SplittableRandom again = new SplittableRandom(seed);
      for (long key = 0; key < Math.min(next, CHECKED); key++) {
        IndexedItem item = IndexedItem.random(again);
        IndexedItem found = items.named(item.name());
        if (!item.equals(found)) {
          throw new IllegalStateException(item + " was inserted, and " + found + " is there");
        }
        List<Long> numbered = items.numbered(item.number());
        if (!numbered.contains(key)) {
          throw new IllegalStateException(
              "row " + key + " is not among " + numbered + " of number " + item.number());
        }
      }
    }
  }
}
