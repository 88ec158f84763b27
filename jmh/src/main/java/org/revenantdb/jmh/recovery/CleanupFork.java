package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A JVM that measures the cleaner: how many pages it visits for the same transaction in tables of
 * two sizes, and what a session loses while it rolls back a large one.
 *
 * <p>Arguments: directory, rows of the small table, rows that are rolled back while the session
 * works, number of repetitions.
 */
public final class CleanupFork {
  private static final int PART = 10;
  private static final int STEP = 64;
  private static final long WINDOW = 2_000_000_000L;
  private static final long LOOK = 50_000_000;

  /** How often the pages are counted. */
  private static final int TIMES = 11;

  private CleanupFork() {}

  /**
   * Prints {@code = cleanup_size_growth} and {@code = cleanup_workload_ratio}.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    int small = Integer.parseInt(arguments[1]);
    int aborted = Integer.parseInt(arguments[2]);
    int times = Integer.parseInt(arguments[3]);
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(512L << 20);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"), options)) {
      sizes(database, small);
      ratio(database, aborted, times);
    }
  }

  /** The same transaction in a table and in one that is larger, in turn. */
  private static void sizes(Database database, int rows) {
    Table small = database.getOrCreateTable("small");
    Table large = database.getOrCreateTable("large");
    int more = rows * PART;
    BigRows.load(database, small, rows, 0);
    BigRows.load(database, large, more, 0);
    double[] ofSmall = new double[TIMES];
    double[] ofLarge = new double[TIMES];
    for (int i = 0; i < TIMES; i++) {
      ofSmall[i] = pages(database, small, rows / 2, rows / PART);
      ofLarge[i] = pages(database, large, more / 2, rows / PART);
    }
    double most = RollbackFork.median(ofLarge);
    Told.tell("cleanup_pages", most);
    Told.tell("cleanup_size_growth", most / RollbackFork.median(ofSmall));
  }

  /**
   * Pages that the cleaner visits for a transaction that was rolled back. Of two counts, one of
   * each table, one was seen to be a sixth above the other; of eleven, all are alike.
   */
  private static double pages(Database database, Table table, long from, int rows) {
    database.cleanNow();
    long before = database.statistics().cleaning().pagesCleaned();
    update(database, table, from, rows);
    database.cleanNow();
    return database.statistics().cleaning().pagesCleaned() - before;
  }

  private static void update(Database database, Table table, long from, int rows) {
    try (Transaction tx = database.begin()) {
      for (long key = from; key < from + rows; key++) {
        BigRows.Operation.UPDATE.apply(tx, table, key, 1);
      }
      tx.rollback();
    }
  }

  private static void ratio(Database database, int aborted, int times) {
    Table table = database.getOrCreateTable("aborted");
    BigRows.load(database, table, aborted, 0);
    Table work = database.getOrCreateTable("large");
    Random random = new Random(3);
    double[] ratios = new double[times];
    double[] seconds = new double[times];
    for (int i = -1; i < times; i++) { // the first warms up
      database.cleanNow();
      database.checkpoint();
      double alone = rate(database, work, random, /* whileCleaning= */ false);
      update(database, table, 0, aborted);
      long start = System.nanoTime();
      double beside = rate(database, work, random, /* whileCleaning= */ true);
      if (i >= 0) {
        ratios[i] = beside / alone;
        seconds[i] = (System.nanoTime() - start) / 1e9;
      }
    }
    Told.tell("cleanup_workload_ratio", RollbackFork.median(ratios));
    Told.tell("cleanup_seconds", RollbackFork.median(seconds));
  }

  /** Updates a second, for a window or as long as there is anything to roll back. */
  private static double rate(Database database, Table work, Random random, boolean whileCleaning) {
    long start = System.nanoTime();
    long done = 0;
    long now = start;
    long looked = start;
    boolean goesOn = true;
    while (goesOn) {
      for (int i = 0; i < STEP; i++) {
        long key = random.nextInt(10_000);
        database.run(
            TransactionOptions.lazy(),
            tx -> tx.put(work, RowNumbers.key(key), BigRows.row(key, random.nextInt())));
      }
      done += STEP;
      now = System.nanoTime();
      if (now - looked >= LOOK) { // the same in both: the numbers take a while
        looked = now;
        boolean isCleaning = database.statistics().commits().abortedPending() > 0;
        goesOn = whileCleaning ? isCleaning : now - start < WINDOW;
      }
    }
    return done * 1e9 / (now - start);
  }
}
