package org.revenantdb.engine.measure;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.buffer.PageAccount;
import org.revenantdb.engine.buffer.PageReadCheck;
import org.revenantdb.engine.buffer.WriteAhead;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Measures how much longer it takes to read a page into the buffer pool, from the cache of the
 * operating system, because its structure is checked.
 *
 * <p>Two pools read the same random pages of one data file in turn. They differ only in the check.
 * Each is far smaller than the file, so that nearly every access reads. Rounds are short, so that
 * few of them are interrupted by other processes; the times are those of a quick round, the lower
 * quartile.
 *
 * @param pages pages of the file that are read: leaves of about 60 rows, 16 + 100 bytes each
 * @param nanosWithout nanoseconds for a page without the check
 * @param nanosWith nanoseconds for a page with it
 * @param ratio the second of these times divided by the first
 */
public record PageCheckCost(int pages, double nanosWithout, double nanosWith, double ratio) {
  private static final int ROWS = 200_000;
  private static final int KEY = 16;
  private static final int VALUE = 100;

  /** The first page after the fixed pages. */
  private static final int FIRST = 6;

  private static final int WARM_UP = 200;
  private static final int READS = 500;

  /**
   * Fills a database and measures.
   *
   * @param directory an empty or missing directory, for the database
   * @param rounds how often each pool reads 500 pages; 1,000 take some seconds
   * @return the figures
   */
  public static PageCheckCost measure(Path directory, int rounds) {
    fill(directory);
    try (StorageFile data =
        StorageFile.open(
            directory.resolve("revenant.data"), OpenMode.READ, /* ownerOnly= */ true)) {
      try (BufferPool without = pool(data, PageReadCheck.NONE);
          BufferPool with = pool(data, PageStructure::problemOf)) {
        int[] leaves = leaves(without);
        double[] slow = new double[rounds];
        double[] quick = new double[rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
          boolean first = round % 2 == 0;
          double a = nanos(first ? with : without, leaves, round);
          double b = nanos(first ? without : with, leaves, round);
          if (round >= 0) {
            slow[round] = first ? a : b;
            quick[round] = first ? b : a;
          }
        }
        double base = quartile(quick);
        double checked = quartile(slow);
        return new PageCheckCost(leaves.length, base, checked, checked / base);
      }
    }
  }

  private static void fill(Path directory) {
    Random random = new Random(1);
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(64 << 20);
    try (Database database = Database.open(directory, options)) {
      Table table = database.getOrCreateTable("t");
      byte[] key = new byte[KEY];
      byte[] value = new byte[VALUE];
      for (int done = 0; done < ROWS; done += 1_000) {
        database.run(tx -> {
          for (int i = 0; i < 1_000; i++) {
            random.nextBytes(key);
            random.nextBytes(value);
            tx.put(table, key.clone(), value.clone());
          }
        });
      }
      database.cleanNow();
    }
  }

  private static BufferPool pool(StorageFile data, PageReadCheck check) {
    WriteAhead none =
        new WriteAhead() {
          @Override
          public long tail() {
            return Long.MAX_VALUE;
          }

          @Override
          public long durableLsn() {
            return Long.MAX_VALUE;
          }

          @Override
          public void awaitDurable(long lsn) {}

          @Override
          public void fail(Throwable cause) {}

          @Override
          public @Nullable Throwable failure() {
            return null;
          }
        };
    return new BufferPool(
        BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
        data,
        null,
        none,
        PageAccount.NONE,
        check);
  }

  private static int[] leaves(BufferPool pool) {
    int[] leaves = new int[pool.sizeInPages()];
    int count = 0;
    for (int id = FIRST; id < leaves.length; id++) {
      if (isLeaf(pool, id)) {
        leaves[count++] = id;
      }
    }
    return Arrays.copyOf(leaves, count);
  }

  private static boolean isLeaf(BufferPool pool, int page) {
    try {
      int frame = pool.fixShared(page);
      boolean leaf = Page.type(pool.page(frame)) == Page.LEAF;
      pool.unfixShared(frame);
      return leaf;
    } catch (DamagedFileException neverWritten) {
      return false;
    }
  }

  private static double nanos(BufferPool pool, int[] leaves, int seed) {
    Random random = new Random(seed);
    long begin = System.nanoTime();
    for (int i = 0; i < READS; i++) {
      pool.unfixShared(pool.fixShared(leaves[random.nextInt(leaves.length)]));
    }
    return (System.nanoTime() - begin) / (double) READS;
  }

  private static double quartile(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 4];
  }

  /**
   * Measures and prints.
   *
   * @param arguments the directory, and the number of rounds
   */
  public static void main(String[] arguments) {
    PageCheckCost cost = measure(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
    System.out.printf(
        "pages %d   without the check %.0f ns   with it %.0f ns   ratio %.3f%n",
        cost.pages, cost.nanosWithout, cost.nanosWith, cost.ratio);
  }
}
