package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Arrays;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A fresh JVM that opens what {@link KilledWriter} has left: from the call of {@code open} to the
 * first row.
 *
 * <p>A checkpoint may be durable before its process knows it. Then the process was killed right
 * after one, and there is less to do than it saw.
 *
 * <p>Arguments: as for {@link KilledWriter}.
 */
public final class OpeningFork {
  /** The exit code if less than this is left of what the process saw; it prints no results. */
  static final int BEHIND_CHECKPOINT = 75;

  private static final double LEAST = 0.9;

  private OpeningFork() {}

  /**
   * Prints the cost of recovery, and {@code = log_at_restart}, the log that it had to read as a
   * share of {@code maxRecoveryLog}; ends with an exception if a row has a wrong value.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    BigRows.Operation operation = BigRows.Operation.valueOf(arguments[1]);
    long rows = Long.parseLong(arguments[2]);
    LastWords words = LastWords.beside(directory);
    DatabaseOptions options = KilledWriter.options(Long.parseLong(arguments[3]));
    long start = System.nanoTime();
    try (Database database = Database.open(directory, options)) {
      Table big = database.getOrCreateTable(KilledWriter.BIG);
      Table other = database.getOrCreateTable(KilledWriter.OTHER);
      try (Transaction tx = database.begin()) {
        if (tx.get(operation.needsRows() ? big : other, RowNumbers.key(1)) == null) {
          throw new IllegalStateException("row 1 is missing");
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      RecoveryReport report = database.recoveryReport();
      verify(database, big, operation, rows);
      double share = (double) report.logBytesRead() / options.maxRecoveryLog();
      if (share < LEAST * words.log()) {
        Runtime.getRuntime().halt(BEHIND_CHECKPOINT);
      }
      words.tell();
      Told.tell("log_at_restart", share);
      Told.tell("recovery_seconds", seconds);
      Told.tell("recovery_log_bytes", (double) report.logBytesRead());
      Told.tell("recovery_pages", (double) report.pagesPending());
      Told.tell("recovery_open_seconds", report.nanos() / 1e9);
    }
  }

  private static void verify(Database database, Table big, BigRows.Operation operation, long rows) {
    try (Transaction tx = database.begin()) {
      long expected = operation.needsRows() ? rows : 0;
      long found = tx.count(big, null, null);
      if (found != expected) {
        throw new IllegalStateException(found + " rows, and not " + expected);
      }
      for (long key = 0; key < expected; key += 1 + rows / 1000) {
        byte[] row = tx.get(big, RowNumbers.key(key));
        if (!Arrays.equals(row, BigRows.row(key, 0))) {
          throw new IllegalStateException("row " + key + " is not what was committed");
        }
      }
    }
  }
}
