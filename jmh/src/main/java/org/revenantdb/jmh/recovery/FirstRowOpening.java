package org.revenantdb.jmh.recovery;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A fresh JVM that opens what {@link ManyPagesWriter} has left: from just before the call of {@code
 * open} to a row in hand, the classes of the engine among it. Then it waits, without any traffic,
 * until all pages are redone.
 *
 * <p>Arguments: directory, rows, pages, bytes of log, bytes of memory for pages, {@link #CACHED} or
 * {@link #NOT_CACHED}.
 */
public final class FirstRowOpening {
  /** The files are in the cache of the system. */
  static final String CACHED = "cached";

  /** The files were dropped from the cache of the system. */
  static final String NOT_CACHED = "not-cached";

  /** The size of log and pages must be as requested; otherwise nothing is reported. */
  private static final double LEAST = 0.9;

  private static final int LOOKED_AT = 1_000;
  private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(5);

  private FirstRowOpening() {}

  /**
   * Prints {@code = first_row_seconds}, {@code = jvm_start_to_first_row}, {@code =
   * all_redone_seconds} and what the open found; with a suffix that says how many pages, and
   * whether the files were cached. A row that is not as it was written ends it.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    int pages = Integer.parseInt(arguments[2]);
    long logBytes = Long.parseLong(arguments[3]);
    long poolBytes = Long.parseLong(arguments[4]);
    boolean isCached = arguments[5].equals(CACHED);
    long key = 1;
    long fetched = FileCache.fetchedBytes();
    long start = System.nanoTime();
    try (Database database = Database.open(directory, CrashImage.options(poolBytes))) {
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      byte[] row;
      try (Transaction tx = database.begin()) {
        row = tx.get(table, RowNumbers.key(key));
      }
      long first = System.nanoTime();
      long sinceStart = System.currentTimeMillis();
      BigRows.demand(key, row);
      fetched = FileCache.fetchedBytes() - fetched;
      sinceStart -= ManagementFactory.getRuntimeMXBean().getStartTime();
      RecoveryReport report = database.recoveryReport();
      if (report.logBytesRead() < LEAST * logBytes || report.pagesPending() < LEAST * pages) {
        throw new IllegalStateException("the kill left too little: " + report);
      }
      long redone = isCached ? whenAllIsRedone(database) : first;
      verify(database, table, rows);
      String suffix = FirstRowFork.suffix(pages) + (isCached ? "" : ",files=" + NOT_CACHED);
      Told.tell("first_row_seconds" + suffix, (first - start) / 1e9);
      Told.tell("jvm_start_to_first_row" + suffix, sinceStart / 1e3);
      Told.tell("analysis_seconds" + suffix, report.analysisNanos() / 1e9);
      Told.tell("log_bytes_read" + suffix, (double) report.logBytesRead());
      Told.tell("pages_pending" + suffix, report.pagesPending());
      Told.tell("fetched_bytes" + suffix, (double) fetched);
      if (isCached) {
        Told.tell("all_redone_seconds" + suffix, (redone - start) / 1e9);
      }
      System.out.flush();
      Runtime.getRuntime().halt(0); // a close would redo the rest: this copy is not opened again
    }
  }

  private static long whenAllIsRedone(Database database) {
    while (database.statistics().files().pendingPages() > 0) {
      LockSupport.parkNanos(LOOK);
    }
    return System.nanoTime();
  }

  private static void verify(Database database, Table table, int rows) {
    Random random = new Random(rows);
    try (Transaction tx = database.begin()) {
      for (int i = 0; i < LOOKED_AT; i++) {
        long key = random.nextInt(rows);
        BigRows.demand(key, tx.get(table, RowNumbers.key(key)));
      }
    }
  }
}
